"""Markers by what tests use, and locks: some tests run at a time, but one marked `alone` without any other.

Each test holds a lock that the workers of pytest-xdist share; one marked `alone` holds it exclusively. Each
passes a turnstile before the lock, so that a test that waits to be alone is not overtaken indefinitely.
"""

from __future__ import annotations

import compileall
import fcntl
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import programs, unsteady
from tests.support.selection import SelectionReport

# No deadlines: other tests and other programs share the processors.
settings.register_profile("short", deadline=None, max_examples=40)
settings.register_profile("full", deadline=None)

pytest_addoption = unsteady.add_option
_NEW_S = 60.0
"""Age of a folder that must be locked by now."""


def pytest_configure(config: pytest.Config) -> None:
    """Restore SIGINT and SIGHUP, which background processes and nohup ignore; register what reports.

    SIGINT ends a worker. Programs that tests start would ignore both signals, too.
    Properties are tested with more examples if `-m` names the full tests.
    """
    settings.load_profile("full" if programs.names(config.option.markexpr, "full") else "short")
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if hasattr(config, "workerinput") or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.pluginmanager.register(SelectionReport())
    unsteady.register(config)
    if not hasattr(config, "workerinput"):
        # Where PYTHONDONTWRITEBYTECODE is set, each of the thousands of programs would compile it anew.
        compileall.compile_dir(config.rootpath / "profkit", quiet=2)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the bytecode of test modules, even if PYTHONDONTWRITEBYTECODE is set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", False)
        return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by the programs and libraries that they use; leave out those that nobody asked for."""
    for item in items:
        programs.mark(item)
    left_out = [item for item in items if programs.is_left_out(item, config.option.markexpr)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not programs.is_left_out(item, config.option.markexpr)]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make programs fail whose tests `-m` leaves out: whatever starts one lacks its marker."""
    left_out = programs.left_out_programs(session.config.option.markexpr, session.items)
    if left_out and session.items:
        stack = ExitStack()
        stack.enter_context(programs.failing(left_out))
        session.config.add_cleanup(stack.close)


@pytest.fixture(autouse=True, scope="session")
def playwright_is_not_in_the_program() -> Iterator[None]:
    """Let `auto` choose samplers as if no test imported Playwright, which uses greenlets."""
    from profkit.samplers import registry

    others = tuple(name for name in registry._GREENLETS if name != "playwright.sync_api")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_GREENLETS", others)
        yield


@pytest.fixture(autouse=True, scope="session")
def programs_leave_nothing_in_the_temporary_folder() -> Iterator[None]:
    """Give programs of tests a temporary folder that ends with the run: torchrun, Ray and Dask leave files.

    Its path is short, for sockets, and other users may write to it, too. This process keeps its own. The
    next run removes the folder of one that was killed, which holds its lock no more.
    """
    for left in Path(tempfile.gettempdir()).glob("tests_*"):
        with suppress(OSError), _locked_folder(left):
            if time.time() - left.stat().st_mtime > _NEW_S:
                shutil.rmtree(left, ignore_errors=True)
    folder = tempfile.mkdtemp(prefix="tests_", dir=tempfile.gettempdir())
    os.chmod(folder, 0o1777)
    try:
        with pytest.MonkeyPatch.context() as patch, _locked_folder(Path(folder)):
            patch.setenv("TMPDIR", folder)
            yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # a daemon of Ray may still write there


@contextmanager
def _locked_folder(path: Path) -> Iterator[None]:
    """Hold the lock of a folder; raises BlockingIOError if another process does."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


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
