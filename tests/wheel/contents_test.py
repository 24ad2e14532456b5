# SPDX-License-Identifier: Apache-2.0
"""Looks at the wheel without importing it: its files, metadata and libraries."""

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

from absl.testing import absltest, parameterized
from cyclonedx.model import bom
from packaging import metadata, requirements, utils

from tests.wheel import shared_library, wheel_test_case

# "<major>.<minor>" of the TensorFlow that the build used, and the names of the ops.
TENSORFLOW = os.environ["TENSORFLOW"]
OPS = os.environ["OPS"].split()
# Those that the wheel has.
LIBRARIES = os.environ["LIBRARIES"].split()

# The bill of materials.
SBOM = "sboms/tensorflow-custom-ops.cdx.json"

# Variables of libraries that TensorFlow has, and of which a process must have one copy. Those within functions are of
# templates.
OF_ANOTHER = re.compile("_ZN(4absl|6google8protobuf)")

# What tools/pip_package/old_system.cc makes and TensorFlow's libraries use too: linkers export it all the same.
UNAVOIDABLE = re.compile(r"_Z[KNTV]+St7__cxx1118basic_stringstream.+")

DF_BIND_NOW = 8
PF_X, PF_W = 1, 2


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
        package |= {*LIBRARIES, "layers/__init__.py", "layers/op_layer.py", "ops/__init__.py"}
        package |= {"testing/__init__.py", "testing/__main__.py", "testing/checks/__init__.py"}
        for op in OPS:
            package |= {f"ops/{op}/__init__.py", f"ops/{op}/{op}.py"}
            # What is made of TensorFlow's ops has no generated module.
            if f"gen_{op}" in self.files[f"{wheel_test_case.PACKAGE}/ops/{op}/{op}.py"].decode():
                package |= {f"ops/{op}/gen_{op}.py", f"ops/{op}/gen_{op}.pyi"}
        self.assertContainsSubset({f"{wheel_test_case.PACKAGE}/{name}" for name in package}, self.files.keys())

    def test_has_the_metadata(self) -> None:
        names = {"METADATA", "WHEEL", "RECORD", "licenses/LICENSE", SBOM}
        found = {name for name in self.files if name.startswith(f"{self.info}/")}
        self.assertEqual(found, {f"{self.info}/{name}" for name in names})

    def test_has_nothing_else(self) -> None:
        others = [name for name in self.files if not name.startswith(f"{self.info}/")]
        for name in others:
            libraries = "|".join(map(re.escape, LIBRARIES))
            for_compilers = r"jit/(options\.json|lib/libcore\.a|include/.+\.(h|cc))"
            self.assertRegex(name, rf"\A{wheel_test_case.PACKAGE}/(.+\.pyi?|py\.typed|{libraries}|{for_compilers})\Z")
            self.assertNotRegex(name, r"_test\.|test_|/tests?/")

    def test_has_what_compilers_read(self) -> None:
        include = f"{wheel_test_case.PACKAGE}/jit/include/"
        headers = {name.removeprefix(include): text.decode() for name, text in self.files.items() if include in name}
        self.assertIn(f"{wheel_test_case.PACKAGE}/core/elementwise/functor.h", headers)
        for name, text in headers.items():
            own = set(re.findall(rf'#include "({wheel_test_case.PACKAGE}/.+)"', text))
            self.assertContainsSubset(own, headers, name)
        library = self.files[f"{wheel_test_case.PACKAGE}/jit/lib/libcore.a"]
        self.assertStartsWith(library, b"!<arch>\n")
        self.assertLess(len(library), 2**20)
        self.assertNotRegex(library, rb"bazel-out|/home/|/root/|/tmp/")

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


class BillOfMaterialsTest(ContentsTestCase):
    def setUp(self) -> None:
        super().setUp()
        # Refuses what is not in the format.
        self.bill = bom.Bom.from_json(json.loads(self.files[f"{self.info}/{SBOM}"]))
        self.bill.validate()

    def test_is_of_this_wheel(self) -> None:
        component = self.bill.metadata.component
        self.assertEqual(component.name, self.name)
        self.assertEqual(component.version, str(self.version))

    def test_has_what_is_compiled_in_and_the_compilers(self) -> None:
        build_info: dict[str, object] = {}
        exec(self.files[f"{wheel_test_case.PACKAGE}/_build_info.py"], build_info)
        versions = {component.name: component.version for component in self.bill.components}
        self.assertEqual(versions.pop("tensorflow"), build_info["TENSORFLOW_VERSION"])
        self.assertRegex(versions.pop("eigen"), r"\A\d+\.\d+\.\d+\Z")
        self.assertRegex(versions.pop("abseil-cpp"), r"\A\d{8}\.\d+\Z")
        self.assertEqual(versions.pop("nvcc", None), build_info["CUDA_VERSION"])
        self.assertEqual([" ".join(compiler) for compiler in versions.items()], [build_info["COMPILER"]])


