"""Symbols of an ELF file (elf(5)): its own table of symbols, and the separate file that may have one."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

_MAGIC = b"\x7fELF\x02\x01"
"""Beginning of files for 64 bits, little-endian: all machines on which profkit runs."""
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL_TABLE, _NOTE = 2, 7
_BUILD_ID = 3
_LARGEST_NOTE_BYTES = 65536
DEBUG_FOLDER = Path("usr/lib/debug/.build-id")
"""Folder of separate debug files, below the root folder."""


class _Section(NamedTuple):
    kind: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols by which tools name the functions of a program that it does not export."""

    has_table: bool
    """True if the file has its own table of symbols: it is not stripped."""
    build_id: str | None
    """Hexadecimal id under which a separate debug file is found; None if it has none."""

    def debug_file(self, root: Path = Path("/")) -> Path | None:
        """Return the separate debug file, None if it is not installed."""
        if self.build_id is None:
            return None
        path = root / DEBUG_FOLDER / self.build_id[:2] / f"{self.build_id[2:]}.debug"
        return path if os.path.isfile(path) else None  # a method of Path raises PermissionError


def read_symbols(path: Path) -> Symbols | None:
    """Return the symbols of a program or library; None if it is not a 64-bit ELF file, or unreadable."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return None
            sections = tuple(_sections(file))
            notes = [section for section in sections if section.kind == _NOTE]
            found = (_build_id(_content(file, note)) for note in notes)
            return Symbols(
                has_table=any(section.kind == _SYMBOL_TABLE for section in sections),
                build_id=next((one for one in found if one), None),
            )
    except (OSError, struct.error):
        return None


def _sections(file: BinaryIO) -> Iterator[_Section]:
    file.seek(0)
    header = _HEADER.unpack(file.read(_HEADER.size))
    start, size, number = header[6], header[11], header[12]
    for index in range(number):
        file.seek(start + index * size)
        _, kind, _, _, offset, length, *_ = _SECTION.unpack(file.read(_SECTION.size))
        yield _Section(kind, offset, length)


def _content(file: BinaryIO, section: _Section) -> bytes:
    file.seek(section.offset)
    return file.read(min(section.size, _LARGEST_NOTE_BYTES))


def _build_id(note: bytes) -> str | None:
    """Return the id in a note section of GNU's, None for other notes."""
    if len(note) < 16:
        return None
    name_size, size, kind = struct.unpack_from("<III", note)
    if kind != _BUILD_ID or note[12:16] != b"GNU\0" or name_size != 4:
        return None
    return note[16 : 16 + size].hex()
