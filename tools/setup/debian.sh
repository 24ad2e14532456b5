# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Packages of a Debian release that the machine does not run, without root rights. To be sourced,
# by a script that has set
#
#   program  what messages begin with
#   work     a folder for apt's lists and caches
#   what     what is wanted, for messages
#   advice   what to do where Debian's packages cannot be had

say() {
  echo "$program: $*" >&2
}

die() {
  say "$*"
  exit 1
}

# The line of apt's output on standard input that says why it failed.
cause() {
  awk '!found && NF { line = $0; found = sub(/^[EW]: /, "", line) } END { print line }'
}

# Runs apt's command $1 with lists, caches and installed packages of our own.
apt() {
  "$1" -q \
    -oAPT::Architectures="$(dpkg --print-architecture)" -oAPT::Default-Release= \
    -oAPT::Sandbox::User= -oAcquire::Languages=none -oDebug::NoLocking=1 \
    -oDir::Cache="$work" -oDir::State::Lists="$work/lists" -oDir::State::status="$work/status" \
    -oDir::Etc::sourcelist="$work/sources.list" -oDir::Etc::sourceparts=/dev/null \
    -oDir::Etc::preferences=/dev/null -oDir::Etc::preferencesparts=/dev/null \
    "${@:2}" 2>&1
}

# Finds the first configured repository that is a Debian mirror and whose suite $1, component $2,
# has the package $3 in a version that the pattern $4 fits, and reads its lists.
find_mirror() {
  local suite=$1 component=$2 package=$3 version=$4
  local tool keyring mirrors mirror candidate output="no repository is configured"
  for tool in apt-get apt-cache dpkg-deb; do
    command -v "$tool" >/dev/null || die "there is no $tool to get Debian's $what with; $advice"
  done
  for keyring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
    [[ -e $keyring ]] && break
  done
  [[ -e $keyring ]] || die "this system does not know Debian's archive ($keyring); $advice"
  mkdir -p "$work"/{lists,archives}/partial
  [[ -e $work/status ]] || : >"$work/status"
  # shellcheck disable=SC2016 # apt expands it
  mirrors=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' 'Created-By: Packages')
  while read -r mirror; do
    say "reading the package list of Debian $suite from $mirror"
    echo "deb [signed-by=$keyring] $mirror $suite $component" >"$work/sources.list"
    output=$(apt apt-get update) || true # also reports some failures as success
    candidate=$(apt apt-cache policy "$package" | awk '$1 == "Candidate:" { print $2 }')
    # shellcheck disable=SC2053 # a pattern
    if [[ $candidate == $version ]]; then
      return
    elif [[ $candidate == [0-9]* ]]; then
      output="its $what is $candidate, not ${version%.\*}"
    fi
  done < <(awk 'NF && !seen[$0]++' <<<"$mirrors")
  die "no configured apt repository gives Debian's $what ($(cause <<<"$output")); $advice"
}

# Downloads the packages given into the folder $1.
download_debs() {
  local output
  mkdir -p "$1"
  output=$(cd "$1" && apt apt-get download "${@:2}") ||
    die "cannot download Debian's packages: $(cause <<<"$output")"
}

# Unpacks the package file $1 into the folder $2.
unpack_deb() {
  local output
  output=$(dpkg-deb --extract "$1" "$2" 2>&1) ||
    die "cannot unpack ${1##*/}: $(cause <<<"$output")"
}