class TagTest(ContentsTestCase):
    """Of all libraries at once, as auditwheel sees them."""

    def setUp(self) -> None:
        super().setUp()
        result = self.run_command(
            *(sys.executable, "-m", "auditwheel", "show", "--json", self.wheel),
            cwd=wheel_test_case.TEST_PACKAGES,
        )
        self.findings = json.loads(result.stdout)

    def test_fits_the_tag(self) -> None:
        (tag,) = self.tags
        self.assertEqual((tag.interpreter, tag.abi), ("py3", "none"))
        fits = self.findings["sym_tag"]
        self.assertRegex(fits, "manylinux_", self.findings)

        def glibc(platform: str) -> list[int]:
            return [int(number) for number in re.findall(r"\d+", platform)[:2]]

        self.assertLessEqual(
            glibc(fits),
            glibc(tag.platform),
            f"The libraries need newer symbols than {tag.platform} has: {self.findings['versioned_symbols']}. "
            "See tools/pip_package/old_system.cc, or build on an older system.",
        )
        self.assertFalse(self.findings["unsupported_isa"])

    def test_takes_nothing_but_tensorflow_from_elsewhere(self) -> None:
        self.assertContainsSubset(self.findings["external_libs"], shared_library.TENSORFLOW_LIBRARIES)


@parameterized.parameters([(name,) for name in LIBRARIES])
class LibraryTest(ContentsTestCase, parameterized.TestCase):
    def read(self, name: str) -> tuple[bytes, shared_library.SharedLibrary]:
        """Reads a library of the wheel."""
        content = self.files[f"{wheel_test_case.PACKAGE}/{name}"]
        return content, shared_library.SharedLibrary(io.BytesIO(content))

    def test_takes_tensorflow_from_where_it_is_installed(self, name: str) -> None:
        _, library = self.read(name)
        self.assertIn("libtensorflow_framework.so.2", library.needed())
        tags = {tag.entry.d_tag for tag in library.dynamic_tags()}
        self.assertNoCommonElements(tags, {"DT_RPATH", "DT_RUNPATH"})

    def test_addresses_are_read_only_once_it_is_loaded(self, name: str) -> None:
        _, library = self.read(name)
        self.assertIn("PT_GNU_RELRO", {segment["p_type"] for segment in library.elf.iter_segments()})
        flags = [tag["d_val"] for tag in library.dynamic_tags() if tag.entry.d_tag == "DT_FLAGS"]
        self.assertTrue(flags and flags[0] & DF_BIND_NOW, f"not linked with -z now: {flags}")

    def test_nothing_can_be_both_written_and_executed(self, name: str) -> None:
        _, library = self.read(name)
        segments = list(library.elf.iter_segments())
        self.assertLen([segment for segment in segments if segment["p_type"] == "PT_GNU_STACK"], 1)
        for segment in segments:
            self.assertNotEqual(segment["p_flags"] & (PF_W | PF_X), PF_W | PF_X, segment.header)

    def test_functions_check_their_stack(self, name: str) -> None:
        _, library = self.read(name)
        self.assertIn("__stack_chk_fail", library.undefined())

    def test_functions_check_the_sizes_of_buffers(self, name: str) -> None:
        # -D_FORTIFY_SOURCE, which is Bazel's: where the compiler knows a buffer's size, the C library checks it.
        _, library = self.read(name)
        self.assertIn("__memcpy_chk", library.undefined())

    def test_takes_every_symbol_from_the_system_or_tensorflow(self, name: str) -> None:
        if name == wheel_test_case.LIBRARY:  # tests/gpu/static_test.py: the other's
            _, library = self.read(name)
            self.assertEmpty(library.missing(shared_library.own_tensorflow()))

    def test_has_no_absl_and_no_protobuf(self, name: str) -> None:
        _, library = self.read(name)
        self.assertNotEmpty(library.variables())
        self.assertEmpty([variable for variable in library.variables() if OF_ANOTHER.match(variable)])
        self.assertNotEmpty([symbol for symbol in library.undefined() if OF_ANOTHER.match(symbol)])

    def test_exports_nothing_of_its_own(self, name: str) -> None:
        _, library = self.read(name)
        self.assertEmpty({symbol for symbol in library.exported() if not UNAVOIDABLE.fullmatch(symbol)})

    def test_names_no_folder_of_the_build(self, name: str) -> None:
        _, library = self.read(name)
        absolute_path = rb"(?<![\w.])(?:/[\w.+-]+){2,}"
        for section in library.elf.iter_sections():
            # Compressed code for GPUs, which may happen to look like a path; tests/gpu/static_test.py unpacks it.
            if section.name == ".nv_fatbin":
                continue
            self.assertEmpty(re.findall(absolute_path, section.data()), section.name)
            self.assertNotIn(b"bazel-out", section.data(), section.name)


if __name__ == "__main__":
    absltest.main()
