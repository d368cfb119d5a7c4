"""Failures of profkit's own are logged and go no further; what the program throws passes."""

from __future__ import annotations

import ast
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from profkit.calls import slow_path
from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.errors import InternalError, ProfkitError, SamplerFailed
from profkit.process import guard as shared_guard
from profkit.samplers.options import SamplerOptions
from profkit.samplers.registry import Fallback
from profkit.session import ticker as ticker_module
from profkit.session.manager import SessionManager
from profkit.session.tasks import TaskLooks
from profkit.session.ticker import Ticker
from tests.stand_ins.scripted_sampler import Script, scripted_fallbacks
from tests.support.example_counters import counters_of
from tests.support.folders import ROOT


class OfTheProgram(Exception):
    """An exception that only the program can throw."""


OWN = [
    TypeError("unexpected"),
    MemoryError(),
    ImportError("gone"),
    PermissionError(13, "no"),
    AssertionError(),
]
OF_THE_PROGRAM = [OfTheProgram("time is up"), KeyboardInterrupt(), SystemExit(3), GeneratorExit()]


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_guard, "_LOGGED", set())


Make = Callable[[BaseException], SessionManager]


@pytest.fixture
def host_that_meets(tmp_path: Path) -> Iterator[Make]:
    made: list[SessionManager] = []

    def make(error: BaseException) -> SessionManager:
        def list_fallbacks(_options: SamplerOptions) -> Sequence[Fallback]:
            raise error

        made.append(SessionManager(read_config({}, tmp_path), ManualClock(), list_fallbacks))
        return made[-1]

    yield make
    for manager in made:
        assert not manager.lock_is_mine()
        manager.close()


def test_a_call_within_the_import_system_runs_unprofiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one from a finalizer that a collection runs while a module's lock is acquired."""
    asked: list[object] = []
    monkeypatch.setattr(slow_path, "_manager", lambda: asked.append("a manager"))
    monkeypatch.setattr(slow_path, "_IN_IMPORT_LOCK", {threading.get_ident(): object()})
    assert not slow_path.enter(counters_of(), sys._getframe())
    assert asked == []
    monkeypatch.setattr(slow_path, "_IN_IMPORT_LOCK", {threading.get_ident() + 1: object()})
    assert not slow_path.enter(counters_of(), sys._getframe())
    assert asked == ["a manager"]


@pytest.mark.parametrize("error", OWN, ids=lambda error: type(error).__name__)
def test_an_own_failure_is_logged_once_and_the_call_runs(
    error: Exception,
    host_that_meets: Make,
    caplog: pytest.LogCaptureFixture,
) -> None:
    manager, counters = host_that_meets(error), counters_of()
    assert [manager.enter(counters, 1) for _ in range(3)] == [False, False, False]
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "'f' runs unprofiled" in record.getMessage()


@pytest.mark.parametrize("error", OWN, ids=lambda error: type(error).__name__)
def test_a_strict_policy_raises_it_before_the_call(error: Exception, host_that_meets: Make) -> None:
    with pytest.raises(ProfkitError):
        host_that_meets(error).enter(counters_of(strict=True), 1)


@pytest.mark.parametrize("error", OF_THE_PROGRAM, ids=lambda error: type(error).__name__)
def test_what_the_program_throws_passes_as_it_was(error: BaseException, host_that_meets: Make) -> None:
    with pytest.raises(type(error)) as caught:
        host_that_meets(error).enter(counters_of(), 1)
    assert caught.value is error
    assert caught.value.__context__ is None


def test_what_a_signal_handler_raises_passes_whatever_its_class() -> None:
    def time_is_up(*_: object) -> None:
        raise TimeoutError("time is up")

    before = signal.signal(signal.SIGUSR1, time_is_up)
    try:
        with pytest.raises(TimeoutError, match="time is up") as caught:
            signal.raise_signal(signal.SIGUSR1)
        failed = SamplerFailed("scripted", "start", "it did not start", "try again")
        failed.__cause__ = caught.value
        with pytest.raises(TimeoutError, match="time is up"):
            shared_guard.ignore(failed, "testing")
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_circle_of_causes_ends() -> None:
    first, second = OSError("first"), OSError("second")
    first.__cause__, second.__cause__ = second, first
    shared_guard.reraise_program_error(first)


def test_the_recursion_limit_is_the_programs_business(caplog: pytest.LogCaptureFixture) -> None:
    assert not slow_path.refuse(counters_of(strict=True), RecursionError())
    assert not caplog.records


def test_a_hook_that_fails_says_so_and_returns(caplog: pytest.LogCaptureFixture) -> None:
    def hook() -> None:
        raise ValueError("odd")

    shared_guard.guarded("testing", hook)()
    assert "profkit failed while testing: ValueError: odd" in caplog.text


def test_a_tick_that_fails_ends_the_session(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock, script = ManualClock(), Script()
    manager = SessionManager(read_config({}, tmp_path), clock, scripted_fallbacks(script))
    counters = counters_of()
    assert manager.enter(counters, 1)
    session = manager.session
    assert session is not None
    counters.durations.append("no number")  # type: ignore[arg-type]
    assert not manager.tick()
    assert session.manifest.error is not None
    assert "profkit failed while profiling" in session.manifest.error
    assert not counters.live


def test_a_duty_that_fails_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "the disk failed")

    monkeypatch.setattr(ticker_module, "TICK_S", 0.001)
    monkeypatch.setattr(TaskLooks, "look", fail)
    clock, script = ManualClock(), Script()
    manager = SessionManager(read_config({}, tmp_path), clock, scripted_fallbacks(script))
    monkeypatch.setattr(manager.deliveries, "call_in_background", fail)
    counters = counters_of()
    assert manager.enter(counters, 1)
    ticker = Ticker(manager.tick, lambda: manager.session, manager.deliveries)
    ticker.start()
    for _ in range(3):
        counters.durations.append(1)
        while counters.durations:
            threading.Event().wait(0.001)
    ticker.stop()
    assert "the disk failed" in caplog.text
    manager.close()


def test_all_packages_that_are_imported_are_known() -> None:
    """An exception of one of them, on a path of profkit's own, is not the program's."""
    names: set[str] = set()
    for path in (ROOT / "profkit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module or "")
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
    packages = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    of_the_program = {
        "asgiref", "django", "gevent", "greenlet", "matplotlib", "numpy", "pandas", "pytest", "_pytest",
        "starlette", "werkzeug", "xdist",
    }  # fmt: skip
    of_newer_pythons = {name for name in packages if name.startswith("_")}
    assert packages - of_the_program - of_newer_pythons <= shared_guard._OWN_PACKAGES


def test_internal_errors_say_what_to_do() -> None:
    message = str(InternalError("counting calls", KeyError("x")))
    assert "while counting calls: KeyError: 'x'; please report" in message
