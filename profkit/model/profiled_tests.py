"""Profiled tests of one test run: what a summary of them shows."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.comparison import Check
from profkit.model.measurement import AnyInfo, AnyRun


@dataclass(frozen=True, slots=True)
class ProfiledTest:
    """A test with the run of its call, or the reason why it has none."""

    label: str
    """Its id, which is the label of its run."""
    duration_s: float
    run: AnyRun | None = None
    problem: str = ""
    """Reason why it has no run, or remark on how it was measured; empty if there is none."""


@dataclass(frozen=True, slots=True)
class ComparedTests:
    """Comparison of the tests with their baselines."""

    base: str
    """The baselines' name, as given."""
    checks: tuple[Check, ...] = ()
    """Checks of all tests that have a baseline."""
    failed: tuple[str, ...] = ()
    """Labels of the tests that are slower than their limits."""
    inconclusive: tuple[str, ...] = ()
    compared: int = 0
    """Number of tests with a baseline."""
    without: int = 0
    """Number of tests without one."""
    problem: str = ""
    """Reason why no test could be compared, or why some have no baseline."""


@dataclass(frozen=True, slots=True)
class ProfiledTests:
    """Summary of a test run."""

    tests: tuple[ProfiledTest, ...]
    """Tests to show: sampled ones, the slowest first, then measured ones."""
    sampled: int
    """Number of all sampled tests."""
    measured: int = 0
    whole: AnyInfo | None = None
    """What is kept of the whole test run in this process, if it was sampled."""
    workers: bool = False
    """Whether that is one of several workers."""
    functions: int = 3
    """Number of functions to show of each test."""
    comparison: ComparedTests | None = None
    problems: tuple[str, ...] = ()
    """What did not work, other than in a single test."""
