"""Orders that are measured while the program goes on: futures, one at a time, and waiting for them."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TextIO, TypeVar

from profkit.measuring.runner.progress import Progress, ProgressLine, Silent

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Item:
    future: Future[object]
    work: Callable[[], object]

    def run(self) -> None:
        """Do the work, unless its future was cancelled."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - the future carries it
            self.future.set_exception(error)


class Background:
    """One daemon thread that works off what is submitted, in order; it starts with the first."""

    def __init__(self) -> None:
        self._items: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, work: Callable[[], _T]) -> Future[_T]:
        """The future of `work()`; done at once, by the caller, where no thread can be started any more."""
        future: Future[_T] = Future()
        item = _Item(future, work)  # type: ignore[arg-type]
        if self._started():
            self._items.put(item)
        else:
            item.run()
        return future

    def _started(self) -> bool:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._serve, name="profkit-measure", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the interpreter is ending, or the system has no threads left
                    return False
                self._thread = thread
            return True

    def _serve(self) -> None:
        while True:
            self._items.get().run()


class ProcessBackground:
    """The process's own; a forked child gets others: threads, and locks that they hold, do not survive."""

    current: Background
    turn: threading.Lock
    """Held by the batch that is being measured: two would disturb each other's times."""

    def __init__(self) -> None:
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.current, self.turn = Background(), threading.Lock()


BACKGROUND = ProcessBackground()


def as_progress(given: TextIO | Progress | None) -> Progress:
    """Return what shows progress on a stream, what was given itself, or what shows nothing."""
    if given is None:
        return Silent()
    return given if isinstance(given, Progress) else ProgressLine(given)


def wait(
    scope: MutableMapping[str, object] | Iterable[Future[_T]], progress: TextIO | Progress | None = None
) -> tuple[_T, ...]:
    """Wait for futures and return their results; those in a mapping are replaced by their results.

    `progress` is a stream, such as `sys.stderr`, for a line that shows how many are done; or it hears of each
    with its key, or its number. Raises what the first future that failed holds, when all are done.
    """
    told = as_progress(progress)
    named: list[tuple[str, Future[_T]]]
    if isinstance(scope, MutableMapping):
        named = [(name, value) for name, value in scope.items() if isinstance(value, Future)]
    else:
        named = [(str(number), future) for number, future in enumerate(scope, 1)]
    told.begin(len(named))
    try:
        for name, future in named:
            told.at_work(name)
            future.exception()
            told.done(name)
    finally:
        told.end()
    results = tuple(future.result() for _, future in named)
    if isinstance(scope, MutableMapping):
        scope.update({name: result for (name, _), result in zip(named, results, strict=True)})
    return results
