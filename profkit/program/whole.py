"""A whole program as a region: which programs are profiled, and their one call from start to end."""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from profkit.calls.options import MEMORY, Settings, memory_settings, settings_over_defaults
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.originals import REAL
from profkit.program.environment import (
    MODE,
    ProgramOptions,
    memory_options,
    take_switch,
)
from profkit.regular_files import read_regular
from profkit.session.activity import OPEN_BLOCKS
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.calls.keywords import ProfilerOptions
    from profkit.session.manager import SessionManager
    from profkit.session.memory import MemoryRecorder

_CODE, _MODULE, _STDIN = "-c", "-m", "-"
_OWN = "profkit"
_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "")
_HELPERS = ("from multiprocessing.resource_tracker import ", "from multiprocessing.forkserver import ")
"""Code of processes that only serve others."""
_LARGEST_BYTES = 2**24
"""Maximum size of a script that is read for its digest."""


class Program:
    """The one call of the program's region; it is open until the process ends."""

    __slots__ = ("_pid", "_start_ns", "counters", "frame_id")

    def __init__(self, counters: Counters) -> None:
        self.counters = counters
        self.frame_id = 0
        self._pid, self._start_ns = os.getpid(), 0

    def start(self) -> None:
        """Begin the call's time: the program has waited for the sampler until now."""
        self._start_ns = REAL.perf_counter_ns()

    def end(self) -> None:
        """Count the call; do nothing in a forked child, which is not this program."""
        if os.getpid() == self._pid and OPEN_BLOCKS.pop(self, self) is None:
            self.counters.durations.append(REAL.perf_counter_ns() - self._start_ns)


def begin() -> None:
    """Profile this process until it ends, if its environment says so, and remove that from it.

    Raises UsageError for invalid options, and what a start raises with `stop_at_error`.
    """
    options, compilations = take_switch(os.environ)
    if options is None or _is_left_out(_name(sys.argv, sys.orig_argv), sys.orig_argv):
        return
    if compilations:
        _profile_compilations(options)
    chosen = _settings(options)
    enter_program(chosen, _manager(chosen))


def enter_program(chosen: Settings, manager: SessionManager | MemoryRecorder) -> Program | None:
    """Profile this process until it ends; return None if that cannot be."""
    counters = Counters(program_region(chosen, sys.argv, sys.orig_argv), chosen.sampler, chosen.policy)
    program = Program(counters)
    OPEN_BLOCKS[program] = None
    if not manager.enter(counters, own=1):
        OPEN_BLOCKS.pop(program)
        return None
    program.start()
    # The program's own handlers are registered later, and run earlier.
    atexit.register(program.end)
    return program


def _settings(options: ProgramOptions) -> Settings:
    if options.get(MODE) == MEMORY:
        return memory_settings(memory_options(options))
    return settings_over_defaults(_filled(options))


def _filled(options: ProgramOptions) -> ProfilerOptions:
    return cast("ProfilerOptions", {"threads": True, **options})


def _manager(chosen: Settings) -> SessionManager | MemoryRecorder:
    """Return what profiles the program; importing the other one would make its start slower."""
    if chosen.sampler.tracks_memory:
        from profkit.session.memory import RECORDER

        return RECORDER
    from profkit.session.manager import MANAGER

    return MANAGER


def _profile_compilations(options: ProgramOptions) -> None:
    """Profile the program's compilations in the same session; only their own threads belong to them."""
    from profkit.pytorch.compilations import enable_on_import

    of_compilations = _filled(options)
    of_compilations["threads"] = False
    of_compilations.pop("label", None)
    enable_on_import(of_compilations)


def program_region(chosen: Settings, argv: Sequence[str], orig_argv: Sequence[str]) -> Region:
    """Return the region of the program that Python was started with."""
    name = _name(argv, orig_argv)
    script = Path.cwd() / name if _is_script(name) else None
    shown = script.name if script is not None else name.removeprefix(f"{_MODULE} ")
    return chosen.extras.region(
        RegionKey("__main__", name if script is None else script.name, 0, chosen.label or shown),
        RegionKind.PROGRAM,
        "" if script is None else str(script),
        detached=True,
        code="" if script is None else _digest(script),
    )


def _is_script(name: str) -> bool:
    return name not in (_CODE, _STDIN) and not name.startswith(f"{_MODULE} ")


def _is_left_out(name: str, orig_argv: Sequence[str]) -> bool:
    """Return whether a program is not profiled: a missing script, profkit itself, or a helper of Python's."""
    if _is_script(name):
        folder, file = os.path.split(os.path.realpath(name))
        return not os.path.exists(name) or file == _OWN or f"{folder}{os.sep}".startswith(_PACKAGE)
    if name == _CODE:
        return any(word.startswith(_HELPERS) for word in orig_argv)
    return name == f"{_MODULE} {_OWN}"


def _name(argv: Sequence[str], orig_argv: Sequence[str]) -> str:
    """Return the script's path, `-m MODULE`, `-c`, or `-` for a program from stdin."""
    first = argv[0] if argv else ""
    if first != _MODULE:
        return first or _STDIN
    # Python finds the module later; until then `sys.argv` does not name it.
    place = len(orig_argv) - len(argv)
    given = orig_argv[place] if place > 0 else ""
    return f"{_MODULE} {given.partition('m')[2] if given.startswith('-') else given}"


def _digest(script: Path) -> str:
    try:
        return hashlib.blake2b(read_regular(script, _LARGEST_BYTES), digest_size=4).hexdigest()
    except OSError:
        return ""
