"""Colours: what tones and shares look like. All of them read on dark and on light backgrounds."""

from __future__ import annotations

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
