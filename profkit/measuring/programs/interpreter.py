"""The Python that a command starts, as far as its name or its first line show it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profkit.process.child import capture, plain_python
from profkit.regular_files import read_regular

_VERSION = "import platform; print(platform.python_version())"
_ENV, _SPLIT = "env", "-S"
_SHEBANG = b"#!"
_LONGEST = 256
"""Bytes of a first line that the kernel reads."""


@dataclass(frozen=True, slots=True)
class StartedPython:
    """The Python that a command starts."""

    version: str
    interpreter: tuple[str, ...]
    """The interpreter that a script's first line names, with its options; else the command's first word."""
    script: tuple[str, ...] = ()
    """Path of that script."""

    def command(self, command: Sequence[str], options: Sequence[str]) -> tuple[str, ...]:
        """Return the command with options of the interpreter."""
        return (*self.interpreter, *options, *self.script, *command[1:])


def started_python(command: Sequence[str], environ: Mapping[str, str]) -> StartedPython | None:
    """Return the Python that a command starts; None if it is not known that it starts one."""
    path = environ.get("PATH")
    program = shutil.which(command[0], path=path)
    if program is None:
        return None
    if plain_python(os.path.basename(program)) is not None:
        return _started(program, (command[0],), ())
    interpreter, *words = _first_words(program) or [""]
    if os.path.basename(interpreter) == _ENV:
        words = [word for word in words if word != _SPLIT]
        interpreter, *words = words or [""]
    found = shutil.which(interpreter, path=path)
    if found is None or plain_python(os.path.basename(found)) is None:
        return None
    return _started(found, (found, *words), (program,))


def _started(python: str, interpreter: tuple[str, ...], script: tuple[str, ...]) -> StartedPython | None:
    version = platform.python_version() if python == sys.executable else _version(python)
    return StartedPython(version, interpreter, script) if version else None


def _version(python: str) -> str:
    try:
        done = capture([os.path.abspath(python), "-I", "-S", "-c", _VERSION])
    except OSError:  # TimeoutError is one
        return ""
    return done.output if done.code == 0 and done.output[:1].isdigit() else ""


def _first_words(program: str) -> list[str]:
    """Return the words of a script's first line; none if it is no script."""
    try:
        line = read_regular(program, _LONGEST).partition(b"\n")[0]
    except OSError:
        return []
    return os.fsdecode(line[len(_SHEBANG) :]).split() if line.startswith(_SHEBANG) else []
