"""Text of lists of runs: a table with one row per run."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from profkit.model.measurement import AnyInfo, MeasuredInfo, OrderInfo
from profkit.model.run import RunInfo
from profkit.model.session import SessionState
from profkit.render.cells import left_cut, middle_cut
from profkit.render.escape import short
from profkit.render.formatting import Tone, amount, count, count_text, moment, place, time_text
from profkit.render.options import Terminal
from profkit.render.text.layout import FAINT, GAP, TITLE, TONES, Column, compose, room_left, table
from profkit.render.views.header import mode_word
from profkit.units import Unit, format_duration

_MIN_WIDTHS = {"total": 80, "wall time": 56, "calls": 64, "samples": 92}
"""Minimum terminal widths for these columns."""
_MIN_WIDTHS_WITH_MEASURED = {
    "median": 56, "instructions": 68, "mode": 92, "samples": 104, "total": 104, "wall time": 116,
    "calls": 124,
}  # fmt: skip
"""Minimum widths if there are measured runs, whose figures take precedence."""
_WIDTH_FOR_SECONDS = 80
_LONGEST_LABEL, _SHORTEST_LABEL = 40, 5
_MIN_PLACE = 12
_KEPT = Text("kept", style=FAINT)
_FAILED = Text("failed", style=TONES[Tone.BAD])
_WITH_WARNINGS = Text("warnings", style=TONES[Tone.WARN])
_RECORDING = Text("recording", style=TONES[Tone.WARN])
_ENDED_EARLY = Text("ended early", style=TONES[Tone.WARN])
_STATES = {
    SessionState.SUCCESS: _KEPT,
    SessionState.FAILED: _FAILED,
    SessionState.ENDED_EARLY: _ENDED_EARLY,
}


def runs_text(infos: Sequence[AnyInfo], terminal: Terminal) -> str:
    """Return a table of runs in their order: id, start, label, figures, state, place.

    Sampled runs have calls, wall time and samples. Measured runs have the median and instructions of one
    execution. If there are measured runs, the table has a column for the mode.
    """
    figures = _columns(infos, terminal)
    room = room_left(figures, terminal)
    labels = [short(info.label, _LONGEST_LABEL) for info in infos]
    width = max(map(cell_len, (*labels, "label")))
    if room is not None:
        width = max(_SHORTEST_LABEL, min(width, room - GAP))
        room -= width + GAP
    figures.insert(2, Column("label", [Text(middle_cut(label, width)) for label in labels], "left"))
    if room is None or room >= _MIN_PLACE:
        places = [Text(left_cut(_where(info), room), style=FAINT) for info in infos]
        figures.append(Column("where", places, "left"))
    return compose([table(figures)], terminal)


def _columns(infos: Sequence[AnyInfo], terminal: Terminal) -> list[Column]:
    # Without the UTC offset; on narrow terminals also without the year and the seconds.
    part = slice(0, 19) if terminal.width is None or terminal.width >= _WIDTH_FOR_SECONDS else slice(5, 16)
    sampled = [info if isinstance(info, RunInfo) else None for info in infos]
    measured = [info if isinstance(info, MeasuredInfo) else None for info in infos]
    columns = [
        Column("run", [Text(info.id, style=TITLE) for info in infos], "left"),
        Column("started", [Text(moment(info.started_ns)[part]) for info in infos], "left"),
    ]
    if any(measured) or any(info and info.memory is not None for info in sampled):
        columns.append(Column("mode", [Text(mode_word(info)) for info in infos], "left"))
    if any(sampled):
        columns += _sampled_columns(sampled)
    if any(measured):
        columns += _measured_columns(measured)
    columns += _version_columns(infos)
    columns.append(Column("state", [_state(info) for info in infos], "left"))
    min_widths = _MIN_WIDTHS_WITH_MEASURED if any(measured) else _MIN_WIDTHS
    return [
        column
        for column in columns
        if terminal.width is None or terminal.width >= min_widths.get(column.head, 0)
    ]


def _sampled_columns(infos: Sequence[RunInfo | None]) -> list[Column]:
    recorded = [info if info and info.imported is None else None for info in infos]
    columns = [
        Column("calls", [Text(count(info.calls) if info else "") for info in recorded]),
        Column("wall time", [Text(format_duration(info.wall_s) if info else "") for info in recorded]),
    ]
    head = "samples" if all(info is None or _counts_samples(info) for info in infos) else "total"
    samples = Column(head, [Text(_samples(info) if info else "") for info in infos])
    return [*columns, samples] if any(recorded) else [samples]


def _version_columns(infos: Sequence[AnyInfo]) -> list[Column]:
    """Return a column of code versions if a label has several, else no column."""
    regions: dict[str, set[str]] = {}
    for info in infos:
        if isinstance(info, RunInfo) and info.imported is None:
            regions.setdefault(info.label, set()).add(info.region.version)
    cells = [
        info.region.version if isinstance(info, RunInfo) and len(regions.get(info.label, ())) > 1 else ""
        for info in infos
    ]
    return [Column("version", [Text(cell, style=FAINT) for cell in cells], "left")] if any(cells) else []


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
        Column("median", [Text("" if value is None else time_text(value)) for value in medians]),
        Column("instructions", [Text("" if value is None else count_text(value)) for value in counts]),
    ]
    return [column for column in columns if any(column.cells)]


def _state(info: AnyInfo) -> Text:
    state = _FAILED if info.error is not None else _KEPT
    if isinstance(info, RunInfo):
        state = _STATES.get(info.state, _RECORDING)
    return _WITH_WARNINGS if state is _KEPT and info.warnings else state


def _where(info: AnyInfo) -> str:
    if isinstance(info, RunInfo) and info.imported is not None:
        return short(f"{info.imported.file or 'stdin'} ({info.imported.format})")
    if isinstance(info, RunInfo):
        return short(place(info.region.file, info.region.key.line, info.process.cwd))
    order = info.order
    code = place(order.file, order.line, info.process.cwd) if order.file else order.what
    return short(f"{code}{_variant(order)}")


def _variant(order: OrderInfo) -> str:
    """Return what distinguishes orders of the same code, in brackets."""
    parts = [order.unlabelled_language] if order.unlabelled_language else []
    parts += [f"{order.num_threads} threads"] if order.num_threads > 1 else []
    parts += [f"{name} {value}" for name, value in order.labels]
    return f" ({', '.join(parts)})" if parts else ""
