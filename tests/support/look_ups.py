"""Look-ups in a store that `benchmarks.filled_stores` has filled, and the indexes that they go by."""

from __future__ import annotations

from collections.abc import Callable

from profkit.store import lookups
from profkit.store.connections import Connection, Row

LookUp = Callable[[Connection, Row], object]
"""Of a connection, and the row of a window."""

LOOK_UPS: dict[str, tuple[str, LookUp]] = {
    "newest run": ("newest", lambda connection, _: lookups.matching(connection, None)),
    "id": ("", lambda connection, row: lookups.matching(connection, row[0])),
    "label": ("label_newest", lambda connection, _: lookups.matching(connection, "step-5")),
    "beginning of an id": ("prefix", lambda connection, row: lookups.matching(connection, row[0][:6])),
    "name that no run has": ("label_newest", lambda connection, _: lookups.matching(connection, "nosuch")),
    "ids": ("prefix", lambda connection, row: lookups.ids_beginning(connection, row[0][:3], 5)),
    "page": ("newest", lambda connection, row: lookups.page(connection, None, row, 9)),
    "page of a label": ("label_newest", lambda connection, row: lookups.page(connection, "step-5", row, 9)),
    "number of a label": ("label_newest", lambda connection, _: lookups.count_of_label(connection, "step-5")),
    "latest labels": ("newest", lambda connection, _: lookups.latest_labels(connection)),
    "all labels": ("label_newest", lambda connection, _: lookups.all_labels(connection)),
    "list": ("other", lambda connection, _: lookups.newest_of_each(connection, None, 9, ())),
    "list of a label": (
        "label_other", lambda connection, _: lookups.newest_of_each(connection, "step-5", 9, ())
    ),
    "newest windows": ("series", lambda connection, row: lookups.rows_of_series(connection, row[4], 9)),
    "sums of windows": ("series", lambda connection, row: lookups.sums_of_series(connection, row[4])),
    "newest job": ("of_jobs", lambda connection, _: lookups.job_names(connection, "", 1)),
    "beginning of a job": ("job_prefix", lambda connection, _: lookups.job_names(connection, "job-40", 1)),
    "runs of a job": ("job", lambda connection, _: lookups.rows_of_job(connection, "job-4", 9)),
    "windows of a job": ("job_series", lambda connection, _: lookups.newest_of_job(connection, "job-4")),
    "old runs": ("newest", lambda connection, row: lookups.expired_ids(connection, row[3], 0, 9)),
    "session": ("session", lambda connection, _: lookups.rows_where(connection, "session = ?", "session-4")),
}  # fmt: skip
"""The end of the name of an index that each uses, and the look-up."""


def newest_window(connection: Connection) -> Row:
    """Return the row of the newest window."""
    (row,) = lookups.rows_where(connection, "series <> ''", limit=1)
    return row
