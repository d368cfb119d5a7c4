"""Checks of the tools for measuring: Valgrind, a C++ compiler and its cache, machine code."""

from __future__ import annotations

import errno
import os
import platform
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.messages import without_fix
from profkit.doctor.places import write_problem
from profkit.doctor.system import SystemFacts
from profkit.errors import MeasuringError, UsageError
from profkit.measuring.cpp.cache import default_folder, open_cache
from profkit.model.checkup import Check, Group, Status
from profkit.process.captured import capture

_GROUP = Group.MEASURING
_TESTED, _WRITTEN = ("x86_64",), ("x86_64", "aarch64")
"""Machines on which the requests to Callgrind are tested, and for which they are written."""
_NO_COUNTS, _NO_CPP = "no instruction counts (--mode callgrind)", "no C++ statements (--language c++)"
_OTHER_CACHE = "set XDG_CACHE_HOME to a folder that only you can write to"
_BROKEN_FILE = (errno.ENOENT, errno.EACCES, errno.ENOEXEC)
"""Errors of starting a program whose file, or whose interpreter, is missing or damaged."""
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """Facts about a program: where it is, and its version."""

    path: str | None = None
    """None if it is not on PATH."""
    version: str = ""
    problem: str = ""
    """Why it did not report its version."""
    variable: str = ""
    """Environment variable that names it, if one does."""
    is_broken: bool = True
    """False if the problem is not one of the program, such as a lack of memory."""


@dataclass(frozen=True, slots=True)
class CacheFacts:
    """Facts about the folder of compiled statements."""

    folder: Path | None
    """None if the user has no home folder."""
    exists: bool = True
    problem: str = ""
    """Why nothing can be written to it, or why it cannot be created."""
    fix: str = ""


def valgrind_facts(environ: Mapping[str, str] = os.environ) -> ToolFacts:
    """Return the facts of Valgrind, which is run."""
    path = shutil.which("valgrind", path=environ.get("PATH"))
    if path is None:
        return ToolFacts()
    facts = _version_of((os.path.abspath(path), "--version"))
    return ToolFacts(path, facts.version.removeprefix("valgrind-"), facts.problem, is_broken=facts.is_broken)


def compiler_facts(environ: Mapping[str, str] = os.environ) -> ToolFacts:
    """Return the facts of the C++ compiler that $CXX names, else of g++ or c++; it is run."""
    words: dict[str, list[str]] = {}
    for variable in ("CXXFLAGS", "CXX"):
        text = environ.get(variable, "")
        try:
            words[variable] = shlex.split(text)
        except ValueError as error:
            return ToolFacts(f"{variable}={text!r}", problem=str(error).lower(), variable=variable)
    named = words["CXX"]
    programs = named[:1] or ["g++", "c++"]
    path = next((found for name in programs if (found := shutil.which(name, path=environ.get("PATH")))), None)
    variable = "CXX" if named else ""
    if path is None:
        return ToolFacts(variable=variable)
    facts = _version_of((os.path.abspath(path), *named[1:], "--version"))
    first = facts.version.partition("\n")[0]
    problem = facts.problem or ("" if first else "it does not report its version")
    return ToolFacts(path, first, problem, variable, facts.is_broken)


def cache_facts(folder: Callable[[], Path] = default_folder) -> CacheFacts:
    """Return the facts of the folder of compiled statements; a folder that does not exist is not created."""
    path = None
    try:
        path = folder()
        if os.path.exists(path):
            open_cache(path)
        problem = write_problem(path)
    except (MeasuringError, UsageError) as error:
        message, fix = without_fix(error)
        return CacheFacts(path, problem=message, fix=fix or _OTHER_CACHE)
    if problem is not None:
        return CacheFacts(path, problem=f"{path}: {problem}", fix=_OTHER_CACHE)
    return CacheFacts(path, exists=os.path.exists(path))


def valgrind_check(facts: ToolFacts, system: SystemFacts) -> Check:
    """Return the check of Valgrind."""
    if facts.path is None:
        fix = system.install("valgrind")
        return Check(_GROUP, "valgrind", Status.SHORTFALL, "not on PATH", _NO_COUNTS, fix)
    if facts.problem:
        fix = _repair(facts, "valgrind", system)
        return Check(_GROUP, "valgrind", Status.SHORTFALL, f"{facts.path}: {facts.problem}", _NO_COUNTS, fix)
    return Check(_GROUP, "valgrind", Status.OK, f"{facts.version}, {facts.path}")


def compiler_check(facts: ToolFacts, system: SystemFacts) -> Check:
    """Return the check of the C++ compiler."""
    if facts.path is None:
        found = "$CXX is not on PATH" if facts.variable else "neither g++ nor c++ on PATH"
        fix = f"unset {facts.variable}" if facts.variable else system.install("g++")
        return Check(_GROUP, "compiler", Status.SHORTFALL, found, _NO_CPP, fix)
    if facts.problem:
        found = f"{facts.path}: {facts.problem}"
        fix = f"unset {facts.variable}" if facts.variable else _repair(facts, "g++", system)
        return Check(_GROUP, "compiler", Status.SHORTFALL, found, _NO_CPP, fix)
    return Check(_GROUP, "compiler", Status.OK, f"{facts.version}, {facts.path}")


def cache_check(facts: CacheFacts) -> Check:
    """Return the check of the folder of compiled statements."""
    if facts.problem:
        return Check(_GROUP, "C++ cache", Status.SHORTFALL, facts.problem, _NO_CPP, facts.fix)
    state = "writable" if facts.exists else "does not exist, and can be created"
    return Check(_GROUP, "C++ cache", Status.OK, f"{facts.folder}{', ' if facts.exists else ' '}{state}")


def machine_check(machine: str | None = None) -> Check:
    """Return the check of the machine code with which Callgrind is controlled."""
    name = machine or platform.machine()
    if name in _TESTED:
        return Check(_GROUP, "machine code", Status.OK, f"{name}, tested")
    if name in _WRITTEN:
        cost = "instruction counts may be wrong; sampling and timing have no machine code"
        fix = "in a checkout: python -m pytest -m valgrind"
        return Check(_GROUP, "machine code", Status.SHORTFALL, f"{name}, not tested", cost, fix)
    fix = f"count on {' or '.join(_WRITTEN)}"
    return Check(_GROUP, "machine code", Status.SHORTFALL, f"{name}, not supported", _NO_COUNTS, fix)


def _version_of(command: Sequence[str]) -> ToolFacts:
    """Run a command that prints a version."""
    try:
        said = capture(command)
    except TimeoutError as error:
        return ToolFacts(command[0], problem=str(error), is_broken=False)
    except OSError as error:  # such as a script without an interpreter
        problem = error.strerror or str(error)
        return ToolFacts(command[0], problem=problem, is_broken=error.errno in _BROKEN_FILE)
    if said.code:
        ended = f"exit status {said.code}" if said.code > 0 else f"ended by signal {-said.code}"
        printed = (said.errors or said.output).partition("\n")[0][:_LONGEST]
        return ToolFacts(command[0], problem=f"{ended}: {printed}" if printed else ended)
    return ToolFacts(command[0], said.output)


def _repair(facts: ToolFacts, package: str, system: SystemFacts) -> str:
    return system.reinstall(package) if facts.is_broken else f"make sure that `{facts.path} --version` works"
