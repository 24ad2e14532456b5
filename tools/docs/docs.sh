#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the documentation's site, in the folder site, and fails where a link is dead:
#
#   bazel run //tools/docs
#   bazel run //tools/docs -- serve    serves it on http://localhost:8000, and makes it again whenever a page changes
#
# The arguments are those of mkdocs.

set -euo pipefail

# Bazel starts this in the runfiles, with the packages beside the repository.
mkdocs=$(cd .. && pwd)/docs_packages/venv/bin/mkdocs

cd "$BUILD_WORKSPACE_DIRECTORY"
exec "$mkdocs" "${1:-build}" --config-file tools/docs/mkdocs.yml "${@:2}"
