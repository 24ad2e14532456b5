# SPDX-License-Identifier: Apache-2.0
"""A rule that collects files in a folder."""

def _folder_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    args = ctx.actions.args()
    args.add(folder.path)
    for file in ctx.files.srcs:
        args.add(file)
        args.add(file.short_path)
    ctx.actions.run_shell(
        outputs = [folder],
        inputs = ctx.files.srcs,
        arguments = [args],
        command = """
set -euo pipefail
folder=$1
shift
while (($#)); do
  mkdir -p "$folder/$(dirname "$2")"
  cp "$1" "$folder/$2"
  shift 2
done
""",
        mnemonic = "Folder",
        progress_message = "Collecting the files of %{label}",
    )
    return [DefaultInfo(files = depset([folder]))]

folder = rule(
    _folder_impl,
    doc = "A folder with files of this repository, each where it is in the repository.",
    attrs = {
        "srcs": attr.label_list(allow_files = True, doc = "The files."),
    },
)
