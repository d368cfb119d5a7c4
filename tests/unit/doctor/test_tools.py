"""Checks of programs and of the cache of C++, with scripts on PATH and folders of all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.doctor.system import Manager, SystemFacts
from profkit.doctor.tools import (
    CacheFacts,
    ToolFacts,
    cache_check,
    cache_facts,
    compiler_check,
    compiler_facts,
    machine_check,
    valgrind_check,
    valgrind_facts,
)
from profkit.errors import UsageError
from profkit.model.checkup import Status
from profkit.process.captured import capture

DEBIAN = SystemFacts(manager=Manager.APT)


def script(folder: Path, name: str, text: str) -> dict[str, str]:
    """Write a program, and return an environment in which it is the only one."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"PATH": str(path.parent)}


def test_valgrind(tmp_path: Path) -> None:
    env = script(tmp_path, "valgrind", "echo valgrind-3.27.1")
    facts = valgrind_facts(env)
    assert facts == ToolFacts(str(tmp_path / "bin" / "valgrind"), "3.27.1")
    check = valgrind_check(facts, DEBIAN)
    assert (check.status, check.found) == (Status.OK, f"3.27.1, {facts.path}")


def test_no_valgrind(tmp_path: Path) -> None:
    check = valgrind_check(valgrind_facts({"PATH": str(tmp_path)}), DEBIAN)
    assert (check.status, check.found) == (Status.SHORTFALL, "not on PATH")
    assert check.cost == "no instruction counts (--mode callgrind)"
    assert check.fix == "sudo apt-get install valgrind"


def test_a_valgrind_that_does_not_run(tmp_path: Path) -> None:
    facts = valgrind_facts(script(tmp_path, "valgrind", "echo no tool >&2; exit 3"))
    assert facts.problem == "exit status 3: no tool"
    check = valgrind_check(facts, DEBIAN)
    assert (check.status, check.fix) == (Status.SHORTFALL, "sudo apt-get install --reinstall valgrind")
    env = script(tmp_path, "valgrind", "")
    (tmp_path / "bin" / "valgrind").write_text("#!/no/such/interpreter\n")
    assert valgrind_facts(env).problem == "No such file or directory"


def test_compilers(tmp_path: Path) -> None:
    env = script(tmp_path, "c++", "echo 'c++ (GCC) 14.2'; echo Copyright")
    check = compiler_check(compiler_facts(env), DEBIAN)
    assert (check.status, check.found) == (Status.OK, f"c++ (GCC) 14.2, {tmp_path}/bin/c++")
    missing = compiler_check(compiler_facts({"PATH": str(tmp_path)}), DEBIAN)
    assert (missing.status, missing.fix) == (Status.SHORTFALL, "sudo apt-get install g++")
    silent = compiler_facts(script(tmp_path / "bin", "g++", "exit 0"))
    assert silent.problem == "it does not report its version"
    assert compiler_check(silent, DEBIAN).fix == "sudo apt-get install --reinstall g++"


def test_a_compiler_that_does_not_run(tmp_path: Path) -> None:
    env = script(tmp_path, "g++", "")
    (tmp_path / "bin" / "g++").write_text("#!/no/such/interpreter\n")
    assert compiler_facts(env).problem == "No such file or directory"
    env = script(tmp_path, "g++", "echo 'g++ 12'; echo broken >&2; exit 1")
    assert compiler_facts(env).problem == "exit status 1: broken", "toolchain ignores the status"


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("CXX", '"g++', "no closing quotation"),
        ("CXXFLAGS", "-DX='1", "no closing quotation"),
        ("CXX", "g++ -x", "exit status 4"),
    ],
)
def test_variables_that_name_no_compiler(variable: str, value: str, problem: str, tmp_path: Path) -> None:
    env = script(tmp_path, "g++", '[ "$1" = --version ] || exit 4; echo g++ 12')
    assert compiler_check(compiler_facts(env), DEBIAN).status is Status.OK
    check = compiler_check(compiler_facts({**env, variable: value}), DEBIAN)
    assert (check.status, check.fix) == (Status.SHORTFALL, f"unset {variable}")
    assert check.found.endswith(f": {problem}")


def test_a_variable_with_a_program_that_is_missing(tmp_path: Path) -> None:
    env = script(tmp_path, "g++", "echo g++ 12")
    check = compiler_check(compiler_facts({**env, "CXX": "missing"}), DEBIAN)
    assert (check.status, check.found, check.fix) == (Status.SHORTFALL, "$CXX is not on PATH", "unset CXX")


def test_programs_that_do_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profkit.doctor.tools.capture", lambda command: capture(command, timeout_s=0.2))
    env = script(tmp_path, "g++", "exec /bin/sleep 60")
    check = compiler_check(compiler_facts(env), DEBIAN)
    assert check.found == f"{tmp_path}/bin/g++: it did not end within 0.2 s"
    assert check.fix == f"make sure that `{tmp_path}/bin/g++ --version` works"


def test_a_system_that_starts_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("profkit.doctor.tools.capture", fail)
    check = valgrind_check(valgrind_facts(script(tmp_path, "valgrind", "")), DEBIAN)
    assert check.found.endswith(": Cannot allocate memory")
    assert "reinstall" not in check.fix


def test_a_cache_that_can_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "profkit" / "cpp"
    missing = cache_check(cache_facts(lambda: folder))
    assert (missing.status, missing.found) == (Status.OK, f"{folder} does not exist, and can be created")
    assert list(tmp_path.iterdir()) == [], "nothing is created"
    folder.mkdir(parents=True, mode=0o700)
    assert cache_check(cache_facts(lambda: folder)).found == f"{folder}, writable"
    assert list(folder.iterdir()) == []


def test_caches_that_cannot_be_used(tmp_path: Path) -> None:
    public, file = tmp_path / "public", tmp_path / "file"
    public.mkdir()
    public.chmod(0o777)
    file.touch()
    for folder, words in (
        (public, "is writable by other users"),
        (file, "cannot be used"),
        (file / "cpp", "Not a directory"),
        (Path("/proc/cpp"), "No such file or directory"),
    ):
        check = cache_check(cache_facts(lambda folder=folder: folder))
        assert check.status is Status.SHORTFALL
        assert words in check.found
        assert check.cost == "no C++ statements (--language c++)"
        assert check.fix == "set XDG_CACHE_HOME to a folder that only you can write to"


def test_a_user_without_a_home_folder() -> None:
    def fail() -> Path:
        raise UsageError("HOME is not set", "set XDG_CACHE_HOME")

    assert cache_facts(fail) == CacheFacts(None, problem="HOME is not set", fix="set XDG_CACHE_HOME")


def test_machines() -> None:
    assert machine_check("x86_64").status is Status.OK
    arm = machine_check("aarch64")
    assert (arm.status, arm.found) == (Status.SHORTFALL, "aarch64, not tested")
    assert arm.fix == "in a checkout: python -m pytest -m valgrind"
    other = machine_check("riscv64")
    assert (other.status, other.fix) == (Status.SHORTFALL, "count on x86_64 or aarch64")
