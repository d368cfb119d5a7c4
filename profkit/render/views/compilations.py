"""Content of the report of compilations that all formats share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from profkit.model.compilations import Compilations, CompiledFrame, Pass
from profkit.render.formatting import count, percent
from profkit.render.options import ReportOptions, Sort
from profkit.units import format_duration

_EXPORT = "–"
"""Frame of an export, which has no number."""
_UNFINISHED = "unfinished"
NESTED = "Times in parentheses are part of another phase's time."


@dataclass(frozen=True, slots=True)
class PhaseCell:
    """Time of one phase of one frame; several phases of one name are added up."""

    wall_s: float
    is_inside: bool
    raised: int
    calls: int


@dataclass(frozen=True, slots=True)
class FrameRow:
    """A compiled frame, with a cell for each phase of the table; None if it has no such phase."""

    frame: CompiledFrame
    number: str
    cells: tuple[PhaseCell | None, ...]


def headline(found: Compilations) -> str:
    """Return how many frames were compiled, in which time, and the shares of the compiler's stages."""
    frames, phases = count(len(found.frames), "frame"), count(len(found.infos), "phase")
    said = f"{frames} in {phases} took {format_duration(found.total_s)}"
    shares = [f"{stage.name} {percent(stage.weight / found.weight, found.weight)}" for stage in found.stages]
    return f"{said}: {', '.join(shares)}." if shares else f"{said}; no samples were taken."


def phase_names(found: Compilations) -> tuple[str, ...]:
    """Return the names of all phases, in the order in which they first ran."""
    return tuple(dict.fromkeys(phase.name for frame in found.frames for phase in frame.phases))


def frame_rows(found: Compilations) -> tuple[FrameRow, ...]:
    """Return a row for each frame, the longest first."""
    names = phase_names(found)
    ranked = sorted(found.frames, key=lambda frame: -frame.total_s)
    return tuple(
        FrameRow(one, one.id or _EXPORT, tuple(_cell(one, name) for name in names)) for one in ranked
    )


def _cell(frame: CompiledFrame, name: str) -> PhaseCell | None:
    phases = [phase for phase in frame.phases if phase.name == name]
    if not phases:
        return None
    return PhaseCell(
        wall_s=sum(phase.wall_s for phase in phases),
        is_inside=all(phase.is_inside for phase in phases),
        raised=sum(phase.info.raised for phase in phases),
        calls=sum(phase.info.calls for phase in phases),
    )


def cell_text(cell: PhaseCell | None) -> str:
    """Return a cell's time, and that it raised; a phase that has not ended has no time."""
    if cell is None:
        return ""
    if not cell.calls:
        return _UNFINISHED
    time = format_duration(cell.wall_s)
    return f"{f'({time})' if cell.is_inside else time}{' raised' if cell.raised else ''}"


def has_nested(found: Compilations) -> bool:
    """Return whether a phase ran in another one that is shown."""
    return any(phase.is_inside for frame in found.frames for phase in frame.phases)


def sorted_passes(found: Compilations, options: ReportOptions) -> Sequence[Pass]:
    """Return all passes in the order of the options."""
    if options.sort is Sort.TOTAL:
        return sorted(found.passes, key=lambda row: (-row.total, -row.own, row.name, row.file))
    if options.sort is Sort.NAME:
        return sorted(found.passes, key=lambda row: (row.name, row.file))
    return [row for row in found.passes if row.own]
