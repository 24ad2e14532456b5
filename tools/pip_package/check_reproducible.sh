#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the wheel here, and from nothing in a clone of HEAD, and compares the two bit for bit:
#
#   tools/pip_package/check_reproducible.sh [--ops=NAME,...] [BUILD OPTION]...
#
# With --ops the wheels have these ops only, which takes less time. The other options are Bazel's, for both builds. The second build shares downloads with the first, but
# nothing that was built or installed. TMPDIR needs 2 GB for it.

set -euo pipefail

readonly WHEEL=//tools/pip_package:wheel

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ops=()
if [[ ${1:-} == --ops=* ]]; then
  IFS=, read -ra ops <<<"${1#--ops=}"
  shift
fi
options=("$@")

die() {
  echo "check_reproducible: $*" >&2
  exit 1
}

# Prints the path of the wheel built in the repository $1, with the startup options that follow.
build() {
  cd "$1"
  shift
  # Without caches of actions, which would hand the second build what the first one made.
  ./bazelw "$@" build --disk_cache= --remote_cache= "${options[@]}" "$WHEEL" >&2 ||
    die "the wheel in $PWD cannot be built"
  echo "$(./bazelw "$@" info execution_root 2>/dev/null)/$(
    ./bazelw "$@" cquery --output=files "${options[@]}" "$WHEEL" 2>/dev/null
  )"
}

# Prints the names of the files that differ in the wheels $1 and $2.
differences() {
  python3 - "$@" <<'END'
import sys, zipfile
first, second = ({f.filename: f.CRC for f in zipfile.ZipFile(path).infolist()} for path in sys.argv[1:])
names = [name for name in sorted(first | second) if first.get(name) != second.get(name)]
print(*names or ["nothing but the archive itself"], sep=", ")
END
}

clean_up() {
  [[ ! -x $scratch/clone/bazelw ]] ||
    (cd "$scratch/clone" && ./bazelw "${elsewhere[@]}" clean --expunge &>/dev/null) || true
  chmod -R u+w "$scratch"
  rm -rf "$scratch"
}

[[ -z $(git -C "$root" status --porcelain) ]] ||
  die "$root has changes that are not in HEAD: commit or stash them"

scratch=$(mktemp -d)
elsewhere=("--output_base=$scratch/output_base")
trap clean_up EXIT

if ((${#ops[@]})); then
  python3 "$root/tools/ci/list_ops.py" "$scratch/ops" "${ops[@]}"
  options+=("--package_path=$scratch/ops:%workspace%")
fi

first=$(build "$root")
git clone --quiet "$root" "$scratch/clone"
[[ ! -e $root/.bazelrc.user ]] || cp "$root/.bazelrc.user" "$scratch/clone"
second=$(build "$scratch/clone" "${elsewhere[@]}")

sha256sum "$first" "$second"
cmp --silent "$first" "$second" || die "the wheels differ in $(differences "$first" "$second")"
echo "check_reproducible: the wheels are the same"
