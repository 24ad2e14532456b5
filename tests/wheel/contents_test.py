# SPDX-License-Identifier: Apache-2.0
"""Looks at the wheel without importing it: its files, metadata and library."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import sys
import zipfile

from absl.testing import absltest
from elftools.elf import dynamic, elffile, sections
from packaging import metadata, requirements, utils

from tests.wheel import wheel_test_case

# "<major>.<minor>" of the TensorFlow that the build used, and the names of the ops.
TENSORFLOW = os.environ["TENSORFLOW"]
OPS = os.environ["OPS"].split()

# What tools/pip_package/old_system.cc makes and TensorFlow's libraries use too: linkers export it all the same.
UNAVOIDABLE = re.compile(r"_Z[KNTV]+St7__cxx1118basic_stringstream.+")


class ContentsTestCase(wheel_test_case.WheelTestCase):
    """Has the contents of the wheel.

    Attributes:
      files: the contents of the files, by name.
      name, version, tags: from the wheel's name.
      info: the name of the folder with the metadata.
    """

    def setUp(self) -> None:
        super().setUp()
        with zipfile.ZipFile(self.wheel) as archive:
            self.members = archive.infolist()
            self.files = {member.filename: archive.read(member) for member in self.members}
        self.name, self.version, _, self.tags = utils.parse_wheel_filename(self.wheel.name)
        self.info = f"{wheel_test_case.PACKAGE}-{self.version}.dist-info"


class FilesTest(ContentsTestCase):
    def test_has_the_package(self) -> None:
        package = {"__init__.py", "_build_info.py", "_functions.py", "_loader.py", "py.typed"}
        package |= {wheel_test_case.LIBRARY, "layers/__init__.py", "layers/my_layer.py", "ops/__init__.py"}
        for op in OPS:
            names = ("__init__.py", f"{op}.py", f"gen_{op}.py", f"gen_{op}.pyi")
            package |= {f"ops/{op}/{name}" for name in names}
        self.assertContainsSubset({f"{wheel_test_case.PACKAGE}/{name}" for name in package}, self.files.keys())

    def test_has_the_metadata(self) -> None:
        names = {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE"}
        found = {name for name in self.files if name.startswith(f"{self.info}/")}
        self.assertEqual(found, {f"{self.info}/{name}" for name in names})

    def test_has_nothing_else(self) -> None:
        others = [name for name in self.files if not name.startswith(f"{self.info}/")]
        for name in others:
            self.assertRegex(name, rf"\A{wheel_test_case.PACKAGE}/(.+\.pyi?|py\.typed|_ops\.so)\Z")
            self.assertNotRegex(name, r"_test\.|test_|/tests?/")

    def test_nothing_in_the_archive_says_when_or_where_it_was_made(self) -> None:
        for member in self.members:
            self.assertEqual(member.date_time, (1980, 1, 1, 0, 0, 0), member)
            self.assertEqual(member.external_attr >> 16, 0o100644, member)
            self.assertEqual(member.extra, b"", member)

    def test_record(self) -> None:
        record = io.StringIO(self.files[f"{self.info}/RECORD"].decode())
        rows = list(csv.reader(record))
        self.assertEqual([name for name, _, _ in rows], list(self.files))
        self.assertEqual(rows[-1], [f"{self.info}/RECORD", "", ""])
        for name, digest, size in rows[:-1]:
            sha256 = hashlib.sha256(self.files[name]).digest()
            self.assertEqual(digest, f"sha256={base64.urlsafe_b64encode(sha256).decode().rstrip('=')}")
            self.assertEqual(int(size), len(self.files[name]))


class MetadataTest(ContentsTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Checks the fields as a package index does.
        self.metadata = metadata.Metadata.from_email(self.files[f"{self.info}/METADATA"])

    def test_name_and_version(self) -> None:
        self.assertEqual(self.metadata.name, "tensorflow-custom-ops")
        self.assertEqual(utils.canonicalize_name(self.metadata.name), self.name)
        self.assertEqual(self.metadata.version, self.version)
        build_info: dict[str, object] = {}
        exec(self.files[f"{wheel_test_case.PACKAGE}/_build_info.py"], build_info)
        self.assertEqual(build_info["VERSION"], str(self.version))

    def test_license(self) -> None:
        self.assertEqual(self.metadata.license_expression, "Apache-2.0")
        self.assertEqual(self.metadata.license_files, ["LICENSE"])
        license_text = self.files[f"{self.info}/licenses/LICENSE"]
        self.assertEqual(license_text, (wheel_test_case.REPOSITORY / "LICENSE").read_bytes())

    def test_description(self) -> None:
        readme = (wheel_test_case.REPOSITORY / "README.md").read_text(encoding="utf-8")
        self.assertEqual(self.metadata.description, readme)
        self.assertEqual(self.metadata.description_content_type, "text/markdown")

    def test_requires_tensorflow_only_where_asked_to(self) -> None:
        wanted = {
            "tensorflow": f"tensorflow=={TENSORFLOW}.*",
            "cpu": f"tensorflow-cpu=={TENSORFLOW}.*",
            "cuda": f"tensorflow[and-cuda]=={TENSORFLOW}.*",
        }
        self.assertCountEqual(self.metadata.provides_extra, wanted)
        self.assertCountEqual(
            self.metadata.requires_dist,
            [requirements.Requirement(f'{wanted[e]}; extra == "{e}"') for e in wanted],
        )
        self.assertEqual(self.metadata.requires_python, ">=3.10")

    def test_tag(self) -> None:
        lines = self.files[f"{self.info}/WHEEL"].decode().splitlines()
        tags = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
        self.assertEqual(tags, [str(tag) for tag in self.tags])
        self.assertIn("Wheel-Version: 1.0", lines)
        self.assertIn("Root-Is-Purelib: false", lines)


class LibraryTest(ContentsTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.library = self.files[f"{wheel_test_case.PACKAGE}/{wheel_test_case.LIBRARY}"]
        self.elf = elffile.ELFFile(io.BytesIO(self.library))
        section = self.elf.get_section_by_name(".dynamic")
        assert isinstance(section, dynamic.DynamicSection)
        self.dynamic = list(section.iter_tags())

    def audit(self) -> dict[str, object]:
        """Returns what auditwheel finds."""
        result = self.run_command(
            *(sys.executable, "-m", "auditwheel", "show", "--json", self.wheel),
            cwd=wheel_test_case.TEST_PACKAGES,
        )
        findings = json.loads(result.stdout)
        assert isinstance(findings, dict)
        return findings

    def test_fits_the_tag(self) -> None:
        (tag,) = self.tags
        self.assertEqual((tag.interpreter, tag.abi), ("py3", "none"))
        findings = self.audit()
        fits = str(findings["sym_tag"])
        self.assertRegex(fits, "manylinux_", findings)

        def glibc(platform: str) -> list[int]:
            return [int(number) for number in re.findall(r"\d+", platform)[:2]]

        self.assertLessEqual(
            glibc(fits),
            glibc(tag.platform),
            f"The library needs newer symbols than {tag.platform} has: {findings['versioned_symbols']}. "
            "See tools/pip_package/old_system.cc, or build on an older system.",
        )
        self.assertFalse(findings["unsupported_isa"])

    def test_takes_tensorflow_from_where_it_is_installed(self) -> None:
        libraries = self.audit()["external_libs"]
        assert isinstance(libraries, dict)
        self.assertIn("libtensorflow_framework.so.2", libraries)
        self.assertContainsSubset(libraries, {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2"})
        tags = {tag.entry.d_tag for tag in self.dynamic}
        self.assertNoCommonElements(tags, {"DT_RPATH", "DT_RUNPATH"})

    def test_is_hardened(self) -> None:
        segments = {segment["p_type"] for segment in self.elf.iter_segments()}
        self.assertIn("PT_GNU_RELRO", segments)
        flags = [tag["d_val"] for tag in self.dynamic if tag.entry.d_tag == "DT_FLAGS"]
        self.assertTrue(flags and flags[0] & 0x8, f"not linked with -z now: {flags}")
        self.assertIn(b"__stack_chk_fail", self.library)

    def test_exports_nothing_of_its_own(self) -> None:
        symbols = self.elf.get_section_by_name(".dynsym")
        assert isinstance(symbols, sections.SymbolTableSection)
        exported = {
            symbol.name
            for symbol in symbols.iter_symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        }
        self.assertEmpty({name for name in exported if not UNAVOIDABLE.fullmatch(name)})

    def test_names_no_folder_of_the_build(self) -> None:
        absolute_path = rb"(?<![\w.])(?:/[\w.+-]+){2,}"
        self.assertEmpty(re.findall(absolute_path, self.library))
        self.assertNotIn(b"bazel-out", self.library)


if __name__ == "__main__":
    absltest.main()
