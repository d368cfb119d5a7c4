"""Entry point of the pytest plugin: its options, its marker and the fixture `measure`.

pytest imports this module in each of its runs, so it imports no other module of profkit. Those come with the
first option, marked test or use of the fixture; until then, two short hooks look for these.

PYTEST_DONT_REWRITE: there is no assertion here that pytest needs to rewrite.
"""

from __future__ import annotations

from argparse import SUPPRESS
from typing import TYPE_CHECKING

import pytest

from profkit.integrations.pytest import MARKER, RECORD

if TYPE_CHECKING:
    from profkit.integrations.pytest.fixture import Measure
    from profkit.integrations.pytest.profiling import Profiling

NAME = "profkit-profiling"
"""Name under which the part of the plugin that does the work is registered."""
_MARKER_HELP = (
    'profkit(mode="sample", limit=None, **options): sample this test, or measure it or what its fixture '
    '`measure` is given: mode="timer", "callgrind" or "timer+callgrind". limit="5%" is its largest slowdown '
    "with --profkit-baseline. The other options are those of @profkit.profile or profkit.measure."
)


_OLD_NAMES = {
    "--profkit-compare": "profkit_baseline",
    "--profkit-limit": "profkit_max_slowdown",
    "--profkit-markdown": "profkit_output",
}
"""Earlier names of options, which still work."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("profkit", "profiling with profkit")
    group.addoption(
        "--profkit", action="store_true", help="Sample each test, and show the slowest ones in the summary."
    )
    group.addoption(
        "--no-profkit",
        action="store_true",
        dest="profkit_off",
        help="Profile nothing: ignore marked tests, and let the fixture `measure` only call the function.",
    )
    group.addoption(
        "--profkit-tests", type=int, default=10, metavar="N", help="Tests to show in the summary (10)."
    )
    group.addoption(
        "--profkit-functions", type=int, default=3, metavar="N", help="Functions to show of each test (3)."
    )
    group.addoption(
        "--profkit-rate", type=float, metavar="HZ", help="Samples per second (100, or 1,000 by CPython)."
    )
    group.addoption("--profkit-sampler", metavar="NAME", help="How to take samples (auto).")
    group.addoption(
        "--profkit-native", action="store_true", help="Show C, C++ and Rust functions in samples, too."
    )
    group.addoption(
        "--profkit-baseline",
        metavar="BASE",
        help="Compare each profiled test with BASE, and fail if one is slower than its limit: a commit, a "
        "run, a file, or the beginning of labels, whose last runs are taken then.",
    )
    group.addoption(
        "--profkit-max-slowdown",
        default="3%",
        metavar="PERCENT",
        help="Largest slowdown of a test that passes.",
    )
    group.addoption("--profkit-output", metavar="FILE", help="Write the summary to FILE as Markdown.")
    for old, name in _OLD_NAMES.items():
        group.addoption(old, dest=name, default=SUPPRESS, help=SUPPRESS)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and what the options need."""
    config.addinivalue_line("markers", _MARKER_HELP)
    chosen = config.option
    if chosen.profkit_off:
        return
    if chosen.profkit or chosen.profkit_baseline or chosen.profkit_output:
        profiling_of(config)
    else:
        config.pluginmanager.register(_Waiting(config), "profkit-waiting")


def profiling_of(config: pytest.Config) -> Profiling:
    """Return the part of the plugin that does the work; start it if necessary.

    Raises pytest.UsageError for invalid options.
    """
    known: Profiling | None = config.pluginmanager.get_plugin(NAME)
    if known is None:
        from profkit.integrations.pytest.profiling import Profiling

        config.pluginmanager.unregister(name="profkit-waiting")
        known = Profiling(config)
        config.pluginmanager.register(known, NAME)
    return known


class _Waiting:
    """Hooks that look for marked tests here, and for records of tests in workers of pytest-xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start if a test is marked."""
        if any(mark.name == MARKER for item in session.items for mark in item.iter_markers()):
            profiling_of(self._config)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Start if a worker has profiled a test."""
        if hasattr(report, RECORD):
            profiling_of(self._config).pytest_runtest_logreport(report)


@pytest.fixture
def measure(request: pytest.FixtureRequest) -> Measure:
    """Measure a call: `measure(function, *args, **kwargs)` returns what the function returns.

    `measure.pedantic(function, args, kwargs, setup=…, rounds=…, iterations=…, warmup_rounds=…)` times it in
    this process exactly so often. `measure.run` then has the figures.
    """
    from profkit.integrations.pytest.fixture import Measure

    return Measure(request.node, profiling_of(request.config))
