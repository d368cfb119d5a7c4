"""Checks of Pythons of all kinds, of their symbols, and of profkit's switches."""

from __future__ import annotations

import platform
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.config import read_config
from profkit.doctor.interpreter import (
    DEBUG_FOLDER,
    code_file,
    interpreter_checks,
    switches_check,
    symbol_file,
    symbols_check,
    threading_check,
    version_check,
)
from profkit.doctor.system import Manager, SystemFacts
from profkit.model.checkup import Status
from tests.support.folders import write_files

DEBIAN = SystemFacts(manager=Manager.APT)
FEDORA = SystemFacts(manager=Manager.DNF)
SOURCE = "static int hidden(void) { return 1; } int main(void) { return hidden(); }"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program with symbols and a build id, made by the compiler that is here."""
    path = tmp_path / "program"
    command = ["gcc", "-O0", "-Wl,--build-id=0xabcdef0123", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return path


@pytest.fixture
def stripped(program: Path) -> Path:
    subprocess.run(["strip", str(program)], check=True)
    return program


@pytest.mark.parametrize(
    ("arguments", "status", "found", "fix"),
    [
        (("cpython", "3.13.2", (3, 13)), Status.OK, "CPython 3.13.2", ""),
        (("pypy", "7.3", (3, 11)), Status.SHORTFALL, "PyPy 7.3", "run the program with CPython"),
        (
            ("cpython", "3.16.0", (3, 16)),
            *(Status.SHORTFALL, "CPython 3.16.0", "pip install --upgrade profkit"),
        ),
    ],
)
def test_versions(
    arguments: tuple[str, str, tuple[int, int]], status: Status, found: str, fix: str
) -> None:  # fmt: skip
    check = version_check(*arguments)
    assert (check.status, check.found, check.fix) == (status, found, fix)


def test_threading() -> None:
    usual = threading_check((3, 13), free_threaded=False, has_gil=True)
    assert (usual.status, usual.found) == (Status.OK, "with the GIL")
    for has_gil, word in ((True, "on"), (False, "off")):
        check = threading_check((3, 13), free_threaded=True, has_gil=has_gil)
        assert (check.status, check.fix) == (Status.SHORTFALL, "run the program with python3.13")
        assert check.found == f"free-threaded, the GIL is {word}"


def test_a_program_with_symbols_and_a_stripped_one(program: Path, tmp_path: Path) -> None:
    assert symbol_file(program) == program
    assert symbols_check(program, (3, 13), DEBIAN).found == f"in {program}"
    subprocess.run(["strip", str(program)], check=True)
    assert symbol_file(program, tmp_path) is None
    check = symbols_check(program, (3, 13), DEBIAN)
    assert (check.status, check.found) == (Status.SHORTFALL, f"none for {program}")
    assert "memory allocators are not recognised" in check.cost


def test_the_separate_debug_file_of_a_stripped_program(stripped: Path, tmp_path: Path) -> None:
    name = f"{DEBUG_FOLDER}/ab/cdef0123.debug"
    file = write_files(tmp_path, {name: ""}) / name
    assert symbol_file(stripped, tmp_path) == file
    check = symbols_check(stripped, (3, 13), DEBIAN, tmp_path)
    assert (check.status, check.found) == (Status.OK, f"in {file}")
    command = ["objcopy", "--remove-section", ".note.gnu.build-id", str(stripped)]
    subprocess.run(command, check=True)
    assert symbol_file(stripped, tmp_path) is None


@pytest.mark.parametrize(
    ("code", "system", "fix"),
    [
        ("/usr/bin/python3.13", DEBIAN, "sudo apt-get install python3.13-dbg"),
        ("/usr/bin/python3.13", replace(DEBIAN, is_root=True), "apt-get install python3.13-dbg"),
        ("/opt/bin/python3.13", DEBIAN, "pyenv install 3.13"),
        ("/usr/bin/python3.13", FEDORA, "sudo dnf debuginfo-install python3.13"),
        ("/usr/lib64/libpython3.13.so.1.0", FEDORA, "sudo dnf debuginfo-install python3.13-libs"),
        *(
            ("/usr/bin/python3.13", SystemFacts(manager=manager), "pyenv install 3.13")
            for manager in (Manager.APK, Manager.PACMAN, Manager.ZYPPER, None)
        ),
    ],
)
def test_how_symbols_are_installed(
    code: str, system: SystemFacts, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profkit.doctor.interpreter.symbol_file", lambda *_: None)
    assert symbols_check(Path(code), (3, 13), system).fix == fix


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01", b"\x7fELF\x02\x01\x01"])
def test_files_that_are_no_programs(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(struct.error):
        symbol_file(file)


def test_files_that_cannot_be_read(program: Path, tmp_path: Path) -> None:
    program.write_bytes(program.read_bytes()[:2000])  # cut short
    for file in (program, tmp_path, tmp_path / "missing"):
        check = symbols_check(file, (3, 13), DEBIAN)
        assert (check.status, check.found) == (Status.NOT_APPLICABLE, f"{file} is not a readable ELF file")


def test_this_python() -> None:
    version, threading, symbols = interpreter_checks(DEBIAN)
    assert version.found == f"CPython {platform.python_version()}"
    assert threading.name == "threading"
    assert symbols.status is not Status.NOT_APPLICABLE


def test_the_library_of_a_python_has_its_code(tmp_path: Path) -> None:
    line = "7f-80 r-xp 00 fe:01"
    maps = f"{line} 1 /usr/lib/libm.so.6\n{line} 2 /opt/libpython3.13.so.1.0\n"
    assert code_file(write_files(tmp_path, {"self/maps": maps})) == Path("/opt/libpython3.13.so.1.0")
    write_files(tmp_path, {"self/maps": f"{line} 1 /usr/bin/python3.13\n"})
    (tmp_path / "self/exe").symlink_to("/usr/bin/python3.13")
    assert code_file(tmp_path) == Path("/usr/bin/python3.13")


def test_a_system_without_proc(tmp_path: Path) -> None:
    assert code_file(tmp_path).exists()


@pytest.mark.parametrize(
    ("environ", "status", "found", "fix"),
    [
        ({}, Status.OK, "", ""),
        ({"PROFKIT_DISABLE": "yes"}, Status.SHORTFALL, "PROFKIT_DISABLE=yes", "unset PROFKIT_DISABLE"),
        (
            {"PROFKIT_CHILDREN": "0"},
            *(Status.SHORTFALL, ", switched off in child processes", "unset PROFKIT_CHILDREN"),
        ),
    ],
)
def test_switches(environ: dict[str, str], status: Status, found: str, fix: str, tmp_path: Path) -> None:
    check = switches_check(read_config(environ, tmp_path), environ)
    assert (check.status, check.fix) == (status, fix)
    assert check.found.endswith(found)
