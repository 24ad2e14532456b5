# SPDX-License-Identifier: Apache-2.0
"""What a shared library tells the dynamic linker."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import BinaryIO

from elftools.elf import dynamic, elffile, gnuversions, sections
from elftools.elf import hash as elf_hash

# What op libraries are linked with.
TENSORFLOW_LIBRARIES = {"libtensorflow_framework.so.2", "libtensorflow_cc.so.2"}


def own_tensorflow() -> pathlib.Path:
    """The folder of the TensorFlow that the build used."""
    spec = importlib.util.find_spec("tensorflow")
    assert spec
    assert spec.submodule_search_locations
    return pathlib.Path(spec.submodule_search_locations[0])


class SharedLibrary:
    """A shared library that is read, not loaded.

    Attributes:
      elf: the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.elf = elffile.ELFFile(file)

    def dynamic_tags(self) -> list[dynamic.DynamicTag]:
        """The dynamic section."""
        section = self.elf.get_section_by_name(".dynamic")
        assert isinstance(section, dynamic.DynamicSection)
        return list(section.iter_tags())

    def needed(self) -> set[str]:
        """The names of the libraries that are loaded with it."""
        return {tag.needed for tag in self.dynamic_tags() if tag.entry.d_tag == "DT_NEEDED"}

    def _symbols(self) -> list[sections.Symbol]:
        section = self.elf.get_section_by_name(".dynsym")
        assert isinstance(section, sections.SymbolTableSection)
        return list(section.iter_symbols())

    def exported(self) -> set[str]:
        """The symbols that other libraries can use."""
        return {
            symbol.name
            for symbol in self._symbols()
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        }

    def undefined(self) -> dict[str, str | None]:
        """The symbols that it needs, each with the library that it is asked from, if it is asked from one.

        That is so where the linker took the symbol from a library with symbol versions.
        """
        versions = self.elf.get_section_by_name(".gnu.version")
        needs = self.elf.get_section_by_name(".gnu.version_r")
        assert isinstance(versions, gnuversions.GNUVerSymSection)
        assert isinstance(needs, gnuversions.GNUVerNeedSection)
        library_of_version = {
            version["vna_other"]: library.name
            for library, its_versions in needs.iter_versions()
            for version in its_versions
        }
        return {
            symbol.name: library_of_version.get(versions.get_symbol(index)["ndx"])
            for index, symbol in enumerate(self._symbols())
            if symbol["st_shndx"] == "SHN_UNDEF" and symbol["st_info"]["bind"] == "STB_GLOBAL"
        }

    def missing(self, tensorflow: pathlib.Path) -> set[str]:
        """The symbols that neither the system nor the TensorFlow in a folder has."""
        missing = {name for name, asked in self.undefined().items() if asked is None or asked in TENSORFLOW_LIBRARIES}
        for name in TENSORFLOW_LIBRARIES:
            with (tensorflow / name).open("rb") as file:
                library = SharedLibrary(file)
                missing = {symbol for symbol in missing if not library.defines(symbol)}
        return missing

    def variables(self) -> set[str]:
        """The names of all variables that can be written, as far as the file still names them."""
        table = self.elf.get_section_by_name(".symtab")
        assert isinstance(table, sections.SymbolTableSection)
        writable = {
            index for index, section in enumerate(self.elf.iter_sections()) if section.name in (".data", ".bss")
        }
        return {
            symbol.name
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_shndx"] in writable
        }

    def defines(self, name: str) -> bool:
        """Whether other libraries find a symbol in it. Faster than exported() where that is long."""
        section = self.elf.get_section_by_name(".gnu.hash")
        assert isinstance(section, elf_hash.GNUHashSection)
        return section.get_symbol(name) is not None
