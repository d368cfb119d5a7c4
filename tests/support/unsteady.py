"""Plugin that runs each failed test again, once and alone, after all others.

pytest-rerunfailures repeats a test at once, in its process and beside others, where it is disturbed again.
A test that passes alone counts as passed and unsteady, and is added to a journal. Run as a program, this
module fails if a test is in the journal too often.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

MOST_FAILED = 10
"""If more tests fail, something is broken, and none is run again."""

MOST_RUNS = 2
"""A test that was unsteady in more runs has to be fixed."""

JOURNAL = Path(".ci-full", "unsteady.jsonl")
"""Unsteady tests of all runs in this checkout."""

_DESCRIBE = ("git", "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+")


def add_option(parser: pytest.Parser) -> None:
    """Add the option that turns reruns off."""
    parser.addoption("--no-rerun", action="store_true", help="Do not run failed tests again alone.")


def register(config: pytest.Config) -> None:
    """Register the plugin, but not in workers of pytest-xdist."""
    if not hasattr(config, "workerinput") and not config.option.no_rerun:
        config.pluginmanager.register(Reruns(config))


class Reruns:
    """Collects failures, runs their tests again and reports both."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._reported: set[str] = set()
        self._failures: dict[str, list[pytest.TestReport]] = {}
        self._unsteady: list[str] = []
        self._failed_again: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect failures, by the condition of pytest's own count."""
        self._reported.add(report.nodeid)
        if report.failed and not hasattr(report, "wasxfail"):
            self._failures.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run failed tests again when all workers have finished; an exception ends the run without that."""
        result = yield
        if self._can_rerun(session):
            self._rerun()
            self._count_as_passed(session)
        return result

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Count unsteady tests in the closing line, without a letter."""
        return ("unsteady", "", "") if report.outcome == "unsteady" else None  # type: ignore[comparison-overlap]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show what failed again, and unsteady tests."""
        for test, output in self._failed_again.items():
            terminalreporter.section(f"again, alone: {test}")
            terminalreporter.write_line(textwrap.indent(output, "    "))
        if not self._unsteady:
            return
        terminalreporter.section("unsteady")
        failures = {test: self._failures[test] for test in self._unsteady}
        for test, reports in failures.items():
            for report in reports:
                _show(terminalreporter, test, report)
        for test, (first, *_) in failures.items():
            terminalreporter.write_line(f"UNSTEADY {test} - {_first_line(first)}")

    def _can_rerun(self, session: pytest.Session) -> bool:
        """Whether all tests ran, few of them failed, and nothing else did, such as a collection."""
        failures = sum(map(len, self._failures.values()))
        return (
            0 < len(self._failures) <= MOST_FAILED
            and failures == session.testsfailed
            and len(self._reported) >= session.testscollected
            and not (session.shouldfail or session.shouldstop)
        )

    @property
    def _terminal(self) -> Any:
        return self._config.pluginmanager.get_plugin("terminalreporter")

    def _rerun(self) -> None:
        self._terminal.write_line("")
        for test in self._failures:
            self._terminal.write_line(f"again, alone: {test}")
            status, output = _run_alone(self._config, test)
            if status == 0:
                self._unsteady.append(test)
            else:
                self._failed_again[test] = output
        record(self._config.rootpath, self._unsteady)

    def _count_as_passed(self, session: pytest.Session) -> None:
        first_failures = [self._failures[test][0] for test in self._unsteady]
        forgiven = {id(report) for test in self._unsteady for report in self._failures[test]}
        session.testsfailed -= len(forgiven)
        stats = self._terminal.stats
        for category, reports in list(stats.items()):
            stats[category] = [report for report in reports if id(report) not in forgiven]
            if not stats[category]:  # pytest's closing line is red if there is a category of failures
                del stats[category]
        passed = {report.nodeid for report in stats.get("passed", ())}  # those whose teardown failed
        new = [report for report in first_failures if report.nodeid not in passed]
        stats.setdefault("passed", []).extend(new)
        for report in first_failures:
            report.outcome = "unsteady"  # type: ignore[assignment]
            self._terminal.pytest_runtest_logreport(report)


def _run_alone(config: pytest.Config, test: str) -> tuple[int, str]:
    """Run a test in a process of its own; return the exit status and the output."""
    # The output is a file, because a process that the test leaves behind could hold a pipe open.
    with tempfile.TemporaryFile() as output:
        run = subprocess.run(
            _command(config, test),
            cwd=config.invocation_params.dir,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        output.seek(0)
        text = output.read().decode(errors="replace")
    return run.returncode, text + (f"killed by signal {-run.returncode}\n" if run.returncode < 0 else "")


def _command(config: pytest.Config, test: str) -> list[str]:
    """Return the command that runs a test alone, with the options that decide how it runs."""
    chosen = config.option
    return [
        *(sys.executable, "-m", "pytest", "-n", "0", "--no-rerun", "-qq", "-rN"),
        *("-m", chosen.markexpr, f"--rootdir={config.rootpath}"),
        *(("-c", str(config.inipath)) if config.inipath else ()),
        *(word for name in chosen.plugins for word in ("-p", name)),
        *(word for setting in chosen.override_ini or () for word in ("-o", setting)),
        *(word for warning in chosen.pythonwarnings or () for word in ("-W", warning)),
        f"{config.rootpath}/{test}",  # joined by hand: Path would change parameters that contain slashes
    ]


def _show(terminal: Any, test: str, report: pytest.TestReport) -> None:
    terminal.write_sep("_", test)
    report.toterminal(terminal.config.get_terminal_writer())
    for title, text in report.sections:
        terminal.write_sep("-", title)
        terminal.write_line(text)


def _first_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else crash.message
    return text.strip().partition("\n")[0]


def record(root: Path, tests: Collection[str]) -> None:
    """Add the unsteady tests of a run to the journal of a checkout."""
    if not tests:
        return
    commit = subprocess.run(_DESCRIBE, cwd=root, capture_output=True, text=True).stdout.strip()
    date = datetime.now(UTC).isoformat(timespec="seconds")
    run = {"date": date, "commit": commit, "python": platform.python_version()}
    journal = root / JOURNAL
    journal.parent.mkdir(exist_ok=True)
    with journal.open("a") as lines:
        lines.writelines(json.dumps({**run, "test": test}) + "\n" for test in tests)


def often_unsteady(journal: Path) -> Mapping[str, int]:
    """Return the tests that were unsteady in more than `MOST_RUNS` runs, with their numbers."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    runs = Counter(json.loads(line)["test"] for line in lines)
    return {test: number for test, number in runs.most_common() if number > MOST_RUNS}


if __name__ == "__main__":
    for test, number in (often := often_unsteady(JOURNAL)).items():
        print(f"unsteady in {number} runs: {test}")
    if often:
        sys.exit(f"fix these tests, then remove their lines from {JOURNAL}")
