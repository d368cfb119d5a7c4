"""Environment variables that make a Python profile its whole program.

`PROFKIT_RUN` has the options, `PROFKIT_TORCH_COMPILE` is set if compilations are profiled, too, and
`PYTHONPATH` begins with a folder whose `sitecustomize` starts profiling. A `.pth` file would do without
`PYTHONPATH`, but every start of every Python of an environment would read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from profkit.calls.options import MEMORY, memory_settings, settings
from profkit.errors import UsageError

if TYPE_CHECKING:
    from profkit.calls.keywords import MemoryOptions, ProfilerOptions

RUN, LAUNCH, PATH = "PROFKIT_RUN", "PROFKIT_LAUNCH", "PYTHONPATH"
COMPILE = "PROFKIT_TORCH_COMPILE"
HOOK = str(Path(__file__).parent / "hook")
"""Folder of the `sitecustomize`."""
MODE = "mode"
"""Member of the options: `MEMORY`, or missing for samples."""
EACH = "each"
"""Member of the options if each Python with this environment is to be profiled, and not only the first."""
ProgramOptions: TypeAlias = Mapping[str, object]
"""Options of a program, as `ProfilerOptions` or `MemoryOptions` has them, and perhaps its mode."""


class Switch(NamedTuple):
    """What the environment asks for."""

    options: ProgramOptions | None
    """Options of the program, None if it is not to be profiled."""
    compilations: bool
    """Whether its compilations are profiled, too."""


_OFF = ("", "0", "false", "no", "off")


def launching(
    environ: Mapping[str, str],
    options: ProgramOptions,
    launch: str,
    *,
    compilations: bool = False,
    each: bool = False,
) -> dict[str, str]:
    """Return an environment in which Python, or `each` Python below it, profiles its program.

    `launch` becomes part of the runs.

    Raises UsageError for invalid options.
    """
    return {**environ, **switch(environ, options, compilations=compilations, each=each), LAUNCH: launch}


def switch(
    environ: Mapping[str, str], options: ProgramOptions, *, compilations: bool = False, each: bool = False
) -> dict[str, str]:
    """Return the variables that make Python profile its program, or `each` Python that it starts does.

    Raises UsageError for invalid options.
    """
    if options.get(MODE) == MEMORY:
        memory_settings(memory_options(options))
    else:
        settings(cast("ProfilerOptions", options))
    path, options = environ.get(PATH), {**options, EACH: True} if each else options
    return {
        RUN: json.dumps(options) if options else "1",
        **({COMPILE: "1"} if compilations else {}),
        PATH: HOOK if path is None else os.pathsep.join((HOOK, path)),
    }


def memory_options(options: ProgramOptions) -> MemoryOptions:
    """Return the options of a program whose memory is tracked, without the mode."""
    return cast("MemoryOptions", {name: value for name, value in options.items() if name != MODE})


def take_switch(environ: MutableMapping[str, str]) -> Switch:
    """Return what is switched on, and remove what `launching` added, unless it is for each Python.

    Raises UsageError for a value that is neither a switch such as 1 nor options.
    """
    try:
        options = _parsed(environ.get(RUN, ""))
    except UsageError:
        remove_switch(environ)
        raise
    compilations = environ.get(COMPILE, "") not in _OFF
    if options is None or EACH not in options:
        remove_switch(environ)
        return Switch(options, compilations)
    return Switch({name: value for name, value in options.items() if name != EACH}, compilations)


def remove_switch(environ: MutableMapping[str, str]) -> None:
    """Remove all that makes Python profile its program."""
    for name in (RUN, LAUNCH, COMPILE):
        environ.pop(name, None)
    folders = environ.pop(PATH, "").split(os.pathsep)
    hook = os.path.realpath(HOOK)
    if others := [folder for folder in folders if not folder or os.path.realpath(folder) != hook]:
        environ[PATH] = os.pathsep.join(others)


def _parsed(text: str) -> ProgramOptions | None:
    text = text.strip()
    if text.lower() in _OFF:
        return None
    if not text.startswith("{"):
        return {}
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise UsageError(f"{RUN} has no valid options: {error}", f"set {RUN}=1") from error


def program_of(argv: Sequence[str], cwd: str) -> tuple[str, str]:
    """Return the script's path and the name of the program, from its command line."""
    words = iter(argv[1:])
    for word in words:
        if word in ("-c", "-"):
            return "", word
        if word.startswith("-m"):
            return "", word[2:] or next(words, word)
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            next(words, None)
        elif not word.startswith("-"):
            return os.path.join(cwd, word), os.path.basename(word)
    return "", os.path.basename(argv[0]) if argv else "?"
