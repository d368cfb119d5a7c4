"""Lists of runs: a table with one row per run, and its columns by the width of the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from profkit.model.measurement import AnyInfo, MeasuredInfo, OrderInfo
from profkit.model.run import RunInfo, WindowsInfo
from profkit.model.session import SessionState
from profkit.render.document import Cell, Column, Document, Role, Table, cells
from profkit.render.escape import short
from profkit.render.formatting import Tone, amount, count, count_text, moment, place, time_text
from profkit.render.options import DEFAULTS, ReportOptions
from profkit.render.views.header import mode_word
from profkit.units import Unit, format_duration, short_id

_WIDTHS = {"total": 80, "wall time": 56, "calls": 64, "samples": 92}
"""Minimum terminal widths for these columns."""
_WIDTHS_WITH_MEASURED = {
    "median": 56, "instructions": 68, "mode": 92, "samples": 104, "total": 104, "wall time": 116,
    "calls": 124,
}  # fmt: skip
"""Minimum widths if there are measured runs, whose figures take precedence."""
_FOR_SECONDS = 80
_LONGEST_LABEL = 40
_KEPT, _FAILED = Cell("kept", Tone.FAINT), Cell("failed", Tone.BAD)
_WITH_WARNINGS, _RECORDING = Cell("warnings", Tone.WARN), Cell("recording", Tone.WARN)
_STATES = {
    SessionState.SUCCESS: _KEPT,
    SessionState.FAILED: _FAILED,
    SessionState.ENDED_EARLY: Cell("ended early", Tone.WARN),
}


def listed_runs(infos: Sequence[AnyInfo], _options: ReportOptions = DEFAULTS) -> Document:
    """Yield a table of runs in their order: id, start, label, figures, state, place.

    Sampled runs have calls, wall time and samples. Measured runs have the median and instructions of one
    execution. If there are measured runs, the table has a column for the mode.
    """
    sampled = [info if isinstance(info, RunInfo) else None for info in infos]
    measured = [info if isinstance(info, MeasuredInfo) else None for info in infos]
    have_modes = any(measured) or any(info and info.memory is not None for info in sampled)
    figures = [Column("mode", cells(map(mode_word, infos)), Role.WORDS)] if have_modes else []
    figures += _sampled_columns(sampled) if any(sampled) else []
    figures += _measured_columns(measured) if any(measured) else []
    widths: Mapping[str, int] = _WIDTHS_WITH_MEASURED if any(measured) else _WIDTHS
    yield Table(
        [
            Column("run", cells((short_id(info.id) for info in infos), Tone.STRONG), Role.WORDS),
            # Without the UTC offset; on narrow terminals also without the year and the seconds.
            Column("started", _starts(infos, slice(5, 16)), Role.WORDS, below=_FOR_SECONDS, brief=False),
            Column("started", _starts(infos, slice(0, 19)), Role.WORDS, width=_FOR_SECONDS),
            Column("label", cells(short(info.label, _LONGEST_LABEL) for info in infos), Role.NAME),
            *_windows_columns(infos),
            *(replace(column, width=widths.get(column.head, 0)) for column in figures),
            *_version_columns(infos),
            Column("state", [_state(info) for info in infos], Role.WORDS),
            Column("where", cells(map(_where, infos), Tone.FAINT), Role.PLACE),
        ]
    )


def _starts(infos: Sequence[AnyInfo], part: slice) -> list[Cell]:
    return cells(moment(info.started_ns)[part] for info in infos)


def _sampled_columns(infos: Sequence[RunInfo | None]) -> list[Column]:
    recorded = [info if info and info.imported is None else None for info in infos]
    columns = [
        Column("calls", cells(count(info.calls) if info else "" for info in recorded)),
        Column("wall time", cells(format_duration(info.wall_s) if info else "" for info in recorded)),
    ]
    head = "samples" if all(info is None or _counts_samples(info) for info in infos) else "total"
    samples = Column(head, cells(_samples(info) if info else "" for info in infos))
    return [*columns, samples] if any(recorded) else [samples]


def _windows_columns(infos: Sequence[AnyInfo]) -> list[Column]:
    """Return a column that says how many windows each row has; none if no row has several."""
    numbers = [count(info.windows) if isinstance(info, WindowsInfo) else "" for info in infos]
    return [Column("windows", cells(numbers))] if any(numbers) else []


def _version_columns(infos: Sequence[AnyInfo]) -> list[Column]:
    """Return a column of code versions if a label has several, else no column."""
    regions: dict[str, set[str]] = {}
    for info in infos:
        if isinstance(info, RunInfo) and info.imported is None:
            regions.setdefault(info.label, set()).add(info.region.version)
    versions = [
        info.region.version if isinstance(info, RunInfo) and len(regions.get(info.label, ())) > 1 else ""
        for info in infos
    ]
    return [Column("version", cells(versions, Tone.FAINT), Role.WORDS)] if any(versions) else []


def _counts_samples(info: RunInfo) -> bool:
    return info.memory is None and (info.imported is None or info.imported.unit is Unit.SAMPLES)


def _samples(info: RunInfo) -> str:
    """Return the number of samples, the peak of memory, or the total of an imported run in its unit."""
    if info.memory is not None:
        return amount(info.memory.peak_bytes, Unit.BYTES)
    if info.imported is None or _counts_samples(info):
        return count(info.samples)
    return amount(info.imported.total, info.imported.unit)


def _measured_columns(infos: Sequence[MeasuredInfo | None]) -> list[Column]:
    """Return the columns of medians and instruction counts of one execution; omit empty ones."""
    medians = [info.median_s if info else None for info in infos]
    counts = [info.instructions if info else None for info in infos]
    columns = [
        Column("median", cells("" if value is None else time_text(value) for value in medians)),
        Column("instructions", cells("" if value is None else count_text(value) for value in counts)),
    ]
    return [column for column, values in zip(columns, (medians, counts), strict=True) if any(values)]


def _state(info: AnyInfo) -> Cell:
    state = _FAILED if info.error is not None else _KEPT
    if isinstance(info, RunInfo):
        state = _STATES.get(info.state, _RECORDING)
    return _WITH_WARNINGS if state is _KEPT and info.warnings else state


def _where(info: AnyInfo) -> str:
    if isinstance(info, RunInfo) and info.imported is not None:
        return f"{info.imported.file or 'stdin'} ({info.imported.format})"
    if isinstance(info, RunInfo):
        return place(info.region.file, info.region.key.line, info.process.cwd)
    order = info.order
    code = place(order.file, order.line, info.process.cwd) if order.file else order.what
    return f"{code}{_variant(order)}"


def _variant(order: OrderInfo) -> str:
    """Return what distinguishes orders of the same code, in brackets."""
    parts = [order.unlabelled_language] if order.unlabelled_language else []
    parts += [f"{order.num_threads} threads"] if order.num_threads > 1 else []
    parts += [f"{name} {value}" for name, value in order.labels]
    return f" ({', '.join(parts)})" if parts else ""
