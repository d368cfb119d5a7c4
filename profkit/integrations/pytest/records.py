"""Records of tests: what the process of a test knows about its runs, on its way to the summary.

With pytest-xdist, reports carry them from the workers to the controller, as plain values.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pytest

from profkit.integrations.pytest import RECORD


@dataclass(frozen=True, slots=True)
class Record:
    """A profiled test: the id of its run, and what is to be said about it."""

    measured: bool = False
    run: str | None = None
    problem: str = ""
    limit: float | None = None
    """Its own limit; None for that of the command line."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A profiled test that has ended."""

    label: str
    duration_s: float
    passed: bool
    record: Record


RECORDS = pytest.StashKey[Record]()


def attach(item: pytest.Item, report: pytest.TestReport) -> None:
    """Attach the record of an item's call to its report, if it has one."""
    record = item.stash.get(RECORDS, None)
    if record is not None and report.when == "call":
        setattr(report, RECORD, asdict(record))


def finished(report: pytest.TestReport) -> Finished | None:
    """Return the profiled test of a report; None for other reports, and for skipped tests."""
    values = getattr(report, RECORD, None)
    if values is None or (report.skipped and not hasattr(report, "wasxfail")):
        return None
    return Finished(report.nodeid, report.duration, report.passed, Record(**values))
