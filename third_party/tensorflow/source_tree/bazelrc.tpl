# SPDX-License-Identifier: Apache-2.0
# Written by make_workspace.py from bazelrc.tpl and the .bazelrc file of a TensorFlow checkout.

%{tensorflow_bazelrc}

# From here on: this project's own.
import %{repository}/.bazelrc

# The packages are this repository's own: //tensorflow_custom_ops, //tools and so on are found there.
common --package_path=%workspace%:%{repository}

# Some of TensorFlow's targets are for its own packages only, in this tree as in no other.
build --nocheck_visibility

# TensorFlow's headers are no system headers here, and their warnings are not ours to mend.
build --per_file_copt=^tensorflow_custom_ops/@-Wno-error

# XLA kernels have no way into an op library that links against the tree.
build --xla=false

# The links to the results would stand in a folder that nobody looks into.
build --symlink_prefix=/
