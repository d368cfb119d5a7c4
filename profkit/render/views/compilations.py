"""Report of the compilations of a process: frames by phases, and the compiler's hottest passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from profkit.model.compilations import Compilations, CompiledFrame, Pass
from profkit.render.document import (
    Block,
    Column,
    Document,
    Remark,
    Role,
    Section,
    Sentences,
    Table,
    Title,
    cells,
    more_than,
    shares,
)
from profkit.render.formatting import Tone, alike, count, moment, percent, place
from profkit.render.options import DEFAULTS, ReportOptions, Sort
from profkit.units import format_duration

_EXPORT = "–"
"""Frame of an export, which has no number."""
_UNFINISHED = "unfinished"
_ORDERS = {Sort.SELF: "by self time", Sort.TOTAL: "by time including callees", Sort.NAME: "by name"}


def compilations(found: Compilations, options: ReportOptions = DEFAULTS) -> Document:
    """Yield the frames by phases, and the hottest passes."""
    process = found.process
    yield Title("Compilations", f"process {process.pid}", is_name=False)
    yield Sentences([headline(found)])
    versions = f"torch {process.torch}, " if process.torch else ""
    started_ns = min(info.started_ns for info in found.infos)
    yield Remark(f"{versions}Python {process.python}, {moment(started_ns)}")
    limit = options.rows(15, 15)
    yield from _frames(found, limit)
    yield from _passes(found, options, limit)


def _frames(found: Compilations, limit: int) -> Iterator[Block]:
    frames = sorted(found.frames, key=lambda frame: -frame.total_s)
    rows = frames[:limit]
    parts = [row.total_s / found.total_s if found.total_s else 0.0 for row in rows]
    names = dict.fromkeys(phase.name for frame in found.frames for phase in frame.phases)
    places = (place(row.file, row.line, found.process.cwd) for row in rows)
    yield Section("Frames", "wall time of each phase")
    yield Table(
        [
            Column("frame", cells(row.id or _EXPORT for row in rows), Role.WORDS),
            Column("total", shares(alike([row.total_s for row in rows]), parts)),
            *(Column(name, cells(_phase_text(row, name) for row in rows)) for name in names),
            Column("samples", cells((count(row.samples) for row in rows), Tone.FAINT)),
            Column("function", cells(row.function for row in rows), Role.NAME),
            Column("where", cells(places, Tone.FAINT), Role.PLACE),
        ]
    )
    yield from more_than(len(rows), len(frames), "frame")
    if any(phase.is_inside for frame in found.frames for phase in frame.phases):
        yield Remark("Times in parentheses are part of another phase's time.")


def _phase_text(frame: CompiledFrame, name: str) -> str:
    """Return the time of a frame's phases of one name, and that one raised; unfinished ones have no time."""
    phases = [phase for phase in frame.phases if phase.name == name]
    if not phases:
        return ""
    if not sum(phase.info.calls for phase in phases):
        return _UNFINISHED
    time = format_duration(sum(phase.wall_s for phase in phases))
    raised = " raised" if sum(phase.info.raised for phase in phases) else ""
    return f"{f'({time})' if all(phase.is_inside for phase in phases) else time}{raised}"


def _passes(found: Compilations, options: ReportOptions, limit: int) -> Iterator[Block]:
    ranked = sorted_passes(found, options)
    if not ranked:
        return
    rows, weight = ranked[:limit], found.weight
    own = [row.own / weight for row in rows]
    places = (place(row.file, row.line, found.process.cwd) for row in rows)
    yield Section("Hottest passes", f"{_ORDERS[options.sort]}, with what they call outside of the compiler")
    yield Table(
        [
            Column("self", shares((percent(share, weight) for share in own), own)),
            Column("time", cells(alike([row.own * found.sample_s or None for row in rows]))),
            Column("total", cells(percent(row.total / weight, weight) for row in rows)),
            Column("stage", cells(row.stage for row in rows), Role.WORDS),
            Column("function", cells(row.name for row in rows), Role.NAME),
            Column("where", cells(places, Tone.FAINT), Role.PLACE),
        ]
    )
    yield from more_than(len(rows), len(ranked), "function")


def headline(found: Compilations) -> str:
    """Return how many frames were compiled, in which time, and the shares of the compiler's stages."""
    frames, phases = count(len(found.frames), "frame"), count(len(found.infos), "phase")
    said = f"{frames} in {phases} took {format_duration(found.total_s)}"
    shares = [f"{stage.name} {percent(stage.weight / found.weight, found.weight)}" for stage in found.stages]
    return f"{said}: {', '.join(shares)}." if shares else f"{said}; no samples were taken."


def sorted_passes(found: Compilations, options: ReportOptions) -> Sequence[Pass]:
    """Return all passes in the order of the options."""
    if options.sort is Sort.TOTAL:
        return sorted(found.passes, key=lambda row: (-row.total, -row.own, row.name, row.file))
    if options.sort is Sort.NAME:
        return sorted(found.passes, key=lambda row: (row.name, row.file))
    return [row for row in found.passes if row.own]
