"""HTML page of a label's history: a plot for each series."""

from __future__ import annotations

from profkit.model.history import History, Point, Series
from profkit.render.escape import short, visible
from profkit.render.formatting import iso_moment
from profkit.render.html.document import Columns, html_page
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.measurement_warnings import warning_text
from profkit.version import VERSION

_LONGEST = 200


def history_html(history: History, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the page of all points, or of the newest ones if the options limit them."""
    records = [_series(series, options.limit) for series in history.series]
    head = {
        "kind": "history",
        "title": f"{visible(history.label)}: history – profkit",
        "profkit": VERSION,
        "functions": {"name": [], "file": [], "line": [], "package": []},
        "packages": [],
        "runs": [],
        "history": {**records[0], "more": records[1:]},
    }
    return html_page(head, Columns())


def _series(series: Series, limit: int | None) -> dict[str, object]:
    points = series.points[-limit:] if limit else series.points
    return {
        "label": short(series.name, _LONGEST),
        "measure": series.quantity.value,
        "points": [_point(point) for point in points],
    }


def _point(point: Point) -> dict[str, object]:
    return {
        "commit": visible(point.commit) if point.commit else f"run {point.runs[0]}",
        "started": iso_moment(point.started_ns),
        "value": point.value,
        "low": point.low,
        "high": point.high,
        "runs": len(point.runs),
        "id": point.runs[-1],
        "warnings": [visible(warning_text(warning)) for warning in point.warnings],
    }
