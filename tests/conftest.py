"""Locks for tests: two run at a time, but those marked `alone` run without any other.

Each test holds a lock that the workers of pytest-xdist share; one marked `alone` holds it exclusively. Each
passes a turnstile before the lock, so that a test that waits to be alone is not overtaken indefinitely.
"""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Restore SIGINT and SIGHUP, which background processes and nohup ignore.

    SIGINT ends a worker. An ignored SIGHUP would be ignored by every program that a test starts.
    """
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if hasattr(config, "workerinput"):
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Wait for the test's turn."""
    worker: dict[str, str] | None = getattr(item.config, "workerinput", None)
    alone = item.get_closest_marker("alone") is not None
    with nullcontext() if worker is None else _turn(worker["testrunuid"], alone):
        return (yield)


@contextmanager
def _turn(run: str, alone: bool) -> Iterator[None]:
    folder = Path(tempfile.gettempdir())
    with (
        _locked(folder / f"profkit-tests-{run}.turnstile", fcntl.LOCK_EX) as turnstile,
        _locked(folder / f"profkit-tests-{run}.lock", fcntl.LOCK_EX if alone else fcntl.LOCK_SH),
    ):
        fcntl.flock(turnstile, fcntl.LOCK_UN)
        yield


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
    finally:
        # Closing is not enough: a process that the test forked may still hold the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the run's locks after its workers have ended."""
    if (controller := session.config.pluginmanager.get_plugin("dsession")) is not None:
        for path in Path(tempfile.gettempdir()).glob(f"profkit-tests-{controller.nodemanager.testrunuid}.*"):
            path.unlink(missing_ok=True)
