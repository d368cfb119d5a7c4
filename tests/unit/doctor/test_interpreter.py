"""Checks of Pythons of all kinds, and of profkit's switches."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.config import read_config
from profkit.doctor.elf import Symbols
from profkit.doctor.interpreter import (
    InterpreterFacts,
    interpreter_checks,
    interpreter_facts,
    switches_check,
)
from profkit.doctor.system import Manager, SystemFacts
from profkit.model.checkup import Check, Status

FACTS = InterpreterFacts(
    version="3.13.2", release=(3, 13), implementation="cpython", free_threaded=False, has_gil=True,
    code=Path("/usr/bin/python3.13"), symbols=Symbols(has_table=True, build_id="ab12"), debug_file=None,
    is_packaged=True,
)  # fmt: skip
STRIPPED = replace(FACTS, symbols=Symbols(has_table=False, build_id="ab12"))


DEBIAN = SystemFacts(manager=Manager.APT)


def checked(facts: InterpreterFacts, system: SystemFacts = DEBIAN) -> dict[str, Check]:
    return {check.name: check for check in interpreter_checks(facts, system)}


def test_a_python_that_is_tested() -> None:
    checks = checked(FACTS)
    assert {check.status for check in checks.values()} == {Status.OK}
    assert checks["interpreter"].found == "CPython 3.13.2"
    assert checks["threading"].found == "with the GIL"
    assert checks["symbols"].found == "in /usr/bin/python3.13"


def test_a_stripped_python_of_debian_and_of_others() -> None:
    check = checked(STRIPPED)["symbols"]
    assert (check.status, check.found) == (Status.SHORTFALL, "none for /usr/bin/python3.13")
    assert "memory allocators are not recognised" in check.cost
    assert check.fix == "sudo apt-get install python3.13-dbg"
    root = replace(DEBIAN, is_root=True)
    assert checked(STRIPPED, root)["symbols"].fix == "apt-get install python3.13-dbg"
    assert checked(replace(STRIPPED, is_packaged=False))["symbols"].fix == "pyenv install 3.13"


def test_a_stripped_python_of_other_distributions() -> None:
    fedora = SystemFacts(manager=Manager.DNF)
    assert checked(STRIPPED, fedora)["symbols"].fix == "sudo dnf debuginfo-install python3.13"
    library = replace(STRIPPED, code=Path("/usr/lib64/libpython3.13.so.1.0"))
    assert checked(library, fedora)["symbols"].fix == "sudo dnf debuginfo-install python3.13-libs"
    for manager in (Manager.APK, Manager.PACMAN, Manager.ZYPPER, None):
        assert checked(STRIPPED, SystemFacts(manager=manager))["symbols"].fix == "pyenv install 3.13"


def test_a_stripped_python_with_its_debug_file() -> None:
    file = Path("/usr/lib/debug/.build-id/ab/12.debug")
    check = checked(replace(STRIPPED, debug_file=file))["symbols"]
    assert (check.status, check.found) == (Status.OK, f"in {file}")


def test_a_python_whose_file_cannot_be_read() -> None:
    check = checked(replace(FACTS, symbols=None))["symbols"]
    assert (check.status, check.found) == (
        Status.NOT_APPLICABLE, "/usr/bin/python3.13 is not a readable ELF file"
    )  # fmt: skip


@pytest.mark.parametrize(("has_gil", "word"), [(True, "on"), (False, "off")])
def test_a_free_threaded_python(has_gil: bool, word: str) -> None:
    check = checked(replace(FACTS, free_threaded=True, has_gil=has_gil))["threading"]
    assert (check.status, check.fix) == (Status.SHORTFALL, "run the program with python3.13")
    assert check.found == f"free-threaded, the GIL is {word}"


def test_pythons_that_are_not_tested() -> None:
    other = checked(replace(FACTS, implementation="pypy", version="7.3"))["interpreter"]
    assert (other.status, other.found) == (Status.SHORTFALL, "PyPy 7.3")
    later = checked(replace(FACTS, release=(3, 16), version="3.16.0"))["interpreter"]
    assert (later.status, later.fix) == (Status.SHORTFALL, "pip install --upgrade profkit")


def test_the_facts_of_this_python() -> None:
    facts = interpreter_facts()
    assert facts.version == platform.python_version()
    assert facts.code.is_file()
    assert facts.symbols is not None


def test_the_library_of_a_python_has_its_code(tmp_path: Path) -> None:
    own = tmp_path / "proc" / "self"
    own.mkdir(parents=True)
    (own / "maps").write_text(
        "7f-80 r-xp 00 fe:01 1 /usr/lib/libm.so.6\n7f-80 r-xp 00 fe:01 2 /opt/libpython3.13.so.1.0\n"
    )
    assert interpreter_facts(tmp_path).code == Path("/opt/libpython3.13.so.1.0")
    (own / "maps").write_text("7f-80 r-xp 00 fe:01 1 /usr/bin/python3.13\n")
    (own / "exe").symlink_to("/usr/bin/python3.13")
    facts = interpreter_facts(tmp_path)
    assert (facts.code, facts.is_packaged) == (Path("/usr/bin/python3.13"), True)


def test_a_system_without_proc(tmp_path: Path) -> None:
    assert interpreter_facts(tmp_path).code.exists()


def test_switches(tmp_path: Path) -> None:
    assert switches_check(read_config({}, tmp_path)).status is Status.OK
    off = {"PROFKIT_DISABLE": "yes"}
    check = switches_check(read_config(off, tmp_path), off)
    assert (check.status, check.fix) == (Status.SHORTFALL, "unset PROFKIT_DISABLE")
    assert "PROFKIT_DISABLE=yes" in check.found
    check = switches_check(read_config({"PROFKIT_CHILDREN": "0"}, tmp_path))
    assert (check.status, check.fix) == (Status.SHORTFALL, "unset PROFKIT_CHILDREN")
