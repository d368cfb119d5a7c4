"""Styles of text reports: tones, colours by share, and fillings of flame views."""

from __future__ import annotations

from typing import NamedTuple

from profkit.render.formatting import Tone

STYLES = {
    Tone.PLAIN: "",
    Tone.STRONG: "bold",
    Tone.FAINT: "dim",
    Tone.WARN: "color(172)",
    Tone.BAD: "bold color(160)",
    Tone.GOOD: "bold color(34)",
    Tone.ASIDE: "italic",
}
TITLE, FAINT = "bold", "dim"
GAP = 2
"""Spaces between columns."""
GLUE = "\ue000"
"""Placeholder of a non-breaking space; a private-use character, which names contain only escaped."""

_HEAT = ((0.3, "bold color(197)"), (0.15, "color(202)"), (0.05, "color(172)"), (0.01, ""))
_FILLS = ((0.3, 209), (0.1, 215), (0.0, 222))
_LIBRARY_FILL = 152


def heat(share: float, cold: str = FAINT) -> str:
    """Return the style for a share of all samples: hot, warm, plain, or `cold` below 1 %."""
    return next((style for least, style in _HEAT if share >= least), cold)


class Fill(NamedTuple):
    """Styles of an area: its text, and its filling, which is invisible in colour."""

    text: str
    area: str


def filled(share: float, *, library: bool) -> Fill:
    """Return the styles of a call's area: warm by its share for the user's code, cool for a library's."""
    fill = _LIBRARY_FILL if library else next(color for least, color in _FILLS if share >= least)
    return Fill(f"color(16) on color({fill})", f"color({fill}) on color({fill})")
