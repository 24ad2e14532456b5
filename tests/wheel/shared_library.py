# SPDX-License-Identifier: Apache-2.0
"""What a shared library tells the dynamic linker."""

from __future__ import annotations

from typing import BinaryIO

from elftools.elf import dynamic, elffile, gnuversions, sections
from elftools.elf import hash as elf_hash


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

    def defines(self, name: str) -> bool:
        """Whether other libraries find a symbol in it. Faster than exported() where that is long."""
        section = self.elf.get_section_by_name(".gnu.hash")
        assert isinstance(section, elf_hash.GNUHashSection)
        return section.get_symbol(name) is not None
