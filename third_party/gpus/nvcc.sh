#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the nvcc beside it:
#
#   nvcc.sh [NVCC_OPTION...] --host [OPTION...]
#
# What follows --host is written as for the host compiler, and passed on to it. But nvcc itself gets
# -D, -U and -I, and --NAME for -nvcc_options=NAME, which is how TensorFlow's source tree writes it.

set -euo pipefail

arguments=()
while [[ $1 != --host ]]; do
  arguments+=("$1")
  shift
done
for option in "${@:2}"; do
  case $option in
    -nvcc_options=*) arguments+=("--${option#*=}") ;;
    -[DUI]*) arguments+=("$option") ;;
    *) arguments+=("-Xcompiler=${option//,/\\,}") ;;
  esac
done

# In /tmp, nvcc names its intermediate files by its process id, which two sandboxes can have in
# common, and which gets into the object.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TMPDIR=$folder "${0%/*}/nvcc" --keep --keep-dir "$folder" "${arguments[@]}"
