"""Hooks around forks, with signal handlers that raise, fork and interrupt them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from profkit.process.fork_hooks import HOOKS, ForkHooks, Hooks
from tests.integration.harness import environment

ONE, OTHER = signal.SIGUSR1, signal.SIGUSR2

# Since 3.12 a fork of a process with threads warns. pytest records that in Python code. No handler raises an
# exception of the program there: it would be raised a millisecond later, after the forks of these tests.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


class Limit(TimeoutError):
    """An exception of the program."""


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (ONE, OTHER)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps that run around the forks of this test."""
    monkeypatch.setattr(HOOKS, "_parts", [])
    return []


def raising(error: BaseException) -> Callable[..., object]:
    def handle(number: int, frame: object) -> None:
        raise error

    return handle


def interrupt(*numbers: int) -> None:
    """Send signals to this process, all of them at once."""
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        for number in numbers:
            signal.pthread_kill(threading.get_ident(), number)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def fork() -> int:
    """Fork and return the child's exit status."""
    pid = os.fork()
    if not pid:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def add(steps: list[str], name: str, before: Callable[[], object] = lambda: None) -> None:
    def prepare() -> None:
        before()
        steps.append(f"{name} before")

    HOOKS.add(Hooks(prepare, lambda: steps.append(f"{name} after"), lambda: steps.append(f"{name} child")))


def output_of(program: str) -> tuple[str, str]:
    """What a program of its own prints, and its errors."""
    argv = [sys.executable, "-c", program]
    done = subprocess.run(argv, env=environment(), capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, done.stderr


def once(work: Callable[[], object]) -> Callable[[], object]:
    left = [work]
    return lambda: left.pop()() if left else None


def test_the_last_part_is_first_before_and_last_after(steps: list[str]) -> None:
    add(steps, "a")
    add(steps, "b")
    assert fork() == 7
    assert steps == ["b before", "a before", "a after", "b after"]


def test_an_exception_of_a_handler_is_raised_at_the_fork_and_the_hook_has_ended(steps: list[str]) -> None:
    signal.signal(ONE, raising(Limit("over")))
    add(steps, "a")
    add(steps, "b", once(lambda: interrupt(ONE)))
    before = [signal.getsignal(number) for number in signal.valid_signals()]
    with pytest.raises(Limit, match="over") as raised:
        fork()
    assert [signal.getsignal(number) for number in signal.valid_signals()] == before
    assert steps == ["b before", "a before", "a after", "b after"]
    assert raised.traceback[1].name == "fork"
    assert raised.traceback[-1].name == "handle"
    assert fork() == 7


def test_of_two_exceptions_the_one_that_ends_the_program_is_raised(steps: list[str]) -> None:
    signal.signal(ONE, raising(Limit()))
    signal.signal(OTHER, raising(KeyboardInterrupt()))
    add(steps, "a", once(lambda: interrupt(ONE, OTHER)))
    with pytest.raises(KeyboardInterrupt):
        fork()
    assert steps == ["a before", "a after"]


def test_an_exception_after_the_fork_is_raised_too(steps: list[str]) -> None:
    signal.signal(ONE, raising(Limit()))
    HOOKS.add(Hooks(lambda: None, once(lambda: interrupt(ONE)), lambda: None))
    add(steps, "a")
    with pytest.raises(Limit):
        fork()
    assert steps == ["a before", "a after"]


NESTED = """
import os, signal
from profkit.process.fork_hooks import HOOKS, Hooks

steps, left = [], [signal.SIGUSR1]

def fork():
    pid = os.fork()
    if not pid:
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def prepare():
    if left:
        os.kill(os.getpid(), left.pop())
    steps.append("before")

signal.signal(signal.SIGUSR1, lambda *_: steps.append(f"status {fork()}"))
HOOKS.add(Hooks(prepare, lambda: steps.append("after"), lambda: None))
print(fork(), *steps, sep=", ")
"""


def test_a_handler_that_forks_resumes_nothing() -> None:
    """In a process of its own: the lock that `concurrent.futures` takes at a fork is not reentrant."""
    assert output_of(NESTED) == ("7, before, status 7, before, after\n", "")


def test_a_failure_of_profkit_is_logged_and_the_others_go_on(
    steps: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    add(steps, "a")
    add(steps, "b", lambda: [][0])
    assert fork() == 7
    assert steps == ["a before", "a after", "b after"]
    assert "preparing for a fork" in caplog.text


def test_a_step_that_always_raises_does_not_block_the_fork(steps: list[str]) -> None:
    add(steps, "a", lambda: (_ for _ in ()).throw(Limit()))
    with pytest.raises(Limit):
        fork()
    assert steps == ["a after"]


def test_the_exception_of_another_thread_is_its_own() -> None:
    hooks, raised = ForkHooks(), list[BaseException]()
    hooks.add(Hooks(once(lambda: (_ for _ in ()).throw(Limit())), lambda: None, lambda: None))

    def prepare() -> None:
        try:
            hooks.before(None)
        except Limit as error:
            raised.append(error)

    thread = threading.Thread(target=prepare)
    thread.start()
    thread.join()
    assert len(raised) == 1


_LATER_HOOK = """
import os, signal, time
from profkit.process.fork_hooks import HOOKS, Hooks
os.register_at_fork(after_in_parent=lambda: [time.sleep(0) for _ in range(100)])
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGUSR1, stop)
HOOKS.add(Hooks(lambda: os.kill(os.getpid(), signal.SIGUSR1), lambda: None, lambda: None))
try:
    if not os.fork(): os._exit(0)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_hooks_of_other_libraries_do_not_lose_the_exception() -> None:
    assert output_of(_LATER_HOOK) == ("interrupted\n", "")


_DUE = """
import _thread, os, signal
from functools import partial
send = partial(_thread.interrupt_main, signal.SIGUSR1)
if {first}: os.register_at_fork(before=send)
from profkit.process.fork_hooks import HOOKS, Hooks
if not {first}: os.register_at_fork(before=send)
steps = []
HOOKS.add(Hooks(lambda: steps.append("before"), lambda: steps.append("after"), int))
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGUSR1, stop)
if not os.fork(): os._exit(0)
print(*steps)
"""


@pytest.mark.parametrize("first", [False, True])
def test_a_handler_that_is_due_when_a_hook_begins_does_not_stop_it(first: bool) -> None:
    """CPython prints the exception, as it does for hooks of its own modules."""
    output, errors = output_of(_DUE.format(first=first))
    assert output == "before after\n"
    assert errors.endswith(("KeyboardInterrupt\n", "KeyboardInterrupt: \n"))
