# SPDX-License-Identifier: Apache-2.0
"""A package that compiles an op when it is built: pip wheel --no-build-isolation --no-deps ."""

from __future__ import annotations

import setuptools
from setuptools.command import build_ext

from tensorflow_custom_ops import jit


class BuildOps(build_ext.build_ext):
    """Compiles op libraries, which are no modules of Python: one file serves every Python."""

    def get_ext_filename(self, fullname: str) -> str:
        """Where a library is in the package."""
        return fullname.replace(".", "/") + ".so"

    def get_export_symbols(self, ext: setuptools.Extension) -> list[str]:
        """What it exports for Python: nothing."""
        return list(ext.export_symbols)


setuptools.setup(
    name="cube",
    version="1.0",
    packages=["cube"],
    ext_modules=[
        setuptools.Extension(
            "cube.libcube",
            ["cube.cc"],
            extra_compile_args=jit.get_compile_flags(),
            extra_link_args=jit.get_link_flags(),
            language="c++",
        )
    ],
    cmdclass={"build_ext": BuildOps},
)
