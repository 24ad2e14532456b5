#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Stands before the toolkit's cudafe++ and cicc, by their names. nvcc gives them the absolute path
# of the source, of which they put a hash into symbols; here it becomes the path from the command
# line, so that objects are the same in whatever folder they are built.

set -euo pipefail

here=${0%/*}
case ${0##*/} in
  cicc) program=$here/../toolkit/nvvm/bin/cicc ;;
  *) program=$here/../toolkit/bin/${0##*/} ;;
esac

arguments=("$@")
for i in "${!arguments[@]}"; do
  case ${arguments[i]} in
    --orig_src_file_name) name=${arguments[i + 1]} ;;
    --orig_src_path_name) arguments[i + 1]=$name ;;
  esac
done
exec "$program" "${arguments[@]}"
