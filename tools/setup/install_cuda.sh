#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prepares a CUDA 12.4 compiler, nvcc with the headers that kernels need, from packages alone,
# without root rights, on x86_64 machines that have a Debian mirror configured:
#
#   tools/setup/install_cuda.sh [DEST]
#
# Without DEST it goes to where --config=cuda looks:
# ${XDG_CACHE_HOME:-~/.cache}/tensorflow_custom_ops/cuda. To use another DEST, set CUDA_HOME.
#
# The programs come from Debian 13, the headers from PyPI (cuda_requirements_lock.txt); NVIDIA
# publishes both under its CUDA EULA.

set -euo pipefail

readonly VERSION=12.4.131
readonly SUITE=trixie COMPONENT=non-free
readonly PACKAGE=nvidia-cuda-toolkit PACKAGE_VERSION=12.4.131~12.4.1-2
readonly SHA256=cd5fe85aee38d108b315f408a688641478f2402622a10c677478eb7a6c4e5319
readonly EULA=https://docs.nvidia.com/cuda/eula/index.html
readonly NEEDED_MIB=768 # for the compiler and what its installation needs for a while

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck disable=SC2034 # for debian.sh
program=install_cuda.sh what=nvcc \
  advice="install a CUDA 12 toolkit (https://developer.nvidia.com/cuda-toolkit-archive) and set CUDA_HOME to its folder"
export LC_ALL=C

# shellcheck disable=SC1091 # is checked by itself
. "$here/debian.sh"

# Whether the folder $1 has the compiler, and it runs.
is_installed() {
  [[ -x $1/bin/nvcc && $("$1/bin/nvcc" --version 2>&1) == *" V$VERSION"* ]]
}

check_machine() {
  local machine parent=${dest%/*} free tool
  machine=$(uname -sm)
  [[ $machine == "Linux x86_64" ]] ||
    die "this installs a compiler for Linux on x86_64, and this machine is $machine; $advice"
  for tool in python3 dpkg sha256sum; do
    command -v "$tool" >/dev/null || die "there is no $tool on PATH; install it, or $advice"
  done
  { read -r && read -r _ _ _ free _; } < <(df -Pk "$parent")
  ((free >= NEEDED_MIB * 1024)) ||
    die "this needs $NEEDED_MIB MiB, and $parent has $((free / 1024)) MiB free;" \
      "make room or give a folder on another disk"
}

download_compiler() {
  local deb sum
  find_mirror "$SUITE" "$COMPONENT" "$PACKAGE" "$PACKAGE_VERSION"
  say "downloading $PACKAGE (83 MiB)"
  download_debs "$work/debs" "$PACKAGE=$PACKAGE_VERSION"
  deb=$(echo "$work"/debs/*.deb)
  sum=$(sha256sum "$deb")
  [[ ${sum%% *} == "$SHA256" ]] ||
    die "the SHA-256 sum of ${deb##*/} is ${sum%% *}, not $SHA256; it was changed on its way," \
      "try another mirror"
  unpack_deb "$deb" "$work/deb"
}

download_headers() {
  say "downloading the headers from the Python package index"
  python3 "$here/../../third_party/py/make_venv.py" "$work/wheels" \
    "$here/cuda_requirements_lock.txt" || exit
}

# Makes $work/prefix a toolkit as NVIDIA lays it out. Nothing in it depends on where it is.
assemble() {
  local prefix=$work/prefix library=$work/deb/usr/lib/nvidia-cuda-toolkit tool
  local wheels=("$work"/wheels/lib/python3*/site-packages)
  mkdir -p "$prefix"/{bin,include,nvvm/bin,nvvm/libdevice}
  for tool in cudafe++ cuobjdump fatbinary nvdisasm ptxas; do
    mv "$work/deb/usr/bin/$tool" "$prefix/bin"
  done
  mv "$library/bin/nvcc" "$prefix/bin" # the one in usr/bin is a script with Debian's paths
  mv "$library/bin/cicc" "$prefix/nvvm/bin"
  mv "$library/libdevice/libdevice.10.bc" "$prefix/nvvm/libdevice"
  cat >"$prefix/bin/nvcc.profile" <<'EOT'
TOP = $(_HERE_)/..
CICC_PATH = $(TOP)/nvvm/bin
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
EOT
  cp -r "${wheels[0]}"/nvidia/*/include/. "$prefix/include"
  find "$prefix/include" \( -name __init__.py -o -name __pycache__ \) -prune -exec rm -r {} +
  cp "${wheels[0]}"/nvidia_cuda_nvcc_cu12-*/License.txt "$prefix/EULA.txt"
  is_installed "$prefix" ||
    die "nvcc does not run here: $("$prefix/bin/nvcc" --version 2>&1 | tail -n 1); $advice"
}

# What is left of a failed installation: the log that its message names.
clean_up() {
  find "$work" -mindepth 1 -maxdepth 1 ! -name '*.log' -exec rm -rf {} +
  rmdir --ignore-fail-on-non-empty "$work"
}

readonly USAGE="usage: install_cuda.sh [DEST]"
case ${1-none} in
  -h | --help)
    echo "$USAGE: installs CUDA $VERSION's compiler and headers into the folder DEST"
    exit
    ;;
  "" | -*) die "$USAGE" ;;
esac
(($# <= 1)) || die "$USAGE"
if (($#)); then
  dest=$(readlink -m -- "$1")
else
  home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  [[ $home == /* ]] || die "neither HOME nor XDG_CACHE_HOME is set to an absolute path; give a DEST"
  dest=$home/tensorflow_custom_ops/cuda/$VERSION
fi
work=$dest.work
{ mkdir -p "${dest%/*}" && : >>"$dest.lock"; } 2>/dev/null ||
  die "cannot write to ${dest%/*}; give a folder that you can write to"
exec {lock}>>"$dest.lock"
if ! flock --nonblock "$lock"; then
  say "waiting for another install_cuda.sh, which is installing into $dest"
  flock "$lock"
fi
if is_installed "$dest"; then
  say "CUDA $VERSION is in $dest already"
  exit
fi
[[ ! -e $dest ]] || die "$dest holds something else than CUDA $VERSION; remove it or give another DEST"
check_machine
say "installing NVIDIA's CUDA compiler $VERSION into $dest (to undo this, delete that folder);" \
  "by using it you accept NVIDIA's licence, $EULA"
rm -rf "$work"
mkdir "$work"
trap clean_up EXIT
download_compiler
download_headers
assemble
mv -T "$work/prefix" "$dest" # one step: what is in DEST is complete
say "installed CUDA $VERSION in $SECONDS s, $(du -sm "$dest" | cut -f1) MiB"
