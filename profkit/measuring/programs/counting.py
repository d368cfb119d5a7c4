"""Count a program's instructions under Callgrind, from its first to its last, in several executions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from profkit.comparing.instructions import repeats_agree
from profkit.errors import DamagedFile
from profkit.formats.callgrind import parse_callgrind
from profkit.measuring.errors import NotCounted, no_temporary_folder, reporting_full_disk
from profkit.measuring.pool.command import callgrind, dump_prefix
from profkit.measuring.programs.executions import Executions
from profkit.measuring.programs.interpreter import StartedPython
from profkit.measuring.programs.orders import MOST_COUNTED, ProgramOrder
from profkit.measuring.runner.progress import COUNTING, Progress
from profkit.model.measurement import CallgrindDump, InstructionCounts, MeasuredIn, Preload, Tool
from profkit.transforms.counts import add_dumps, strip_allocators, subtract_baseline

_LONG = 5_000_000_000
"""Instructions, one to two minutes under Valgrind, above which a program is counted only once by default."""
_SEED = {"PYTHONHASHSEED": "0"}
_CHILDREN = (
    "--trace-children=yes",
    # A forked child would count again what its parent has counted so far; a dump begins the counts anew.
    *(f"--dump-before={name}" for name in ("fork", "__libc_fork", "_Fork")),
)


@dataclass(frozen=True, slots=True)
class Tooling:
    """What is special about counting in one way."""

    options: Sequence[str] = ()
    """Further options of Callgrind."""
    variables: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    """The program's command, if it differs from that of its order."""


@dataclass(frozen=True, slots=True)
class CountedRun:
    """The dumps of one execution of a program under Callgrind, by pid."""

    main: int
    dumps: Mapping[int, CallgrindDump]
    """Of the program itself, and of its children if they are counted."""


def counted(executions: Executions, python: StartedPython | None, progress: Progress) -> InstructionCounts:
    """Count a program that starts a Python, if known; raises MeasuringError and CommandNotStarted."""
    order = executions.order
    dumps: list[CallgrindDump] = []
    # Callgrind counts the program that it starts, and not the `env` in the first line of a script.
    tool = Tooling() if python is None else Tooling(command=python.command(order.command, ()))
    planned = order.counted
    progress.begin(planned, COUNTING)
    while len(dumps) < planned:
        dumps.append(add_dumps(tuple(count_once(executions, tool).dumps.values())))
        if order.processes is None and order.runs is None:
            before, planned = planned, _planned(dumps)
            progress.begin(planned - before, COUNTING)
        progress.done(order.label, COUNTING)
    place = MeasuredIn(Tool.VALGRIND, Preload.NOTHING, python.version if python else "")
    counts = subtract_baseline(dumps, (), 1, place)
    return replace(counts, processes=len(dumps))


def _planned(dumps: Sequence[CallgrindDump]) -> int:
    """Return how many executions are to be counted in all, given those so far."""
    if dumps[0].instructions > _LONG:
        return 1
    return max(len(dumps), 2) if repeats_agree([strip_allocators(dump) for dump in dumps]) else MOST_COUNTED


def count_once(
    executions: Executions,
    tool: Tooling,
    ended: Callable[[Collection[int]], None] = lambda _pids: None,
) -> CountedRun:
    """Run a program once under Callgrind; call `ended` with the pids of all processes that it ran, always.

    Raises MeasuringError and CommandNotStarted.
    """
    order = executions.order
    with reporting_full_disk(), _folder() as folder:
        children = _CHILDREN if order.subprocesses else ()
        under = [*callgrind(folder, order.simulate, "valgrind.%p"), *children, *tool.options]
        seed = {} if "PYTHONHASHSEED" in order.environ else _SEED
        try:
            run = executions.execute(under, {**seed, **tool.variables}, tool.command)
        finally:
            ended({int(file.suffix[1:]) for file in folder.glob("valgrind.*")})
        return CountedRun(run.pid, _dumps(order, folder, run.pid))


def _dumps(order: ProgramOrder, folder: Path, main: int) -> dict[int, CallgrindDump]:
    """Return the dumps of the processes to count; a process that forked has several parts."""
    prefix = Path(dump_prefix(folder)).name
    parts: dict[int, list[Path]] = {}
    for file in sorted(folder.glob(f"{prefix}.*")):
        parts.setdefault(int(file.name.split(".")[1]), []).append(file)
    if main not in parts:
        raise NotCounted(order.label, "it was killed, or Valgrind failed")
    pids = sorted(parts) if order.subprocesses else [main]
    return {pid: add_dumps([_dump(order.label, file) for file in parts[pid]]) for pid in pids}


def _dump(label: str, file: Path) -> CallgrindDump:
    if not file.stat().st_size:
        raise NotCounted(label, "the command replaced itself by another program")
    try:
        return parse_callgrind(file.read_text("utf-8", "surrogateescape"), file)
    except DamagedFile as damage:
        raise NotCounted(label, damage.detail) from damage


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a new folder for Callgrind's files, and remove it."""
    try:
        made = tempfile.TemporaryDirectory(prefix="profkit-")
    except OSError as error:
        raise no_temporary_folder("Callgrind's files", error) from error
    with made as name:
        yield Path(name)
