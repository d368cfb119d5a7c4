"""The summary of a test run: its runs from the store, and comparisons with baselines by `profkit gate`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profkit.cli.files import runs_of_file
from profkit.cli.memory import for_large_profiles
from profkit.cli.output import save
from profkit.cli.sides import Sides, call_times, open_sides
from profkit.cli.workspace import Workspace, nothing_recorded
from profkit.comparing.gate import check_calls, check_measured
from profkit.comparing.measured import compare_measured
from profkit.config import CONFIG
from profkit.errors import GitFailed, RunNotFound, UsageError
from profkit.model.comparison import Check, GateResult, Outcome
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun
from profkit.model.profiled_tests import ComparedTests, ProfiledTest, ProfiledTests
from profkit.model.run import Run, RunInfo
from profkit.process.git import commit_of
from profkit.render.options import DEFAULTS, PIPE, Terminal
from profkit.render.registry import PROFILED_TESTS

if TYPE_CHECKING:
    from profkit.integrations.pytest.profiling import Finished
    from profkit.integrations.pytest.settings import RunSettings

SHORTEST_S = 0.05
"""Difference of the time of a sampled call below which it is no regression: a single disturbance of the
machine lasts as long."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A test to compare: what is kept of the run of its call, and its limit."""

    info: AnyInfo
    limit: float


class Baselines:
    """Finder of the baselines of tests under one name.

    That is a file, or a side as in `profkit compare`; a commit, whose runs of a test are taken; or the
    beginning of labels: then the last earlier run of each such test is taken.
    """

    def __init__(self, found: Sides, base: str, own: Collection[str]) -> None:
        self._found, self._base, self._own = found, base, own
        self.problem = ""
        """Reason why a test may have no baseline; empty if the name means something."""
        self._runs: tuple[AnyRun, ...] | None = None
        self._commit = ""
        if Path(base).is_file():
            self._runs = runs_of_file(base)
        elif found.has(base):
            self._runs = found.side(base, own).runs
        else:
            try:
                self._commit = commit_of(base, Path.cwd())
            except (UsageError, GitFailed) as error:
                self.problem = f"{base!r} is no run and no file, begins no label, and {error}"

    def of(self, info: AnyInfo) -> tuple[AnyRun, ...]:
        """Return the runs to compare a test with, all of its kind; none if there are none.

        Sampled runs come without their samples: only the times of their calls are compared.
        """
        kind = MeasuredRun if isinstance(info, MeasuredInfo) else Run
        found = self._candidates(info.label)
        return tuple(one for one in found if isinstance(one, kind) and self._may_be(one.info))

    def _may_be(self, info: AnyInfo) -> bool:
        """Return whether a run may be a baseline: it is of an earlier test run, and complete."""
        return info.id not in self._own and (info.error is None or isinstance(info, RunInfo))

    def _candidates(self, label: str) -> Sequence[AnyRun]:
        if self._runs is not None:
            return [run for run in self._runs if run.info.label == label]
        kept = [info for info in self._found.workspace.runs(label, None) if self._may_be(info)]
        if self._commit:
            kept = [info for info in kept if info.process.git_commit == self._commit]
        else:
            kept = kept[:1] if label.startswith(self._base) else []
        return [loaded(info, self._found.workspace) for info in kept]


def loaded(info: AnyInfo, workspace: Workspace) -> AnyRun:
    """Return a measured run with its figures, or a sampled one without its samples."""
    return Run(info) if isinstance(info, RunInfo) else workspace.load(info)


def compare_tests(
    found: Sides, base: str, candidates: Sequence[Candidate], own: Collection[str]
) -> ComparedTests:
    """Compare tests with their baselines; `own` are the ids of all runs of this test run."""
    try:
        baselines = Baselines(found, base, own)
    except (RunNotFound, UsageError) as error:
        return ComparedTests(base, without=len(candidates), problem=str(error))
    results = [(one, checks) for one in candidates if (checks := _checks(one, baselines, found.workspace))]
    outcomes = {one.info.label: GateResult(base, one.limit, checks).outcome for one, checks in results}
    return ComparedTests(
        base,
        checks=tuple(check for _, checks in results for check in checks),
        failed=tuple(label for label, outcome in outcomes.items() if outcome is Outcome.REGRESSION),
        inconclusive=tuple(label for label, outcome in outcomes.items() if outcome is Outcome.INCONCLUSIVE),
        compared=len(results),
        without=len(candidates) - len(results),
        problem="" if results else baselines.problem,
    )


def _checks(one: Candidate, baselines: Baselines, workspace: Workspace) -> tuple[Check, ...]:
    """Return the checks of a test; none if it has no baseline."""
    before, run = baselines.of(one.info), loaded(one.info, workspace)
    if not before:
        return ()
    if isinstance(run, MeasuredRun):
        measured = [earlier for earlier in before if isinstance(earlier, MeasuredRun)]
        comparison = compare_measured(measured, [run], ("base", one.info.label))
        return check_measured(comparison, one.limit)
    return (check_calls(one.info.label, call_times(before), call_times([run]), one.limit, SHORTEST_S),)


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
