"""Strip plot as SVG: each process's minimum time, in columns by repeat, with the median of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from xml.sax.saxutils import escape

WIDTH, ROW, LEFT, TOP = 760, 120, 150, 30
_SHOWN = 0.95
"""Part of all dots that is within the scale."""
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}"
    ".dot{fill:#3b6ea8;fill-opacity:.55}.far{fill:none;stroke:#3b6ea8}"
    ".median{stroke:#c2410c;stroke-width:2}.grid{stroke:#ddd}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.dot{fill:#8ab4e8}}"
)


def picture(found: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Return a plot with a row per name and a column per repeat, in per cent from the overall median.

    Values beyond the scale are drawn hollow, at its edge.
    """
    everything = [value for groups in found.values() for group in groups for value in group]
    middle = median(everything)
    # A process that was disturbed throughout would squeeze all others into a line.
    distances = sorted(abs(value / middle - 1) for value in everything)
    reach = distances[int(len(distances) * _SHOWN)] * 1.1
    height = TOP + ROW * len(found) + 10
    parts = [part for number, row in enumerate(found.items()) for part in _row(number, row, middle, reach)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
        f'aria-label="Times of one statement, in {escape(", in ".join(found))}"><style>{_STYLE}</style>'
        f'<text x="{LEFT}" y="18">each dot a process, each column ten of them, each bar their median</text>'
        f"{''.join(parts)}</svg>\n"
    )


def _row(
    number: int, row: tuple[str, Sequence[Sequence[float]]], middle: float, reach: float
) -> Iterator[str]:
    name, groups = row
    top = TOP + ROW * number

    def y(value: float) -> float:
        share = min(1.0, max(-1.0, (value / middle - 1) / reach))
        return top + ROW / 2 - share * (ROW / 2 - 8)

    yield f'<text x="8" y="{top + ROW / 2 + 4}">{escape(name)}</text>'
    yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 60}" y1="{y(middle):.1f}" y2="{y(middle):.1f}"/>'
    for share in (reach, -reach):
        at = y(middle * (1 + share))
        yield f'<text x="{WIDTH - 54}" y="{at + 4:.1f}">{share * 100:+.1f} %</text>'
    step = (WIDTH - 60 - LEFT) / len(groups)
    for column, group in enumerate(groups):
        x = LEFT + step * (column + 0.5)
        for value in group:
            kind = "dot" if abs(value / middle - 1) <= reach else "far"
            yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y(value):.1f}" r="3"/>'
        at = y(median(group))
        yield f'<line class="median" x1="{x - 9:.1f}" x2="{x + 9:.1f}" y1="{at:.1f}" y2="{at:.1f}"/>'
