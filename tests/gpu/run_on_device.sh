#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the GPU kernels on a machine with an NVIDIA GPU, and measures them:
#
#   tests/gpu/run_on_device.sh [PYTHON]
#
# PYTHON (default: python3) has TensorFlow's CUDA build, of the version that the wheel is for, and
# hypothesis:
#
#   pip install 'WHEEL[cuda]' hypothesis
#
# Nothing is built or installed here. Before it, on any machine with a CUDA toolkit:
#
#   ./bazelw build --config=cuda //tests/gpu:on_device
#
# That makes bazel-bin/tests/gpu/on_device, a folder with all that this needs and this script. To
# test on another machine, copy the folder there (cp -r) and run tests/gpu/run_on_device.sh in it.
#
# Each step prints PASS or FAIL and its name, and after FAIL what it has printed. The summary,
# `N passed, N failed`, is last; the exit status is 1 if a step has failed, 2 for wrong arguments.

# Of functions that step calls:
# shellcheck disable=SC2329
set -uo pipefail

usage() {
  sed -n '4,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
  -*)
    echo "run_on_device.sh: there is no option $1" >&2
    usage >&2
    exit 2
    ;;
esac
if (($# > 1)); then
  usage >&2
  exit 2
fi
python=$(command -v "${1:-python3}") || {
  echo "run_on_device.sh: there is no program ${1:-python3}" >&2
  exit 2
}
python=$(realpath --no-symlinks "$python")

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
[[ ! -d $root/bazel-bin/tests/gpu/on_device ]] || root=$root/bazel-bin/tests/gpu/on_device
wheels=("$root"/tools/pip_package/*.whl)
if [[ ! -f ${wheels[0]} ]]; then
  echo "run_on_device.sh: $root has no wheel;" \
    "run ./bazelw build --config=cuda //tests/gpu:on_device first" >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONPATH=$work/site PYTHONDONTWRITEBYTECODE=1 TEST_TMPDIR=$work/tmp
export TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-1}
passed=0
failed=0

# step NAME COMMAND...
step() {
  local name=$1 start=$SECONDS
  shift
  if "$@" >"$work/out" 2>"$work/err"; then
    passed=$((passed + 1))
    echo "PASS $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "FAIL $name ($((SECONDS - start)) s)"
    tail -q -n 100 "$work/out" "$work/err" | sed 's/^/  /'
    return 1
  fi
}

# As step, and shows what a step prints that passes.
shown_step() {
  step "$@" && sed 's/^/  /' "$work/out"
}

# As step; without it, no other makes sense.
needed_step() {
  shown_step "$@" || finish
}

finish() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
  exit
}

# The wheel, and beside its modules the tests of them.
unpack() {
  mkdir "$work/tmp" && cp -rL "$root" "$work/site" && chmod -R u+w "$work/site" &&
    "$python" -m zipfile -e "${wheels[0]}" "$work/site"
}

check_driver() {
  command -v nvidia-smi >/dev/null || {
    echo "there is no nvidia-smi on PATH: this machine or container has no NVIDIA driver"
    return 1
  }
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv
}

check_package() {
  "$python" -c '
import sys
import tensorflow_custom_ops as ops
print(*(f"{name}: {value}" for name, value in ops.build_info().items()), sep="\n")
sys.exit(ops.build_info()["gpu_kernels"] != "loaded")'
}

compare_kernels() {
  local device
  for device in CPU GPU; do
    "$python" tests/gpu/compare_kernels.py --device "$device" --out "$work/$device.npz" || return
  done
  "$python" tests/gpu/compare_kernels.py --compare "$work/CPU.npz" "$work/GPU.npz"
}

echo "Python: $python"
needed_step "the wheel is unpacked" unpack
cd "$work/site" || exit
needed_step "there is a GPU with a driver" check_driver
needed_step "TensorFlow fits the wheel, has CUDA and sees the GPU" \
  "$python" tests/gpu/device/check_machine.py tensorflow_custom_ops
needed_step "the package loads its GPU kernels" check_package
shown_step "kernel tests compiled by nvcc" \
  "$python" tests/gpu/device/run_kernel_tests.py tests/gpu/device/kernel_tests.so
while read -r file; do
  file=${file%.py}
  step "${file##*/}" "$python" -m "${file//\//.}"
done < <(find tensorflow_custom_ops -name '*_test.py' | sort)
shown_step "GPU kernels against CPU kernels" compare_kernels
shown_step "more than 2^31 elements" "$python" tests/gpu/device/large.py
shown_step "memory bandwidth" "$python" tests/gpu/device/bandwidth.py
finish
