"""Colours: what tones and shares look like. All of them read on dark and on light backgrounds."""

from __future__ import annotations

from typing import NamedTuple

from profkit.render.words import Tone

TONES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.FAINT: "dim",
    Tone.WARN: "color(172)",
    Tone.BAD: "bold color(160)",
}
TITLE = "bold"
FAINT = "dim"

_HEAT = ((0.3, "bold color(197)"), (0.15, "color(202)"), (0.05, "color(172)"), (0.01, ""))


def heat(share: float, cold: str = FAINT) -> str:
    """The style of something that has this share of all samples: hot, warm, plain or, below 1 %, `cold`."""
    return next((style for least, style in _HEAT if share >= least), cold)


_FILLS = ((0.3, 209), (0.1, 215), (0.0, 222))
_LIBRARY_FILL = 152


class Fill(NamedTuple):
    """The styles of an area: of text in it, and of what fills it, which does not show on it."""

    text: str
    area: str


def filled(share: float, *, library: bool) -> Fill:
    """How a call is drawn as an area: the user's own warm by its share, a library's cool."""
    fill = _LIBRARY_FILL if library else next(color for least, color in _FILLS if share >= least)
    return Fill(f"color(16) on color({fill})", f"color({fill}) on color({fill})")
