# SPDX-License-Identifier: Apache-2.0
"""Makes the site of what the repository has, so that there is no second copy of anything.

The pages in docs link to each other and to sources as GitHub wants it, with paths in the repository. Here a source that
a page links to becomes a page, too, and the link leads there. README.md and its like become pages beside those of docs,
and the API reference is written from the list of ops.
"""

from __future__ import annotations

import ast
import os
import pathlib
import re
import subprocess

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pygments import lexers
from pygments.util import ClassNotFound

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = "docs/"

# The pages that are not in docs, by their paths in the repository.
OTHER_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

SOURCES = "source/"

# A function that is called like its module is not found in the package.
_OPS = "tensorflow_custom_ops/ops/ops.bzl"
_API = """\
# API reference

::: tensorflow_custom_ops
    options:
      members: [build_info]

## Ops

{ops}

## Layers

::: tensorflow_custom_ops.layers

## Compiling ops

::: tensorflow_custom_ops.jit

## Testing

::: tensorflow_custom_ops.testing

::: tensorflow_custom_ops.testing.op_check.op_check
    options:
      show_root_heading: true
      show_root_full_path: false

::: tensorflow_custom_ops.testing.samples.samples
    options:
      show_root_heading: true
      show_root_full_path: false
"""

# What a fence encloses, a line of indented code, or the target of a link in the repository, without its anchor.
_LINK = re.compile(r"^(```+).*?^\1$|^    .*?$|(?<=\]\()(?![a-z]+:|[#/])(?P<target>[^)#\s]+)", re.MULTILINE | re.DOTALL)


def _repository_path(file: File) -> str:
    """Where the source of a page is in the repository."""
    others = {page: path for path, page in OTHER_PAGES.items()}
    page: str = file.src_uri
    return others.get(page, DOCS + page)


def _target_path(file: File, target: str) -> str:
    """To what in the repository a link of a page leads."""
    return os.path.normpath(pathlib.PurePath(_repository_path(file)).parent / target)


def _site_path(path: str) -> str:
    """What in the site has what is in the repository."""
    if path in OTHER_PAGES:
        return OTHER_PAGES[path]
    return path.removeprefix(DOCS) if path.startswith(DOCS) else f"{SOURCES}{path}.md"


def _language(path: str) -> str:
    try:
        return str(lexers.get_lexer_for_filename(path).aliases[0])
    except ClassNotFound:
        return "text"


def _source_page(path: str) -> str:
    """A page that shows a file, or the files in a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    parts = [f"---\ntitle: {path}\nsearch:\n  exclude: true\n---\n\n# `{path}`\n"]
    for name in sorted(set(listed.split("\0")) - {""}):
        if name != path:
            parts.append(f"## `{name.removeprefix(path + '/')}`\n")
        # A fence that is in no file.
        parts.append(f"{'`' * 8}{_language(name)}\n{(ROOT / name).read_text()}{'`' * 8}\n")
    return "\n".join(parts)


def _api_page() -> str:
    """The API reference, for mkdocstrings."""
    listed = re.search(r"^OPS = (\[.*?^\])$", (ROOT / _OPS).read_text(), re.MULTILINE | re.DOTALL)
    if not listed:
        raise ValueError(f"{_OPS} lists no ops")
    ops = ast.literal_eval(listed[1])
    return _API.format(ops="\n\n".join(f"::: tensorflow_custom_ops.ops.{op}.{op}" for op in ops))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in docs.

    Args:
      files: What is in docs.
      config: The configuration.

    Returns:
      All files of the site.
    """
    for path, page in OTHER_PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text()))
    targets = {
        _target_path(file, match["target"])
        for file in files.documentation_pages()
        for match in _LINK.finditer(file.content_string)
        if match["target"]
    }
    for path in sorted(targets):
        if _site_path(path).startswith(SOURCES) and (ROOT / path).exists():
            files.append(File.generated(config, _site_path(path), content=_source_page(path)))
    files.append(File.generated(config, "api.md", content=_api_page()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes links lead to the site's pages. Whether they are there is what mkdocs looks at.

    Args:
      markdown: The page's text.
      page: The page.
      config: The configuration.
      files: All files of the site.

    Returns:
      The page's text.
    """
    del config, files
    if page.file.src_uri.startswith(SOURCES):
        return markdown

    def lead(match: re.Match[str]) -> str:
        if not match["target"]:
            return match[0]
        path = _site_path(_target_path(page.file, match["target"]))
        return os.path.relpath(path, pathlib.PurePath(page.file.src_uri).parent)

    return _LINK.sub(lead, markdown)
