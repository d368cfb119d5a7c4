"""The helper's program: its arguments, its end and its explanations, with a clock of the test's."""

from __future__ import annotations

import itertools
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from profkit.samplers.helper import program
from profkit.samplers.helper.journal import ASKED, DURATION
from profkit.samplers.stack_journal import StackJournal, read_journal
from tests.unit.samplers.helper.remote_processes import FakeReader, interpreter, thread

PID = os.getpid()


class Stage:
    """A program with a clock that only its waits move, and signals that come at a given time."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.output = folder / "stacks"
        self.reader = FakeReader(monkeypatch)
        self.reader.read = lambda: [interpreter(0, thread(PID, ["leaf", "root"]))]
        self.now_s, self.signal_at_s = 100.0, 101.0
        self.blocked: set[int] = set()
        monkeypatch.setattr(program, "time", SimpleNamespace(monotonic=lambda: self.now_s))
        monkeypatch.setattr(
            program, "_signal",
            SimpleNamespace(SIG_BLOCK=0, pthread_sigmask=self._block, sigtimedwait=self._wait),
        )  # fmt: skip

    def run(self, **changes: object) -> int:
        options: dict[str, object] = {"pid": PID, "rate": 100, "duration": 605, "only": "all", "retries": 2}
        options |= {"children": "no", "tasks": "no", **changes}
        words = [f"--{name}={value}" for name, value in options.items()]
        return program.run([*words, str(self.output)])

    def journal(self) -> StackJournal:
        return read_journal(self.output.read_bytes())

    def _block(self, how: int, signals: frozenset[int]) -> None:
        self.blocked |= signals

    def _wait(self, signals: frozenset[int], seconds: float) -> object:
        self.now_s += seconds
        return object() if self.now_s >= self.signal_at_s else None


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def raising(*errors: Exception, then: Any = None) -> Any:
    """A read that fails in these ways and then answers; without an answer, it keeps failing."""
    left = list(errors)

    def read() -> Any:
        if left and then is not None:
            raise left.pop(0)
        if then is None:
            raise left[0]
        return then

    return read


def test_it_samples_until_a_signal_comes(stage: Stage) -> None:
    assert stage.run() == 0
    assert stage.blocked == {signal.SIGINT, signal.SIGTERM}
    journal = stage.journal()
    assert (journal.pid, journal.end, journal.profile.period_ns) == (PID, ASKED, 1e7)
    assert journal.rounds == pytest.approx(100, abs=1)
    assert journal.profile.threads[0].name == "MainThread"


def test_the_duration_ends_it(stage: Stage) -> None:
    assert stage.run(duration=0.25) == 0
    assert stage.journal().end == DURATION
    assert stage.journal().rounds == pytest.approx(26, abs=1)


def test_a_first_stack_is_tried_again_for_a_quarter_of_a_second(stage: Stage) -> None:
    answer = stage.reader.read()
    stage.reader.read = raising(*[PermissionError(1, "not yet"), RuntimeError("moves")] * 10, then=answer)
    assert stage.run() == 0
    stage.output.unlink()
    stage.now_s, stage.signal_at_s = 200.0, 999.0
    stage.reader.read = raising(RuntimeError("moves"))
    assert stage.run() == 1
    assert stage.now_s == pytest.approx(200.25, abs=0.02)
    assert not stage.output.exists()


def test_a_signal_ends_the_tries_for_a_first_stack(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    stage.signal_at_s = 100.1
    stage.reader.read = raising(PermissionError(1, "Operation not permitted"))
    assert stage.run() == 1
    assert capfd.readouterr().out == "profkit-sampler: denied: Operation not permitted\n"
    assert stage.now_s == pytest.approx(100.1, abs=0.01)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(1, "Operation not permitted"), "denied: Operation not permitted"),
        (RuntimeError("moves \udc80"), "unreadable: moves \\udc80"),
        (ProcessLookupError(3, "No such process"), "ended: "),
    ],
)
def test_a_start_that_fails_is_explained(
    error: Exception, said: str, stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    stage.signal_at_s = 999.0
    stage.reader.read = raising(error)
    assert stage.run() == 1
    assert capfd.readouterr().out == f"profkit-sampler: {said}\n"
    assert not stage.output.exists()


def test_an_unexpected_reader_is_explained(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    stage.reader.refusal = TypeError("mode")
    assert stage.run() == 1
    assert capfd.readouterr().out == "profkit-sampler: unexpected: TypeError: mode\n"


@pytest.mark.parametrize(
    ("error", "kind", "end"),
    [
        (PermissionError(1, "no longer"), "denied", "no longer"),
        (RuntimeError("another"), "unreadable", "no stack could be read for 2 s: another"),
    ],
)
def test_a_failure_while_it_samples_keeps_the_samples(
    error: Exception, kind: str, end: str, stage: Stage, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first read finds out whether it works."""
    stage.signal_at_s = 999.0
    answer, reads = stage.reader.read(), itertools.count(1)

    def read() -> Any:
        if next(reads) > 50:
            raise error
        return answer

    stage.reader.read = read
    assert stage.run() == 1
    assert capfd.readouterr().out == f"profkit-sampler: {kind}: {end}\n"
    assert (stage.journal().rounds, stage.journal().end) == (49, end)


def test_an_output_that_cannot_be_written(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    stage.output = stage.output.parent / "missing" / "stacks"
    assert stage.run() == 1
    assert "profkit-sampler: not written: [Errno 2]" in capfd.readouterr().out
