#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes an op of each kind in a copy of the repository, lints, builds and tests it, and runs op_check on it:
#
#   tools/ci/check_new_op.sh [BAZEL OPTION]...
#
# What is the same in the repository is not built again: the build sees the copy's ops before the repository's.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly package=tensorflow_custom_ops/ops
# The longest name that there can be, the shortest, and one between.
declare -Ar kinds=([elementwise]=elementwise_op_of_thirty_chars [full]=q [composite]=example_composite)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
readonly copy=$scratch/copy shown=$scratch/shown

cd "$root"
tools/ci/copy_repository.sh "$copy"

in_copy() {
  ./bazelw run "--run_under=env BUILD_WORKSPACE_DIRECTORY=$copy BUILD_WORKING_DIRECTORY=$copy" "$@"
}

folders=()
targets=()
names=()
for kind in "${!kinds[@]}"; do
  name=${kinds[$kind]}
  in_copy //tools/new_op -- "$name" "--kind=$kind"
  folders+=("$package/$name")
  targets+=("//$package/$name/...")
  names+=("$name")
done
in_copy //tools/lint -- "${folders[@]}"

mkdir -p "$shown/$package"
cp -r "$copy/$package"/{BUILD,__init__.py,ops.bzl} "${folders[@]/#/$copy/}" "$shown/$package"
options=("--package_path=$shown:%workspace%" "$@")
./bazelw test "${options[@]}" "${targets[@]}" //tests/package:package_test

./bazelw build "${options[@]}" //tests/testing:ops_test
for name in "${names[@]}"; do
  ./bazelw test "${options[@]}" //tests/testing:ops_test "--test_filter=fault_${name}_"
done
