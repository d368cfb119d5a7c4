"""Run a program under profkit beside busy loops, and read its reports."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from benchmarks.answers.cases import Case
from benchmarks.answers.checks import Verdict, check
from benchmarks.answers.reading import Report, summary_of_text, summary_text, thread_states
from benchmarks.answers.truths import ProcessTruth, read_truths
from benchmarks.children import environment

_TIMEOUT_S = 600.0
_FIND = """
import importlib.util, sys

def has(name):
    if name == "cuda":
        return has("torch") and __import__("torch").cuda.is_available()
    return importlib.util.find_spec(name)

print(*sys.version_info[:2], *(name for name in sys.argv[1:] if not has(name)))
"""


class Place:
    """A folder with a copy of a program, in which it runs and profkit keeps its runs."""

    def __init__(self, case: Case, root: Path, python: str) -> None:
        self._case, self._root, self._python = case, root, python
        self.truth = root / "truth"
        self.truth.mkdir()
        self._temporary = root / "tmp"
        self._temporary.mkdir()
        shutil.copy(case.path, root)

    def run_plainly(self) -> None:
        """Run the program without profkit; raise RuntimeError if it fails."""
        launcher = self._case.launcher or (self._python,)
        self._output([*launcher, self._case.path.name, *self._case.arguments])

    def run_profiled(self) -> None:
        """Run the program under `profkit run`; raise RuntimeError if it fails."""
        case = self._case
        self._profkit("run", "-q", *case.options, *case.launcher, case.path.name, *case.arguments)

    def report(self, *options: str) -> Report:
        """Return a report of the newest run as JSON."""
        report: Report = json.loads(self._profkit("report", "--json", *options))
        return report

    def report_text(self) -> str:
        """Return the report of the newest run as text."""
        return self._profkit("report")

    def _profkit(self, *arguments: str) -> str:
        return self._output([self._python, "-m", "profkit", *arguments])

    def _output(self, command: Sequence[str]) -> str:
        with subprocess.Popen(
            command, cwd=self._root, env=self._environ(), start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            try:
                output, errors = process.communicate(timeout=_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise RuntimeError(f"{' '.join(command)} did not end within {_TIMEOUT_S:g} s") from None
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {errors[-400:]}")
        return output

    def _environ(self) -> Mapping[str, str]:
        path = os.pathsep.join((str(Path(self._python).parent), os.environ.get("PATH", "")))
        own = {"TMPDIR": str(self._temporary), "ANSWERS_TRUTH": str(self.truth)}  # torchrun leaves files
        return environment() | {"PATH": path, **own}


@contextmanager
def placed(case: Case, python: str) -> Iterator[Place]:
    """Yield a new folder for a program; remove it at the end."""
    root = Path(tempfile.mkdtemp(prefix="answers-"))
    try:
        yield Place(case, root, python)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def measure_plainly(case: Case, python: str, load: int) -> list[ProcessTruth]:
    """Return what a program measures without profkit, beside `load` busy loops."""
    with placed(case, python) as place, _busy_loops(load, python):
        place.run_plainly()
        return read_truths(place.truth)


def examine(case: Case, python: str, load: int, plain: Sequence[ProcessTruth]) -> Verdict:
    """Run a program under profkit beside `load` busy loops, and check its report."""
    with placed(case, python) as place:
        try:
            with _busy_loops(load, python):
                place.run_profiled()
            report = place.report()
            states = thread_states(report, lambda tid: place.report("--thread", str(tid)))
            top_of_text = summary_of_text(place.report_text())
        except RuntimeError as error:
            return Verdict(problems=(" ".join(str(error).split()),))
        return check(case, summary_text(report), top_of_text, states, read_truths(place.truth), plain)


def missing(case: Case, python: str) -> str:
    """Return what a program needs and this Python does not have; empty if it can run."""
    major, minor, *absent = _facts(python, case.needs)
    if not case.oldest <= (int(major), int(minor)) <= case.newest:
        return f"Python {major}.{minor}"
    return ", ".join(absent)


@cache
def _facts(python: str, modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return a Python's major and minor version, and the modules that it does not have."""
    done = subprocess.run([python, "-c", _FIND, *modules], capture_output=True, text=True, check=True)
    return tuple(done.stdout.split())


@contextmanager
def _busy_loops(number: int, python: str) -> Iterator[None]:
    """Keep `number` processes busy."""
    loops = [subprocess.Popen([python, "-S", "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
