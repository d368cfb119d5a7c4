"""The columns of figures that every table of a text report begins with."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from profkit.render.amounts import weight_text
from profkit.render.bars import bar
from profkit.render.page import Page
from profkit.render.rows import CostRow, Scale
from profkit.render.text.layout import Column
from profkit.render.text.palette import FAINT, heat
from profkit.render.words import alike, percent
from profkit.stats import share_interval
from profkit.units import Unit

_BAR = 6
_WIDE = 110
_ROOM = {"time": 60, "bar": 76, "total time": 96, "samples": _WIDE}
"""The narrowest pages that have these columns."""
_LEAST_SURE = 0.01
"""Below this share the uncertainty is not worth the ink."""


def cost_columns(rows: Sequence[CostRow], scale: Scale, page: Page, spare: int = 0) -> list[Column]:
    """Own and total cost, as many columns as fit where the table's other columns need `spare` cells more."""
    selves = [row.self_share for row in rows]
    most = max(selves, default=0.0) or 1.0
    # One unit for both columns of times, so that all their figures compare.
    times = alike([*(row.self_s for row in rows), *(row.total_s for row in rows)])
    pairs = zip(rows, times, strict=False)
    left_out = _left_out(scale)
    columns = {
        "self": Column("self     ", [own_share(row, scale) for row in rows]),
        "bar": Column("", [Text(bar(share / most, _BAR), style=heat(share)) for share in selves], "left"),
        "time": Column("time", [Text(time if row.self_samples else "") for row, time in pairs]),
        "samples": Column(scale.unit.value, [_weight(row.self_samples, scale) for row in rows]),
        "total": Column("total", [share_text(row.total_share, scale) for row in rows]),
        "total time": Column("time", [Text(time) for time in times[len(rows) :]]),
    }
    width = _WIDE if page.width is None else page.width - spare
    # Weights that are no time have the room of times.
    room = _ROOM if scale.weight_s is not None else {**_ROOM, "samples": _ROOM["time"]}
    return [column for name, column in columns.items() if name not in left_out and width >= room.get(name, 0)]


def _left_out(scale: Scale) -> tuple[str, ...]:
    """Columns that would be empty, or say the same as others."""
    if scale.weight_s is None:
        return ("time", "total time")
    return ("samples",) if scale.unit is Unit.NANOSECONDS else ()


def share_text(share: float, scale: Scale) -> Text:
    """A share in the colour of its heat."""
    return Text(percent(share, scale.total), style=heat(share))


def own_share(row: CostRow, scale: Scale) -> Text:
    """The share of the row itself with its uncertainty in points, where it was sampled: `43 % ±6`."""
    if not row.self_samples:
        return Text()
    text = share_text(row.self_share, scale)
    return text.append(f" {plus_minus(row, scale):<4}", style=FAINT)


def plus_minus(row: CostRow, scale: Scale) -> str:
    """The uncertainty of a row's own share in points, `±6`; nothing where it is not worth the ink."""
    if scale.unit is not Unit.SAMPLES or row.self_share < _LEAST_SURE:
        return ""
    low, high = share_interval(row.self_samples, scale.total)
    return f"±{percent((high - low) / 2, scale.total).removesuffix(' %')}".replace("<", "")


def _weight(weight: int, scale: Scale) -> Text:
    return Text(weight_text(weight, scale.unit) if weight else "")
