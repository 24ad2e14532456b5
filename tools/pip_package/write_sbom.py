# SPDX-License-Identifier: Apache-2.0
"""Writes the wheel's bill of materials: what is compiled into its libraries, and by which compilers.

In the format CycloneDX 1.6 (ECMA-424), for the folder that PEP 770 gives it in a wheel.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import runpy

# Before TensorFlow is imported, for it prints and looks for GPUs.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tensorflow as tf

Component = dict[str, object]


def component(name: str, version: str, **fields: object) -> Component:
    """One entry of the bill, which others can refer to by its name."""
    return {"bom-ref": name, "name": name, "version": version, **fields}


def library(name: str, version: str, purl: str, license_id: str) -> Component:
    """The entry of a library; `purl` is its package URL without the version."""
    licenses = [{"license": {"id": license_id}}]
    return component(name, version, type="library", licenses=licenses, purl=f"pkg:{purl}@{version}")


def compiler(name: str, version: str) -> Component:
    """The entry of a compiler, which is not in the wheel."""
    return component(name, version, type="application", scope="excluded")


def macros(header: pathlib.Path, *names: str) -> list[str]:
    """The values of macros that a header defines.

    Raises:
      ValueError: it does not define one.
    """
    text = header.read_text()
    values = []
    for name in names:
        found = re.search(rf'^ *# *define {name} "?([^\s"]+)', text, re.MULTILINE)
        if not found:
            raise ValueError(f"{header} does not define {name}")
        values.append(found[1])
    return values


def compiled_in(include: pathlib.Path) -> list[Component]:
    """The libraries whose headers our sources include, from a folder of headers: TensorFlow's wheel has them all."""
    # Before version 5 another file had Eigen's version, with other names of its parts.
    header, parts = include / "Eigen/Version", ["MAJOR", "MINOR", "PATCH"]
    if not header.exists():
        header, parts = include / "Eigen/src/Core/util/Macros.h", ["WORLD", "MAJOR", "MINOR"]
    eigen = ".".join(macros(header, *(f"EIGEN_{part}_VERSION" for part in parts)))
    absl = ".".join(macros(include / "absl/base/config.h", "ABSL_LTS_RELEASE_VERSION", "ABSL_LTS_RELEASE_PATCH_LEVEL"))
    return [
        library("tensorflow", tf.__version__, "pypi/tensorflow", "Apache-2.0"),
        library("eigen", eigen, "generic/eigen", "MPL-2.0"),
        library("abseil-cpp", absl, "github/abseil/abseil-cpp", "Apache-2.0"),
    ]


def compilers(build_info: dict[str, object]) -> list[Component]:
    """What compiled the libraries."""
    name, _, version = str(build_info["COMPILER"]).partition(" ")
    used = [compiler(name, version)]
    if build_info["CUDA_VERSION"]:
        used.append(compiler("nvcc", str(build_info["CUDA_VERSION"])))
    return used


def main() -> None:
    """Writes one bill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True, help="the wheel's name")
    parser.add_argument("build_info", type=pathlib.Path, help="the package's _build_info.py")
    parser.add_argument("out", type=pathlib.Path, help="the file to write")
    args = parser.parse_args()
    build_info = runpy.run_path(str(args.build_info))
    wheel = library(args.distribution, build_info["VERSION"], f"pypi/{args.distribution}", "Apache-2.0")
    libraries = compiled_in(pathlib.Path(tf.sysconfig.get_include()))
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": wheel},
        "components": libraries + compilers(build_info),
        "dependencies": [{"ref": args.distribution, "dependsOn": [each["bom-ref"] for each in libraries]}],
    }
    args.out.write_text(json.dumps(bill, indent=2) + "\n")


if __name__ == "__main__":
    main()
