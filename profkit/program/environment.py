"""Environment variables that make a Python profile its whole program.

`PROFKIT_RUN` has the options, `PROFKIT_TORCH_COMPILE` is set if compilations are profiled, too, and
`PYTHONPATH` begins with a folder whose `sitecustomize` starts profiling. A `.pth` file would do without
`PYTHONPATH`, but every start of every Python of an environment would read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TypeAlias, cast

from profkit.calls.options import MEMORY, MemoryOptions, ProfilerOptions, memory_settings, settings
from profkit.errors import UsageError

RUN, LAUNCH, PATH = "PROFKIT_RUN", "PROFKIT_LAUNCH", "PYTHONPATH"
COMPILE = "PROFKIT_TORCH_COMPILE"
HOOK = str(Path(__file__).parent / "hook")
"""Folder of the `sitecustomize`."""
MODE = "mode"
"""Member of the options: `MEMORY`, or missing for samples."""
ProgramOptions: TypeAlias = Mapping[str, object]
"""Options of a program, as `ProfilerOptions` or `MemoryOptions` has them, and perhaps its mode."""
_OFF = ("", "0", "false", "no", "off")


def launching(
    environ: Mapping[str, str], options: ProgramOptions, launch: str, *, compilations: bool = False
) -> dict[str, str]:
    """Return an environment in which Python profiles its program; `launch` becomes part of its runs.

    Raises UsageError for invalid options.
    """
    return {**environ, **switch(environ, options, compilations=compilations), LAUNCH: launch}


def switch(
    environ: Mapping[str, str], options: ProgramOptions, *, compilations: bool = False
) -> dict[str, str]:
    """Return the variables that make Python profile its program; raises UsageError for invalid options."""
    if options.get(MODE) == MEMORY:
        memory_settings(memory_options(options))
    else:
        settings(cast(ProfilerOptions, options))
    path = environ.get(PATH)
    return {
        RUN: json.dumps(options) if options else "1",
        **({COMPILE: "1"} if compilations else {}),
        PATH: HOOK if path is None else os.pathsep.join((HOOK, path)),
    }


def memory_options(options: ProgramOptions) -> MemoryOptions:
    """Return the options of a program whose memory is tracked, without the mode."""
    return cast(MemoryOptions, {name: value for name, value in options.items() if name != MODE})


def take_compilations(environ: MutableMapping[str, str]) -> bool:
    """Return whether compilations are profiled, and remove that from the environment."""
    return environ.pop(COMPILE, "") not in _OFF


def take_options(environ: MutableMapping[str, str]) -> ProgramOptions | None:
    """Return the options, and remove what `launching` added; None if the program is not to be profiled.

    Raises UsageError for a value that is neither a switch such as 1 nor options.
    """
    text = environ.pop(RUN, "").strip()
    environ.pop(LAUNCH, None)
    folders = environ.pop(PATH, "").split(os.pathsep)
    hook = os.path.realpath(HOOK)
    if others := [folder for folder in folders if not folder or os.path.realpath(folder) != hook]:
        environ[PATH] = os.pathsep.join(others)
    if text.lower() in _OFF:
        return None
    if not text.startswith("{"):
        return {}
    try:
        return dict(json.loads(text))
    except ValueError as error:
        raise UsageError(f"{RUN} has no valid options: {error}", f"set {RUN}=1") from error
