#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs Bazel on this repository's packages with TensorFlow's source tree instead of its wheel:
#
#   TF_SOURCE_TREE=/path/to/tensorflow third_party/tensorflow/source_tree/bazel.sh build //tensorflow_custom_ops/...
#
# TF_SOURCE_TREE_WORKSPACE is the folder for the workspace that this needs; by default .workspace,
# beside this script.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [[ -z ${TF_SOURCE_TREE:-} ]]; then
  echo "bazel.sh: TF_SOURCE_TREE is not set; set it to the folder of a TensorFlow checkout" >&2
  exit 1
fi

workspace=${TF_SOURCE_TREE_WORKSPACE:-$here/.workspace}
python3 "$here/make_workspace.py" "$TF_SOURCE_TREE" "$workspace"
cd "$workspace"
exec "$here/../../../bazelw" "$@"
