"""Checks of profkit and of the Python that runs it: version, GIL, symbols, switches."""

from __future__ import annotations

import os
import platform
import re
import struct
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from profkit.config import Config
from profkit.doctor.system import Manager, SystemFacts
from profkit.model.checkup import Check, Group, Status
from profkit.version import VERSION

_GROUP = Group.PYTHON
FIRST, LAST = (3, 11), (3, 15)
"""First and last version of Python with which profkit is tested."""
_LIBRARY = re.compile(r"(/\S*/libpython3[^/\s]*\.so[^/\s]*)$", re.MULTILINE)
_PACKAGED = ("/usr/bin/", "/usr/lib/", "/usr/lib64/")
"""Folders of programs and libraries that the packages of distributions install."""

_MAGIC = b"\x7fELF\x02\x01"
"""Beginning of ELF files (elf(5)) for 64 bits, little-endian: all machines on which profkit runs."""
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL_TABLE, _NOTE, _BUILD_ID = 2, 7, 3
_LARGEST_NOTE_BYTES = 65536
DEBUG_FOLDER = Path("usr/lib/debug/.build-id")
"""Folder of separate debug files, below the root folder."""


def interpreter_checks(system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks of the interpreter of this process."""
    release = sys.version_info[:2]
    return (
        version_check(sys.implementation.name, platform.python_version(), release),
        threading_check(
            release,
            free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
            has_gil=getattr(sys, "_is_gil_enabled", lambda: True)(),
        ),
        symbols_check(code_file(Path("/proc")), release, system),
    )


def switches_check(config: Config, environ: Mapping[str, str] = os.environ) -> Check:
    """Return the check of profkit itself: its version, and whether variables switch it off."""
    name = f"version {VERSION}"
    if config.disabled:
        found = f"{name}, switched off by PROFKIT_DISABLE={environ.get('PROFKIT_DISABLE', '')}"
        cost, fix = "decorated functions and blocks run unprofiled", "unset PROFKIT_DISABLE"
        return Check(_GROUP, "profkit", Status.SHORTFALL, found, cost, fix)
    if not config.children:
        found = f"{name}, switched off in child processes"
        cost = "forked and spawned processes run unprofiled"
        return Check(_GROUP, "profkit", Status.SHORTFALL, found, cost, "unset PROFKIT_CHILDREN")
    return Check(_GROUP, "profkit", Status.OK, name)


def version_check(implementation: str, version: str, release: tuple[int, int]) -> Check:
    """Return the check of the kind and version of Python."""
    name = {"cpython": "CPython", "pypy": "PyPy"}.get(implementation, implementation)
    found = f"{name} {version}"
    if implementation != "cpython":
        cost, fix = "samplers read the memory of CPython only", "run the program with CPython"
        return Check(_GROUP, "interpreter", Status.SHORTFALL, found, cost, fix)
    if release > LAST:
        cost = f"profkit is tested up to Python {_dotted(LAST)}; blocks may have samples from around them"
        fix = "pip install --upgrade profkit"
        return Check(_GROUP, "interpreter", Status.SHORTFALL, found, cost, fix)
    return Check(_GROUP, "interpreter", Status.OK, found)


def threading_check(release: tuple[int, int], *, free_threaded: bool, has_gil: bool) -> Check:
    """Return the check whether Python was built to run without the GIL, and whether it does."""
    if not free_threaded:
        return Check(_GROUP, "threading", Status.OK, "with the GIL")
    found = f"free-threaded, the GIL is {'on' if has_gil else 'off'}"
    cost = "py-spy does not work, so there are no native stacks; repeats of instruction counts may differ"
    fix = f"run the program with python{_dotted(release)}"
    return Check(_GROUP, "threading", Status.SHORTFALL, found, cost, fix)


def symbols_check(
    code: Path, release: tuple[int, int], system: SystemFacts, root: Path = Path("/")
) -> Check:  # fmt: skip
    """Return the check of the symbols of the interpreter's machine code, in its own file or another one."""
    try:
        file = symbol_file(code, root)
    except (OSError, struct.error):
        return Check(_GROUP, "symbols", Status.NOT_APPLICABLE, f"{code} is not a readable ELF file")
    if file is not None:
        return Check(_GROUP, "symbols", Status.OK, f"in {file}")
    cost = (
        "native stacks and instruction counts name exported functions of the interpreter only; memory "
        "allocators are not recognised, so stripped counts include them"
    )
    fix = _install_symbols(code, _dotted(release), system)
    return Check(_GROUP, "symbols", Status.SHORTFALL, f"none for {code}", cost, fix)


def _install_symbols(code: Path, release: str, system: SystemFacts) -> str:
    is_packaged = str(code).startswith(_PACKAGED)
    if is_packaged and system.manager is Manager.APT:
        return system.install(f"python{release}-dbg")
    if is_packaged and system.manager is Manager.DNF:
        package = f"python{release}-libs" if ".so" in code.name else f"python{release}"
        return system.as_root(f"sudo dnf debuginfo-install {package}")
    return f"pyenv install {release}"


def code_file(proc: Path) -> Path:
    """Return the shared library of the interpreter if it has one, else its program."""
    try:
        library = _LIBRARY.search((proc / "self/maps").read_text("utf-8", "replace"))
        return Path(library[1]) if library else Path(os.readlink(proc / "self/exe"))
    except OSError:  # /proc is not mounted
        return Path(sys.executable)


def symbol_file(path: Path, root: Path = Path("/")) -> Path | None:
    """Return the file that names the functions of a program or library, also those not exported.

    That is its own if it is not stripped, else a separate debug file, which its build id names; None if that
    is not installed. Raises OSError or struct.error if the program is not a readable ELF file of 64 bits.
    """
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise struct.error("another format")
        sections = tuple(_sections(file))
        notes = [_content(file, offset, size) for kind, offset, size in sections if kind == _NOTE]
    if any(kind == _SYMBOL_TABLE for kind, _, _ in sections):
        return path
    name = next(filter(None, map(_build_id, notes)), None)
    if name is None:
        return None
    debug_file = root / DEBUG_FOLDER / name[:2] / f"{name[2:]}.debug"
    return debug_file if os.path.isfile(debug_file) else None  # a method of Path raises PermissionError


def _sections(file: BinaryIO) -> Iterator[tuple[int, int, int]]:
    file.seek(0)
    header = _HEADER.unpack(file.read(_HEADER.size))
    start, size, number = header[6], header[11], header[12]
    for index in range(number):
        file.seek(start + index * size)
        _, kind, _, _, offset, length, *_ = _SECTION.unpack(file.read(_SECTION.size))
        yield kind, offset, length


def _content(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(min(size, _LARGEST_NOTE_BYTES))


def _build_id(note: bytes) -> str | None:
    """Return the id in a note section of GNU's, None for other notes."""
    if len(note) < 16:
        return None
    name_size, size, kind = struct.unpack_from("<III", note)
    if kind != _BUILD_ID or note[12:16] != b"GNU\0" or name_size != 4:
        return None
    return note[16 : 16 + size].hex()


def _dotted(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))
