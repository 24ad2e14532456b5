#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Renames a copy of the repository, first with all ops, then again with one, and builds and tests that:
#
#   tools/ci/check_rename.sh [--all] [BAZEL OPTION]...
#
# With --all all tests of the copy are run, as its owner would; without, those of the op, of the package and of the
# tools, without XLA. The copy's Bazel shares the Python packages that this repository's has installed, and nothing
# else: all C++ has other names, and is compiled.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
# In parts, for a name that the repository has is refused.
readonly old=tensorflow_custom_ops first=first''_kernels second=acme''_kernels
tests=(
  --xla=false "//$second/ops/my_op:my_op_test" //tests/package/... //tests/rename_project/... //tests/new_op/...
  //tests/ci/...
)
if [[ ${1:-} == --all ]]; then
  shift
  tests=(//...)
fi

scratch=$(mktemp -d)
readonly copy=$scratch/copy
# The Bazel server of the copy ends before its output does. That has folders which nobody may write.
trap '(cd "$copy" && in_copy shutdown); chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT

# Installed once for both. What is not there yet the copy installs itself.
external=$(./bazelw info output_base)/external
options=()
mapfile -t names < <(sed -n '/^\(python_venv\|npm_packages\)(/,/^)/s/^    name = "\(.*\)",$/\1/p' WORKSPACE)
for name in "${names[@]}"; do
  [[ ! -e $external/$name/BUILD ]] || options+=("--override_repository=$name=$external/$name")
done
options+=("$@")

# This bazelw, for the copy's would install a Bazel for its own name.
in_copy() {
  local command=$1
  shift
  "$root/bazelw" "--output_base=$scratch/output" "$command" "$@"
}

tools/ci/copy_repository.sh "$copy"
./bazelw run "--run_under=env BUILD_WORKSPACE_DIRECTORY=$copy" //tools/rename_project -- \
  --name "$first" --keep-ops --force --apply
cd "$copy"
in_copy build --nobuild "${options[@]}" //...

in_copy run "${options[@]}" //tools/rename_project -- \
  --name "$second" --start-empty --op-prefix Acme --holder 'Acme Inc.' --force --apply
# The old names, but for the line of origin.
git add --all
traces=("${old//_/[-_ ]?}" "${first//_/[-_ ]?}" tf_custom''_ops)
if git grep -niE "${traces[0]}|${traces[1]}|${traces[2]}" | grep -v "^README.md:[0-9]*:Made from $old,"; then
  echo "check_rename: there are traces of the old names" >&2
  exit 1
fi
in_copy run "${options[@]}" //tools/lint
in_copy build --nobuild "${options[@]}" //...
in_copy test "${options[@]}" "${tests[@]}"
