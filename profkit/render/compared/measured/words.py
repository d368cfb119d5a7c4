"""Differences between measured runs as comparisons write them: signed, in per cent, by function."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from profkit.comparing.times import times_text
from profkit.model.comparison import CountsCompared
from profkit.render.escape import short
from profkit.render.measured.rows import UNKNOWN_FILE
from profkit.render.measured.words import count_text, counts_alike
from profkit.transforms.origin import standard_file


def signed(value: float) -> str:
    """`+1,234`, `−5`, `0`."""
    return signed_alike([value])[0]


def signed_alike(values: Sequence[float]) -> list[str]:
    """Differences with the same decimals, so that a column of them compares."""
    sizes = counts_alike([abs(value) for value in values])
    signs = ("+" if value > 0 else "−" if value < 0 else "" for value in values)
    return [f"{sign}{size}" for sign, size in zip(signs, sizes, strict=True)]


def change(ratio: float) -> str:
    """How much more B has: `+5.3 %`, `−10.0 %`; twice or half and beyond as a factor: `× 2.41`."""
    if not 0.5 < ratio < 2:
        return f"× {times_text(ratio)}"
    part = 100 * (ratio - 1)
    digits = 2 if abs(part) < 0.95 else 1
    sign = "+" if part > 0 else "−" if part < 0 else "±"
    return f"{sign}{abs(part):.{digits}f} %"


def function_text(name: str) -> tuple[str, str]:
    """A function's name, and its file without the folders where it was built, else its shared object."""
    bare, bracket, within = name.rpartition(" [") if name.endswith("]") else (name, "", "")
    file, colon, function = (bare if bracket else name).partition(":")
    if not colon:
        return short(file), ""
    place = standard_file(file) if file != UNKNOWN_FILE else posixpath.basename(within.removesuffix("]"))
    return short(function), short(place)


def delta_cell(counts: CountsCompared) -> str:
    """`+615 → 5,614 (+12.3 %)`: by how much the instructions changed, to how many, and in per cent."""
    if counts.unstable:
        return f"{count_text(counts.a)}, {count_text(counts.b)}: not comparable"
    share = "" if counts.ratio is None else f" ({change(counts.ratio)})"
    return f"{signed(counts.delta)} → {count_text(counts.b)}{share}"
