"""Symbols of ELF files, made by the compiler that is here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from profkit.doctor.elf import DEBUG_FOLDER, Symbols, read_symbols

SOURCE = "static int hidden(void) { return 1; } int main(void) { return hidden(); }"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program"
    command = ["gcc", "-O0", "-Wl,--build-id=0xabcdef0123", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return path


def test_a_program_with_symbols_and_a_stripped_one(program: Path) -> None:
    assert read_symbols(program) == Symbols(has_table=True, build_id="abcdef0123")
    subprocess.run(["strip", str(program)], check=True)
    assert read_symbols(program) == Symbols(has_table=False, build_id="abcdef0123")


def test_the_separate_debug_file_of_a_stripped_program(program: Path, tmp_path: Path) -> None:
    symbols = read_symbols(program)
    assert symbols is not None
    assert symbols.debug_file(tmp_path) is None
    file = tmp_path / DEBUG_FOLDER / "ab" / "cdef0123.debug"
    file.parent.mkdir(parents=True)
    file.touch()
    assert symbols.debug_file(tmp_path) == file
    assert Symbols(has_table=False, build_id=None).debug_file(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01", b"\x7fELF\x02\x01\x01"])
def test_files_that_are_no_programs(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert read_symbols(file) is None


def test_a_file_that_is_cut_short(program: Path) -> None:
    program.write_bytes(program.read_bytes()[:2000])
    assert read_symbols(program) is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert read_symbols(tmp_path) is None
    assert read_symbols(tmp_path / "missing") is None


def test_this_python() -> None:
    assert read_symbols(Path(sys.executable).resolve()) is not None
