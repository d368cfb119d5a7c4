"""Hooks around tests: which are sampled or measured, and records of them for the controller of xdist.

With pytest-xdist, reports carry records of tests from the workers to the controller, as plain values.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast

import pytest

from profkit.config import CONFIG
from profkit.errors import ProfkitError
from profkit.integrations.pytest import MARKER, RECORD
from profkit.integrations.pytest.settings import MarkSettings, run_settings, settings_of
from profkit.process.guard import LOG, explained, reraise_program_error

if TYPE_CHECKING:
    from profkit.integrations.pytest.sampling import Sampling
    from profkit.model.measurement import MeasuredRun
    from profkit.model.profiled_tests import ProfiledTests


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


_Call = Generator[None, object, object]
_ASKED = pytest.StashKey[MarkSettings]()
MEASURED_BY_FIXTURE = pytest.StashKey[bool]()
"""Whether a test has the fixture `measure`."""
_PROBLEMS, _WHOLE = "profkit_problems", "profkit_whole"
"""Names of a worker's problems, and of the id of its whole run, in its output."""


class _Node(Protocol):
    """What the controller of pytest-xdist knows about a worker that has ended."""

    workeroutput: Mapping[str, object]


class _Problems(logging.Handler):
    """Handler that collects profkit's warnings for the summary, each text once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.texts[record.getMessage()] = None


class Profiling:
    """The working part of the plugin: in a worker of pytest-xdist, in their controller, or alone."""

    def __init__(self, config: pytest.Config) -> None:
        self.config, self.settings = config, run_settings(config)
        off = config.option.profkit_off or config.option.collectonly or CONFIG.disabled
        self.active = not off
        """False to profile nothing; `measure` then only calls the function."""
        self._is_worker = hasattr(config, "workerinput")
        self._pid = os.getpid()
        self._sampling: Sampling | None = None
        self._finished: list[Finished] = []
        self._problems = _Problems()
        self._whole_of_worker: str | None = None
        self._summary: ProfiledTests | None = None
        LOG.addHandler(self._problems)

    def pytest_sessionstart(self) -> None:
        """Start to sample this process, unless its workers run the tests."""
        if self.active and self.settings.samples_all and not self.config.pluginmanager.hasplugin("dsession"):
            self._guarded("starting to sample the tests", self._sample().start)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Check the test's marks."""
        try:
            item.stash[_ASKED] = settings_of(item)
            return
        except ProfkitError as error:
            problem = str(error)
        pytest.fail(f"@pytest.mark.{MARKER}: {problem}", pytrace=False)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> _Call:
        """Sample or measure a test's call."""
        asked, by_fixture = self.asked(item), item.stash.get(MEASURED_BY_FIXTURE, False)
        if not self.active or os.getpid() != self._pid or (by_fixture and (asked.measures or not asked.mode)):
            return (yield)
        if asked.measures:
            return (yield from self._measured(item, asked))
        if self.settings.samples_all or asked.marked:
            return (yield from self._sampled(item, asked))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the test's record to its report."""
        report = yield
        attach(item, report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the records of tests."""
        if not self._is_worker and (one := finished(report)) is not None:
            self._finished.append(one)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: _Node) -> None:
        """Collect what a worker of pytest-xdist knows besides its tests."""
        output = getattr(node, "workeroutput", {})  # a worker that crashed has none
        texts = output.get(_PROBLEMS, ())
        self._problems.texts |= dict.fromkeys(texts if isinstance(texts, list) else ())
        self._whole_of_worker = cast("str | None", output.get(_WHOLE)) or self._whole_of_worker

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End sampling, and sum up; a test that is too slow fails the session."""
        if os.getpid() != self._pid or not self.active:
            return
        if self._sampling is not None:
            self._guarded("ending the samples of the tests", self._sampling.finish)
        if self._is_worker:
            output = cast("dict[str, object]", self.config.workeroutput)  # type: ignore[attr-defined]
            output[_PROBLEMS], output[_WHOLE] = list(self._problems.texts), self._whole
        else:
            self._guarded("summing up the tests", self._sum_up)
            compared = self._summary.comparison if self._summary is not None else None
            if compared is not None and compared.failed and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the summary."""
        from profkit.integrations.pytest.summary import write_summary

        if self._summary is not None:
            write_summary(self._summary, self._problems.texts, terminalreporter)
        elif self._problems.texts:
            terminalreporter.section("profkit")
            for text in self._problems.texts:
                terminalreporter.write_line(f"profkit: {text}")

    def pytest_unconfigure(self) -> None:
        """Leave profkit's logger as it was."""
        LOG.removeHandler(self._problems)

    def asked(self, item: pytest.Item) -> MarkSettings:
        """Return what a test's marks ask for, after its set-up began."""
        return item.stash.get(_ASKED, MarkSettings())

    @property
    def _whole(self) -> str | None:
        """Id of the run of this whole process."""
        return self._sampling.run if self._sampling is not None else None

    def _sample(self) -> Sampling:
        if self._sampling is None:
            from profkit.integrations.pytest.sampling import Sampling

            self._sampling = Sampling(self.settings.sampling)
        return self._sampling

    def _sampled(self, item: pytest.Item, asked: MarkSettings) -> _Call:
        with ExitStack() as stack:
            try:
                run = stack.enter_context(self._sample().of_call(item, asked))
            except Exception as error:  # noqa: BLE001 - in the summary; the test runs unprofiled
                self.note(error, "starting to sample a test")
                return (yield)
            try:
                return (yield)
            finally:
                item.stash[RECORDS] = Record(run=run(), limit=asked.limit)

    def _measured(self, item: pytest.Item, asked: MarkSettings) -> _Call:
        from profkit.integrations.pytest.measuring import MeasuringTest

        measuring = MeasuringTest(item, asked)
        try:
            result = yield
        except BaseException:
            measuring.close()
            raise
        self._guarded("measuring a test", lambda: self.keep(item, *measuring.finish()))
        return result

    def keep(self, item: pytest.Item, run: MeasuredRun, why_here: str) -> None:
        """Keep the run of a measured test for its report; `why_here`: why it was timed in this process."""
        remark = f"timed in this process: {why_here}" if why_here else ""
        if why_here and self._sampling is not None:
            remark = f"{remark}; it was sampled meanwhile, which takes time: leave out --profkit"
        item.stash[RECORDS] = Record(True, run.info.id, remark, self.asked(item).limit)

    def _sum_up(self) -> None:
        from profkit.integrations.pytest.summary import sum_up

        if self._finished or self.settings.samples_all or self.settings.base:
            summary = sum_up(self._finished, self._whole or self._whole_of_worker, self.settings)
            self._summary = replace(summary, workers=self._whole_of_worker is not None)

    def _guarded(self, doing: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - in the summary, without an effect on the tests
            self.note(error, doing)

    def note(self, error: Exception, doing: str) -> None:
        """Note a failure of profkit for the summary; raises one that is the program's."""
        reraise_program_error(error)
        LOG.debug("profkit failed", exc_info=error)
        self._problems.texts[str(explained(error, doing))] = None
