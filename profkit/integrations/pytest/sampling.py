"""Sampling of tests: one session for the whole test run, and a region for the call of each test.

A test's region is the call phase, which is the test itself. Fixtures are set up once for several tests, so
that their time belongs to the region of the whole run, as do imports of test modules.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from profkit.calls.importlib_bootstrap.markers import make_marker
from profkit.calls.keywords import ProfilerOptions
from profkit.calls.options import Settings, settings_over_defaults
from profkit.ingest.read import run_id
from profkit.integrations.pytest.settings import MarkSettings
from profkit.model.region import Region, RegionKey, RegionKind, code_of, digest_of
from profkit.process.guard import reraise_signal_error
from profkit.program.whole import Program
from profkit.session.activity import OPEN_BLOCKS
from profkit.session.counters import Counters
from profkit.session.joining import is_of_program
from profkit.session.manager import MANAGER

LABEL = "pytest"
"""Label of the region of the whole test run."""


class Sampling:
    """The session of a test run in this process, started with the first region."""

    def __init__(self, options: ProfilerOptions) -> None:
        self._options = options
        self._whole: Program | None = None
        self._pid = os.getpid()
        # Of `profkit run`, for example; its session is not this run's to end.
        self._inside = MANAGER.session is not None and is_of_program(MANAGER.session.counters)

    def start(self) -> None:
        """Start the session, and the region of the whole run."""
        chosen = settings_over_defaults({**self._options, "threads": True})
        counters = Counters(_whole_region(chosen), chosen.sampler, chosen.policy)
        whole = Program(counters)
        OPEN_BLOCKS[whole] = None
        if not MANAGER.enter(counters, own=1):
            OPEN_BLOCKS.pop(whole)
            return
        self._whole = whole
        whole.start()

    @property
    def run(self) -> str | None:
        """Id of the run of the whole test run, None if there is none."""
        return None if self._whole is None else _run_of(self._whole.counters)

    def finish(self) -> None:
        """End the session, so that its runs are complete; do nothing in a forked child."""
        if os.getpid() != self._pid:
            return
        if self._whole is not None:
            self._whole.end()
        if self._inside:
            MANAGER.rotate()
        else:
            MANAGER.end_session()

    @contextmanager
    def of_call(self, item: pytest.Item, asked: MarkSettings) -> Iterator[Callable[[], str | None]]:
        """Let the item's next call run as a region; yield a function that returns the id of its run.

        Raises UsageError for options that do not fit together.
        """
        chosen = asked.sampling(self._options, item.nodeid)
        counters = Counters(_region_of(item, chosen), chosen.sampler, chosen.policy)
        call = item.runtest
        marker = make_marker(counters, call)
        item.runtest = lambda: marker(call)  # type: ignore[method-assign]
        try:
            yield lambda: _run_of(counters)
        finally:
            del item.runtest
            if os.getpid() == self._pid:
                _retire(counters)


def _retire(counters: Counters) -> None:
    """Write the counts of a test, and let its session forget it: there may be thousands.

    The region that the session was started for stays, and so do those whose runs a callback waits for.
    """
    if counters.policy.on_run is not None or MANAGER.lock_is_mine():
        return
    with MANAGER.lock:
        session = MANAGER.session
        if session is None or counters not in session.counters[1:]:
            return
        try:
            session.drain()
            session.counters.remove(counters)
        except OSError as error:
            reraise_signal_error(error)
            MANAGER.fail(error)


def _run_of(counters: Counters) -> str | None:
    if counters.refused or not counters.sessions:
        return None
    return run_id(counters.sessions[-1], counters.region.id)


def _whole_region(chosen: Settings) -> Region:
    key = RegionKey(LABEL, LABEL, 0, LABEL)
    return Region(
        key, RegionKind.PROGRAM, "", detached=True, all_threads=True,
        stack_max_len=chosen.extras.stack_max_len, tags=chosen.extras.tags,
    )  # fmt: skip


def _region_of(item: pytest.Item, chosen: Settings) -> Region:
    """Return the region of a test; its function is that of the test, without wrappers of other plugins."""
    function = inspect.unwrap(getattr(item, "obj", None))  # type: ignore[arg-type]
    code = code_of(function)
    region = Region(
        RegionKey("", item.name, 0, item.nodeid),
        RegionKind.TEST,
        str(item.path),
        all_threads=chosen.extras.all_threads,
        stack_max_len=chosen.extras.stack_max_len,
        tags=chosen.extras.tags,
        user=chosen.extras.user,
    )
    if code is None:
        return region
    key = RegionKey(
        str(getattr(function, "__module__", "")), code.co_qualname, code.co_firstlineno, item.nodeid
    )
    return replace(region, key=key, file=code.co_filename, code=digest_of(code))
