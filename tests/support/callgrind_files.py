"""Dumps of callgrind in files."""

from __future__ import annotations

from pathlib import Path

from profkit.formats.callgrind import parse_callgrind
from profkit.model.measurement import CallgrindDump


def read_callgrind(path: Path) -> CallgrindDump:
    """Return the dump in a file; bytes of names that are no UTF-8 come as lone surrogates."""
    return parse_callgrind(path.read_bytes().decode("utf-8", "surrogateescape"), path)
