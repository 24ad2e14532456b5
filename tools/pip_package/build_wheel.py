# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel whose bytes depend on nothing but the names and contents of its files.

The file name of the wheel says what the name, version and tag in it are, as the wheel format has it:
<name>-<version>-<Python tag>-<ABI tag>-<platform tag>.whl
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import pathlib
import stat
import zipfile

UNIX = 3  # the system that a zip archive's permissions are of

WHEEL = """\
Wheel-Version: 1.0
Generator: build_wheel
Root-Is-Purelib: false
Tag: {tag}
"""


def record(members: dict[str, bytes], name: str) -> bytes:
    """Returns the wheel's list of its files with their hashes; `name` is its own name in the wheel."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for member, content in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        writer.writerow([member, f"sha256={digest}", len(content)])
    writer.writerow([name, "", ""])
    return text.getvalue().encode()


def write_zip(out: pathlib.Path, members: dict[str, bytes]) -> None:
    """Writes an archive with the same time and permissions for every file."""
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)  # of 1980-01-01
            info.create_system = UNIX
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, compresslevel=9)


def member(argument: str) -> tuple[str, pathlib.Path]:
    """Parses NAME=PATH."""
    name, _, path = argument.partition("=")
    return name, pathlib.Path(path)


def main() -> None:
    """Builds one wheel."""
    parser = argparse.ArgumentParser(description=__doc__, fromfile_prefix_chars="@")
    path = pathlib.Path
    parser.add_argument("--out", type=path, required=True, help="the wheel to write")
    parser.add_argument("--metadata", type=path, required=True, help="the fields of METADATA")
    parser.add_argument("--readme", type=path, required=True, help="the description in METADATA")
    parser.add_argument("--license", type=path, required=True, help="the text of the license")
    parser.add_argument("--sbom", type=path, required=True, help="the bill of materials")
    parser.add_argument("files", type=member, nargs="+", metavar="NAME=PATH", help="what to install")
    args = parser.parse_args()

    name, version, tag = args.out.stem.split("-", 2)
    info = f"{name}-{version}.dist-info"
    members = {name: path.read_bytes() for name, path in sorted(args.files)}
    # The format asks for these at the end.
    members[f"{info}/METADATA"] = args.metadata.read_bytes() + b"\n" + args.readme.read_bytes()
    members[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    members[f"{info}/licenses/{args.license.name}"] = args.license.read_bytes()
    members[f"{info}/sboms/{args.sbom.name}"] = args.sbom.read_bytes()
    members[f"{info}/RECORD"] = record(members, f"{info}/RECORD")
    write_zip(args.out, members)


if __name__ == "__main__":
    main()
