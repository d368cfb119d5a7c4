"""The lock that forks hold, if signal handlers interrupt the hooks and fork themselves."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from profkit.process.fork_hooks import HOOKS
from profkit.samplers.inprocess.forks import Forks
from profkit.session.manager import MANAGER


class Sampled:
    """Something that samples, and counts what forks do with it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.error: BaseException | None = None

    def before_fork(self) -> None:
        self.calls.append("before")
        if self.error is not None:
            raise self.error

    def after_fork(self) -> None:
        self.calls.append("after")

    def in_child(self) -> None:
        self.calls.append("child")


class InterruptedLock:
    """A lock whose methods are interrupted once, after they have done their work."""

    def __init__(self, *methods: str) -> None:
        self.lock, self.methods = threading.RLock(), [*methods]

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: object) -> object:
            result = getattr(self.lock, name)(*arguments)
            if name in self.methods:
                self.methods.remove(name)
                raise KeyboardInterrupt
            return result

        return call


def is_free(forks: Forks) -> bool:
    """Return whether another thread can take the lock."""
    found: list[bool] = []

    def take() -> None:
        found.append(forks.lock.acquire(False))
        if found[0]:
            forks.lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def test_the_lock_is_held_during_a_fork() -> None:
    forks, one = Forks(), Sampled()
    forks.live.append(one)
    forks.begin()
    assert not is_free(forks)
    forks.end()
    assert is_free(forks)
    assert one.calls == ["before", "after"]


@pytest.mark.parametrize("method", ["acquire", "_is_owned"])
def test_an_interrupted_begin_can_be_repeated(method: str) -> None:
    forks = Forks()
    forks.lock = InterruptedLock(method)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        forks.begin()
    forks.begin()
    assert not is_free(forks)
    forks.end()
    assert is_free(forks)


@pytest.mark.parametrize("method", ["release", "_is_owned"])
def test_an_interrupted_end_can_be_repeated(method: str) -> None:
    forks = Forks()
    forks.begin()
    forks.lock = lock = InterruptedLock(method)  # type: ignore[assignment]
    lock.lock.acquire()
    with pytest.raises(KeyboardInterrupt):
        forks.end()
    forks.end()
    assert is_free(forks)


def test_what_samples_is_suspended_again_after_an_interrupt() -> None:
    forks, one = Forks(), Sampled()
    forks.live.append(one)
    one.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        forks.begin()
    one.error = None
    forks.begin()
    forks.end()
    assert one.calls == ["before", "before", "after"]
    assert is_free(forks)


def test_an_end_without_a_begin_does_nothing() -> None:
    forks, one = Forks(), Sampled()
    forks.live.append(one)
    forks.end()
    assert one.calls == []
    assert is_free(forks)


def test_code_that_a_forking_handler_interrupts_keeps_the_lock() -> None:
    forks = Forks()
    with forks.lock:
        forks.begin()
        forks.end()
        assert not is_free(forks)
    assert is_free(forks)


def test_a_child_has_a_new_lock() -> None:
    forks, one = Forks(), Sampled()
    forks.live.append(one)
    forks.begin()
    forks.in_child()
    assert is_free(forks)
    assert (one.calls, forks.live) == (["before", "child"], [])


def test_the_ticker_ends_before_the_lock_is_taken() -> None:
    owners = [part.after_in_child.__self__ for part in HOOKS._parts]  # type: ignore[attr-defined]
    first = next(number for number, owner in enumerate(owners) if isinstance(owner, Forks))
    assert first < owners.index(MANAGER)
