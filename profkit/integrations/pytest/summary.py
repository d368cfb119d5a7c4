"""The summary of a test run: runs from the store, comparisons, text for the terminal, Markdown for a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from profkit.cli.memory import for_large_profiles
from profkit.cli.output import save
from profkit.cli.sides import Sides, open_sides
from profkit.cli.workspace import Workspace, nothing_recorded
from profkit.config import CONFIG
from profkit.errors import RunNotFound
from profkit.integrations.pytest.baselines import Candidate, compare_tests
from profkit.integrations.pytest.records import Finished
from profkit.integrations.pytest.settings import RunSettings
from profkit.model.measurement import AnyInfo
from profkit.model.profiled_tests import ComparedTests, ProfiledTest, ProfiledTests
from profkit.render.options import DEFAULTS, PIPE, Terminal
from profkit.render.registry import PROFILED_TESTS

_LOST = "its run is not in the store"


def sum_up(tests: Sequence[Finished], whole: str | None, settings: RunSettings) -> ProfiledTests:
    """Return the summary of finished tests, and write its Markdown; `whole` is the id of the whole run's run.

    Raises ProfkitError if the store or the file cannot be used.
    """
    with for_large_profiles():
        summary = _summary(tests, whole, settings)
        if settings.markdown is not None:
            save(settings.markdown, f"{PROFILED_TESTS.renderer('markdown')(summary, DEFAULTS, PIPE)}\n")
    return summary


def write_summary(summary: ProfiledTests, problems: Iterable[str], reporter: pytest.TerminalReporter) -> None:
    """Write the summary to the terminal, with problems that came up since."""
    whole = replace(summary, problems=tuple(dict.fromkeys((*summary.problems, *problems))))
    writer = reporter._tw  # has no public name
    width = writer.fullwidth if reporter.isatty else None
    reporter.section("profkit")
    text = PROFILED_TESTS.renderer("text")(whole, DEFAULTS, Terminal(width, writer.hasmarkup))
    for line in text.splitlines():
        reporter.write_line(line)


def _summary(tests: Sequence[Finished], whole: str | None, settings: RunSettings) -> ProfiledTests:
    sampled = sorted((one for one in tests if not one.record.measured), key=lambda one: -one.duration_s)
    measured = [one for one in tests if one.record.measured]
    shown = [*sampled[: settings.tests], *measured]
    summary = ProfiledTests(
        (), len(sampled), len(measured), functions=settings.functions,
    )  # fmt: skip
    if nothing_recorded(CONFIG):
        missing = tuple(ProfiledTest(one.label, one.duration_s, problem=_LOST) for one in shown)
        return replace(summary, tests=missing, comparison=_nothing_to_compare(tests, settings))
    with open_sides(CONFIG) as found:
        workspace = found.workspace
        return replace(
            summary,
            tests=tuple(_profiled(one, workspace) for one in shown),
            whole=_info(whole, workspace),
            comparison=_compared(tests, found, settings),
        )


def _profiled(one: Finished, workspace: Workspace) -> ProfiledTest:
    info = _info(one.record.run, workspace)
    run = None if info is None else workspace.load(info)
    return ProfiledTest(one.label, one.duration_s, run, one.record.problem or ("" if run else _LOST))


def _info(run: str | None, workspace: Workspace) -> AnyInfo | None:
    """Return what the store has about a run; None if it was lost."""
    try:
        return None if run is None else workspace.find(run)
    except RunNotFound:
        return None


def _nothing_to_compare(tests: Sequence[Finished], settings: RunSettings) -> ComparedTests | None:
    return None if settings.base is None else ComparedTests(settings.base, without=len(tests))


def _compared(tests: Sequence[Finished], found: Sides, settings: RunSettings) -> ComparedTests | None:
    """Compare the tests that passed with their baselines, if that is asked for."""
    if settings.base is None:
        return None
    infos = [(one, _info(one.record.run, found.workspace)) for one in tests if one.passed]
    candidates = [
        Candidate(info, settings.limit if one.record.limit is None else one.record.limit)
        for one, info in infos
        if info is not None
    ]
    own = {one.record.run for one in tests if one.record.run is not None}
    return compare_tests(found, settings.base, candidates, own)
