"""Checks of profkit and of the Python that runs it: version, GIL, symbols, switches."""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.config import Config
from profkit.doctor.elf import Symbols, read_symbols
from profkit.doctor.system import Manager, SystemFacts
from profkit.model.checkup import Check, Group, Status
from profkit.version import VERSION

FIRST, LAST = (3, 11), (3, 15)
"""First and last version of Python with which profkit is tested."""
_LIBRARY = re.compile(r"(/\S*/libpython3[^/\s]*\.so[^/\s]*)$", re.MULTILINE)

_PACKAGED = ("/usr/bin/", "/usr/lib/", "/usr/lib64/")
"""Folders of programs and libraries that the packages of distributions install."""


@dataclass(frozen=True, slots=True)
class InterpreterFacts:
    """Facts about a Python interpreter."""

    version: str
    release: tuple[int, int]
    implementation: str
    free_threaded: bool
    """True if it was built to run without the GIL."""
    has_gil: bool
    code: Path
    """File with the interpreter's machine code: its program or its shared library."""
    symbols: Symbols | None
    """None if the file cannot be read."""
    debug_file: Path | None
    is_packaged: bool
    """True if it is where the packages of distributions install it."""


def interpreter_facts(root: Path = Path("/")) -> InterpreterFacts:
    """Return the facts of the interpreter of this process."""
    code = _code_file(root / "proc")
    symbols = read_symbols(code)
    return InterpreterFacts(
        version=platform.python_version(),
        release=sys.version_info[:2],
        implementation=sys.implementation.name,
        free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        has_gil=getattr(sys, "_is_gil_enabled", lambda: True)(),
        code=code,
        symbols=symbols,
        debug_file=None if symbols is None else symbols.debug_file(root),
        is_packaged=str(code).startswith(_PACKAGED),
    )


def interpreter_checks(facts: InterpreterFacts, system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks of the interpreter."""
    return _version_check(facts), _threading_check(facts), _symbols_check(facts, system)


def switches_check(config: Config, environ: Mapping[str, str] = os.environ) -> Check:
    """Return the check of profkit itself: its version, and whether variables switch it off."""
    name = f"version {VERSION}"
    if config.disabled:
        return Check(
            Group.PYTHON, "profkit", Status.SHORTFALL,
            f"{name}, switched off by PROFKIT_DISABLE={environ.get('PROFKIT_DISABLE', '')}",
            "decorated functions and blocks run unprofiled", "unset PROFKIT_DISABLE",
        )  # fmt: skip
    if not config.children:
        return Check(
            Group.PYTHON, "profkit", Status.SHORTFALL, f"{name}, switched off in child processes",
            "forked and spawned processes run unprofiled", "unset PROFKIT_CHILDREN",
        )  # fmt: skip
    return Check(Group.PYTHON, "profkit", Status.OK, name)


def _version_check(facts: InterpreterFacts) -> Check:
    name = {"cpython": "CPython", "pypy": "PyPy"}.get(facts.implementation, facts.implementation)
    found = f"{name} {facts.version}"
    if facts.implementation != "cpython":
        cost = "samplers read the memory of CPython only"
        return Check(
            Group.PYTHON, "interpreter", Status.SHORTFALL, found, cost, "run the program with CPython"
        )
    if facts.release > LAST:
        cost = f"profkit is tested up to Python {_dotted(LAST)}; blocks may have samples from around them"
        return Check(
            Group.PYTHON, "interpreter", Status.SHORTFALL, found, cost, "pip install --upgrade profkit"
        )
    return Check(Group.PYTHON, "interpreter", Status.OK, found)


def _threading_check(facts: InterpreterFacts) -> Check:
    if not facts.free_threaded:
        return Check(Group.PYTHON, "threading", Status.OK, "with the GIL")
    found = f"free-threaded, the GIL is {'on' if facts.has_gil else 'off'}"
    cost = "py-spy does not work, so there are no native stacks; repeats of instruction counts may differ"
    fix = f"run the program with python{_dotted(facts.release)}"
    return Check(Group.PYTHON, "threading", Status.SHORTFALL, found, cost, fix)


def _symbols_check(facts: InterpreterFacts, system: SystemFacts) -> Check:
    if facts.symbols is None:
        found = f"{facts.code} is not a readable ELF file"
        return Check(Group.PYTHON, "symbols", Status.NOT_APPLICABLE, found)
    if facts.symbols.has_table or facts.debug_file is not None:
        where = f"in {facts.debug_file or facts.code}"
        return Check(Group.PYTHON, "symbols", Status.OK, where)
    cost = (
        "native stacks and instruction counts name exported functions of the interpreter only; memory "
        "allocators are not recognised, so stripped counts include them"
    )
    found = f"none for {facts.code}"
    return Check(Group.PYTHON, "symbols", Status.SHORTFALL, found, cost, _install_symbols(facts, system))


def _install_symbols(facts: InterpreterFacts, system: SystemFacts) -> str:
    """Return how to install the symbols of a package, else a Python that has its symbols."""
    release = _dotted(facts.release)
    if facts.is_packaged and system.manager is Manager.APT:
        return system.install(f"python{release}-dbg")
    if facts.is_packaged and system.manager is Manager.DNF:
        package = f"python{release}-libs" if ".so" in facts.code.name else f"python{release}"
        return system.as_root(f"sudo dnf debuginfo-install {package}")
    return f"pyenv install {release}"


def _code_file(proc: Path) -> Path:
    """Return the shared library of the interpreter if it has one, else its program."""
    try:
        library = _LIBRARY.search((proc / "self/maps").read_text("utf-8", "replace"))
        return Path(library[1]) if library else Path(os.readlink(proc / "self/exe"))
    except OSError:  # /proc is not mounted
        return Path(sys.executable)


def _dotted(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))
