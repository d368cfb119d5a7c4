"""Lists of runs as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from profkit.model.run import RunInfo
from profkit.model.session import SessionState
from profkit.render.escape import short
from profkit.render.layout import GAP, Column, compose, left_cut, room_left, table
from profkit.render.page import Page
from profkit.render.palette import FAINT, TITLE, TONES
from profkit.render.places import place
from profkit.render.words import Tone, count, moment
from profkit.units import format_duration

_ROOM = {"wall time": 56, "calls": 64, "samples": 92}
"""The narrowest pages that have these columns."""
_ROOM_FOR_SECONDS = 80
_LONGEST_LABEL, _SHORTEST_LABEL = 40, 5
_LEAST_PLACE = 12
_STATES = {
    SessionState.SUCCESS: Text("kept", style=FAINT),
    SessionState.FAILED: Text("failed", style=TONES[Tone.BAD]),
}


def runs_text(infos: Sequence[RunInfo], page: Page) -> str:
    """A table of runs in their order: id, start, label, calls, wall time, samples, state, place."""
    figures = _figures(infos, page)
    room = room_left(figures, page)
    labels = [short(info.label, _LONGEST_LABEL) for info in infos]
    width = max(map(len, (*labels, "label")))
    if room is not None:
        width = max(_SHORTEST_LABEL, min(width, room - GAP))
        room -= width + GAP
    figures.insert(2, Column("label", [Text(short(label, width)) for label in labels], "left"))
    if room is None or room >= _LEAST_PLACE:
        places = [Text(left_cut(_where(info), room), style=FAINT) for info in infos]
        figures.append(Column("where", places, "left"))
    return compose([table(figures)], page)


def _figures(infos: Sequence[RunInfo], page: Page) -> list[Column]:
    # Without the offset, and on narrow pages without the year and the seconds.
    part = slice(0, 19) if page.width is None or page.width >= _ROOM_FOR_SECONDS else slice(5, 16)
    columns = {
        "run": Column("run", [Text(info.id, style=TITLE) for info in infos], "left"),
        "started": Column("started", [Text(moment(info.started_ns)[part]) for info in infos], "left"),
        "calls": Column("calls", [Text(count(info.calls)) for info in infos]),
        "wall time": Column("wall time", [Text(format_duration(info.wall_s)) for info in infos]),
        "samples": Column("samples", [Text(count(info.samples)) for info in infos]),
        "state": Column("state", [_state(info) for info in infos], "left"),
    }
    fits = (name for name in columns if page.width is None or page.width >= _ROOM.get(name, 0))
    return [columns[name] for name in fits]


def _state(info: RunInfo) -> Text:
    return _STATES.get(info.state, Text("recording", style=TONES[Tone.WARN]))


def _where(info: RunInfo) -> str:
    return short(place(info.region.file, info.region.key.line, info.process.cwd))
