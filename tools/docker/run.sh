#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command in this repository, in a container that has what README.md asks for, as the user who calls this:
#
#   tools/docker/run.sh ./bazelw test //...
#
# $BASE is the image to start from, such as python:3.13-bookworm for another Python. What Bazel keeps, for the next
# time too, is below ${XDG_CACHE_HOME:-~/.cache}/tensorflow_custom_ops/docker, which is the home folder in the container.

set -euo pipefail

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
home=${XDG_CACHE_HOME:-$HOME/.cache}/tensorflow_custom_ops/docker

(($#)) || {
  echo "run.sh: no command is given, for example: tools/docker/run.sh ./bazelw test //..." >&2
  exit 2
}
command -v docker >/dev/null || {
  echo "run.sh: there is no docker on PATH; install it (https://docs.docker.com/engine/install)" >&2
  exit 1
}

mkdir -p "$home"
build=(docker build --quiet)
[[ -z ${BASE:-} ]] || build+=(--build-arg "BASE=$BASE")
image=$("${build[@]}" "$here")
terminal=()
[[ ! -t 0 || ! -t 1 ]] || terminal=(--interactive --tty)
# At the same paths as outside, so that the links to what is built work there. Bazel asks for the user's name, which the
# container does not know.
exec docker run --rm --init "${terminal[@]}" --user "$(id -u):$(id -g)" --env HOME="$home" --env USER=user \
  --volume "$home:$home" --volume "$root:$root" --workdir "$root" "$image" "$@"
