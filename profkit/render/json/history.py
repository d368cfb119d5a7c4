"""JSON report of a label's history: one object."""

from __future__ import annotations

from profkit.comparing.history import is_beyond_noise
from profkit.model.history import History, Series
from profkit.render.formatting import iso_moment
from profkit.render.json.measured_comparison import spread_object
from profkit.render.json.sampled import dumps, warning_object
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal

HISTORY_SCHEMA = "profkit.history/1"


def history_json(history: History, options: ReportOptions = DEFAULTS, _terminal: Terminal = PIPE) -> str:
    """Return the points of each series, oldest first; only the newest ones if the options limit them."""
    series = [_series(one, options.limit) for one in history.series]
    return dumps(HISTORY_SCHEMA, {"label": history.label, "series": series})


def _series(series: Series, limit: int | None) -> dict[str, object]:
    changes = series.changes
    points = [
        {
            "commit": point.commit or None,
            "started": iso_moment(point.started_ns),
            "value": point.value,
            "interval": None if point.low is None else (point.low, point.high),
            "ratio": changes[place],
            "beyond_noise": place > 0 and is_beyond_noise(series, place),
            "runs": point.runs,
            "warnings": [warning_object(warning) for warning in point.warnings],
        }
        for place, point in enumerate(series.points)
    ]
    return {
        "name": series.name,
        "quantity": series.quantity.value,
        "executions_at_a_time": series.number,
        "spread_of_runs": spread_object(series.spread),
        "points": points[-limit:] if limit else points,
    }
