"""Header of measured runs: code, mode, environment and time."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence

from profkit.comparing.measured import machine_names
from profkit.model.measurement import (
    Freshness,
    MeasuredIn,
    MeasuredRun,
    OrderInfo,
    Preload,
    ProgramInfo,
    Tool,
)
from profkit.model.workorder import Language, Level
from profkit.render.document import Fact
from profkit.render.escape import visible
from profkit.render.formatting import Part, Tone, count, moment, place, time_text
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.header import process_parts
from profkit.render.views.measured import UsageRow
from profkit.render.views.measurement_warnings import note_texts
from profkit.units import format_bytes, format_duration

_MAX_LINES = 12
"""Maximum number of lines of a statement or setup; JSON and pages have them all."""
_TIMED, _COUNTED, _BATCH = "timed in", "counted in", "measurement"
_Groups = dict[str, tuple[Fact, ...]]


def measured_facts(runs: Sequence[MeasuredRun], options: ReportOptions = DEFAULTS) -> tuple[Fact, ...]:
    """Return the header lines that are true for all of the runs, escaped."""
    started, most = _started(runs), sys.maxsize if options.whole else _MAX_LINES
    each = [_by_name(run, started, most) for run in runs]
    names = dict.fromkeys(name for groups in each for name in groups)
    if len(runs) > 1:
        # It is in the title.
        names.pop(_BATCH)
    return (*(fact for name in names for fact in _shared(name, each)), *_machines(runs))


def _machines(runs: Sequence[MeasuredRun]) -> Iterator[Fact]:
    """Yield the machines of runs that several have measured, and whether their times can be compared."""
    if len({run.info.process.host for run in runs}) > 1:
        kinds = {run.info.machine for run in runs} - {""}
        warned = Part("different processors: compare no times between them", Tone.WARN)
        yield Fact("machines", (Part(visible(machine_names(runs))), *([warned] if len(kinds) > 1 else [])))


def _by_name(run: MeasuredRun, started: list[Part], most_lines: int) -> _Groups:
    groups: dict[str, list[Fact]] = {}
    for name, parts in _all(run, started, most_lines):
        facts = groups.setdefault(name, [])
        if parts:
            facts.append(Fact(name, tuple(parts)))
    return {name: tuple(facts) for name, facts in groups.items()}


def _shared(name: str, each: Sequence[_Groups]) -> tuple[Fact, ...]:
    found = {groups.get(name, ()) for groups in each}
    if name in (_TIMED, _COUNTED):
        # Failed orders have no environment; ignore them.
        found.discard(())
    return found.pop() if len(found) == 1 else ()


def _all(run: MeasuredRun, started: list[Part], most_lines: int) -> Iterator[tuple[str, list[Part]]]:
    info, order, measured = run.info, run.info.order, run.measurement
    yield from _what(order, info.process.cwd, most_lines)
    yield "labels", [Part(visible(f"{name}={value}")) for name, value in order.labels]
    yield "mode", _mode(order)
    yield "started", started if info.started_ns else []
    timing, counts = (measured.timing, measured.instructions) if measured else (None, None)
    yield "state", _state(order, [one.freshness for one in (timing, counts) if one is not None])
    yield _TIMED, _place(timing.measured_in, order.program) if timing else []
    yield _COUNTED, _place(counts.measured_in, order.program) if counts else []
    entered = order.source_cmd or tuple(filter(None, [order.python]))
    yield "entered by", [Part(visible(shlex.join(entered)))] if entered else []
    yield "env", [Part(visible(f"{name}={value}")) for name, value in order.env]
    yield _BATCH, [Part(visible(info.batch))] if info.batch else []
    yield "process", process_parts(info.process) if info.process.pid else []
    yield "command", [Part(visible(shlex.join(info.process.argv)))] if info.process.argv else []
    for text in note_texts(info.notes):
        yield "note", [Part(visible(text), Tone.WARN)]


def _what(order: OrderInfo, cwd: str, most_lines: int) -> Iterator[tuple[str, list[Part]]]:
    if order.program is not None:
        yield "program", [Part(visible(order.what), Tone.STRONG)]
    elif order.file:
        at = place(order.file, order.line, cwd)
        yield "function", [Part(visible(at), Tone.STRONG), Part(visible(order.what))]
    else:
        yield from _lines("statement", order.what, most_lines, Tone.STRONG)
    yield from _lines("setup", order.setup, most_lines)
    yield from _lines("global setup", order.global_setup, most_lines)


def _lines(name: str, text: str, most: int, tone: Tone = Tone.PLAIN) -> Iterator[tuple[str, list[Part]]]:
    """Yield a header line for each line of the text."""
    lines = text.strip("\n").expandtabs(4).splitlines()
    for line in lines[:most]:
        yield name, [Part(visible(line), tone)]
    if len(lines) > most:
        yield name, [Part(f"… {count(len(lines) - most, 'more line')}", Tone.FAINT)]


def _mode(order: OrderInfo) -> list[Part]:
    if order.program is not None:
        return [Part(order.mode.value, Tone.STRONG), Part("whole program")]
    parts = [Part(order.mode.value, Tone.STRONG), Part(order.language.value)]
    parts.append(Part(count(order.num_threads, "thread")))
    if order.level is Level.MODULE and order.language is Language.PYTHON:
        parts.append(Part("module-level names"))
    return [*parts, Part("quick", Tone.WARN)] if order.quick else parts


def _started(runs: Sequence[MeasuredRun]) -> list[Part]:
    first = min((run.info.started_ns for run in runs), default=0)
    took_s = (max((run.info.last_ns for run in runs), default=first) - first) / 1e9
    if len(runs) == 1:
        took_s = runs[0].info.duration_s
    return [Part(moment(first)), Part(f"took {format_duration(took_s)}")]


def _state(order: OrderInfo, found: Sequence[Freshness]) -> list[Part]:
    """Return the state that each execution gets fresh, and why."""
    fresh = [one for one in found if one.fresh]
    if not fresh:
        return []
    parts = [Part(f"fresh {'arguments' if order.file else 'setup'} for each execution", Tone.STRONG)]
    if changes := dict.fromkeys(name for one in fresh for name in one.changes):
        parts.append(Part(visible(f"the statement changes {', '.join(changes)}")))
    loop_s = max(one.loop_s for one in fresh)
    return [*parts, Part(f"{time_text(loop_s)} to pass them is subtracted")] if loop_s else parts


def _place(where: MeasuredIn, program: ProgramInfo | None) -> list[Part]:
    """Return where it was measured, as far as it is known with versions."""
    versions = [("Python", where.python), *where.packages]
    kind = _kind(where) if program is None else _kind_of_processes(where, program)
    return [kind, *(Part(visible(f"{name} {version}")) for name, version in versions if version)]


def _kind_of_processes(where: MeasuredIn, program: ProgramInfo) -> Part:
    if where.tool is Tool.NONE:
        return Part("new processes, with their children", Tone.STRONG)
    children = "with their children" if program.subprocesses else "without their children"
    return Part(f"new processes under Valgrind, {children}", Tone.STRONG)


def _kind(where: MeasuredIn) -> Part:
    if not where.isolated:
        return Part("the caller's own process, not isolated", Tone.WARN)
    loaded = "nothing preloaded" if where.preload is Preload.NOTHING else f"{where.preload.value} preloaded"
    how = "processes under Valgrind" if where.tool is Tool.VALGRIND else "separate processes"
    return Part(f"{how}, {loaded}", Tone.STRONG)


def usage_facts(row: UsageRow) -> tuple[Fact, ...]:
    """Return the CPU time and the peak memory of a program's executions."""
    cpu = (Part(f"user {time_text(row.user_s)}"), Part(f"system {time_text(row.system_s)}"))
    peak = format_bytes(row.peak_bytes)
    most = format_bytes(row.most_bytes)
    largest = (Part(f"up to {most}"),) if most != peak else ()
    return Fact("CPU time", cpu), Fact("memory", (Part(f"peak {peak}", Tone.STRONG), *largest))
