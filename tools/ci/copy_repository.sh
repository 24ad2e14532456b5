#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copies the repository, as it is, committed or not, into the folder $1, which it makes: a git repository without commits.

set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
mkdir "$1"
# What is deleted is listed as well, and not there.
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --files-from=- --ignore-failed-read 2>/dev/null | tar --extract --directory="$1"
git -C "$1" init --quiet
