"""The files that a page is put together from: its skeleton, style sheets and scripts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STYLES: tuple[str, ...] = (
    "tokens.css",
    "frame.css",
    "graph.css",
    "tables.css",
    "panels.css",
    "plots.css",
    "comparisons.css",
    "print.css",
)
SCRIPTS: tuple[str, ...] = (
    "start.js",
    "markup.js",
    "data.js",
    "tree.js",
    "costs.js",
    "state.js",
    "format.js",
    "fragment.js",
    "theme.js",
    "keys.js",
    "colors.js",
    "batch.js",
    "left_heavy.js",
    "minima.js",
    "chronological.js",
    "labels.js",
    "paint_scale.js",
    "paint.js",
    "ruler.js",
    "motion.js",
    "graph.js",
    "difference.js",
    "moving.js",
    "describing.js",
    "pointer.js",
    "search.js",
    "toolbar.js",
    "legend.js",
    "summary.js",
    "layout.js",
    "tabs.js",
    "numbers.js",
    "cells.js",
    "names.js",
    "plots.js",
    "grid.js",
    "branches.js",
    "copying.js",
    "distribution.js",
    "counts.js",
    # Panels, in the order in which they stand.
    "selectors.js",
    "measured.js",
    "order.js",
    "comparison.js",
    "ratios.js",
    "trend.js",
    "history.js",
    "strip_window.js",
    "strip.js",
    "hot_lines.js",
    "details.js",
    "table.js",
    "sandwich.js",
    "source.js",
    "processes.js",
    "facts.js",
    "last.js",
)
"""Names in the folder `page`, in the order in which the browser runs them."""

_FOLDER = Path(__file__).with_name("page")


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return (_FOLDER / name).read_text("utf-8")
