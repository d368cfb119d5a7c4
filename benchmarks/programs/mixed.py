"""Run a typical program, with calls of varying sizes: `mixed.py LABEL SECONDS RATE LONGER`.

It takes SECONDS on a processor, and `smooth` does LONGER times its work. Every process draws its own sizes
and data, as it has its own memory layout and hash seed.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from random import Random
from time import thread_time

from profkit import profile

_WORD = re.compile(r"[a-z]+|\d+")
_SMOOTHED, _KEPT = 4800, 4400


class Handler:
    """Reader of documents that computes with their numbers and writes replies."""

    def __init__(self, dice: Random, longer: float) -> None:
        self.dice = dice
        self.smoothed = round(_SMOOTHED * longer)

    def handle(self) -> int:
        """Handle one request; return the reply's size in bytes."""
        return len(self.answer(self.document()))

    def document(self) -> str:
        """Return a document of a size that varies threefold."""
        rows = [
            {"name": f"item {self.dice.randrange(999)}", "values": [self.dice.random() for _ in range(8)]}
            for _ in range(self.dice.randrange(20, 60))
        ]
        return json.dumps(rows)

    def answer(self, text: str) -> bytes:
        """Do all steps of one request."""
        rows = json.loads(text)
        values = [value for row in rows for value in row["values"]]
        words = tokenise(text)
        groups = count_words(words)
        curve = smooth(values, self.smoothed)
        near = [nearest(value, curve) for value in values[:12]]
        return packed(rendered(rows, curve, near), groups)


def tokenise(text: str) -> list[str]:
    """Split a text into words and numbers."""
    return [word.lower() for word in _WORD.findall(text)]


def count_words(words: list[str]) -> dict[str, int]:
    """Count how often each word occurs."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def smooth(values: list[float], steps: int) -> list[float]:
    """Return the end of a running mean, equally long for any number of steps."""
    level, curve = 0.0, []
    for step in range(steps):
        level += (values[step % len(values)] - level) * 0.1
        curve.append(level)
    return curve[-_KEPT:]


def nearest(value: float, curve: list[float]) -> float:
    """Return the curve's value that is closest."""
    return min(curve[::8], key=lambda other: distance(value, other))


def distance(left: float, right: float) -> float:
    """Return the squared distance."""
    return (left - right) * (left - right)


def rendered(rows: list[dict[str, list[float]]], curve: list[float], near: list[float]) -> str:
    """Format the rows as lines of text."""
    lines = [line(row) for row in rows]
    return "\n".join([*lines, f"{sum(curve):.3f}", f"{sum(near):.3f}"])


def line(row: dict[str, list[float]]) -> str:
    """Format one row."""
    return " ".join([f"{value:.4f}" for value in sorted(row["values"])])


def packed(text: str, groups: dict[str, int]) -> bytes:
    """Compress the text with its most frequent words."""
    most = sorted(groups.items(), key=lambda item: (-item[1], item[0]))[:20]
    return zlib.compress(f"{text}{most}".encode(), 6)


if __name__ == "__main__":
    label, seconds, rate_hz, longer = sys.argv[1:]
    handler = Handler(Random(), float(longer))
    handle = profile(label=label, rate=float(rate_hz))(handler.handle)
    end_s = thread_time() + float(seconds)
    while thread_time() < end_s:
        handle()
