"""Work that a request gives to other tasks and threads: it runs under the request's marker, too.

While profiled requests are in progress, the event loop's task factory, `ThreadPoolExecutor.submit`,
`anyio.to_thread.run_sync` and asgiref's `AsyncToSync` look for the request in whose context they are used.
All are as before when the last request has ended.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from profkit.calls.importlib_bootstrap.carrying import Carrier
from profkit.calls.slow_path import running_loop
from profkit.originals import REAL
from profkit.process.fork_hooks import HOOKS, Hooks

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

CURRENT: ContextVar[Carrier | None] = ContextVar("profkit_request", default=None)
"""Carrier of the profiled request that the current context belongs to."""


class _Hook(Protocol):
    """Replacement of one function, by one that calls it."""

    def install(self) -> None:
        """Replace the function."""

    def remove(self) -> None:
        """Restore the function, unless somebody else has replaced it meanwhile."""


class _Attribute:
    """Hook in an attribute of a class or module."""

    def __init__(self, owner: object, name: str, replacing: Callable[[Any], Any]) -> None:
        self._owner, self._name, self._replacing = owner, name, replacing
        self._original: object = None
        self._own: object = None

    def install(self) -> None:
        self._original = getattr(self._owner, self._name)
        self._own = self._replacing(self._original)
        setattr(self._owner, self._name, self._own)

    def remove(self) -> None:
        if getattr(self._owner, self._name) is self._own:
            setattr(self._owner, self._name, self._original)


class _TaskFactory:
    """Hook in the tasks of an event loop."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        from asyncio import Task  # not in services without an event loop

        self._loop, self._task = loop, Task
        self._previous: Callable[..., Any] | None = None
        self._own: Any = self._new_task

    def install(self) -> None:
        self._previous = self._loop.get_task_factory()
        self._loop.set_task_factory(self._own)

    def remove(self) -> None:
        if self._loop.get_task_factory() is self._own and not self._loop.is_closed():
            self._loop.set_task_factory(self._previous)

    def _new_task(self, loop: AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **kwargs: Any) -> Any:
        context = kwargs.get("context")
        carrier = CURRENT.get() if context is None else context.get(CURRENT)
        if carrier is not None:
            coroutine = carrier.coroutine(coroutine)
        if self._previous is not None:
            return self._previous(loop, coroutine, **kwargs)
        return self._task(coroutine, loop=loop, **kwargs)


def _carrying_submit(submit: Callable[..., Any]) -> Callable[..., Any]:
    def carrying_submit(self: ThreadPoolExecutor, /, *called: Any, **kwargs: Any) -> Any:
        return submit(self, *_carried(called), **kwargs)

    return carrying_submit


def _carrying_run_sync(run_sync: Callable[..., Any]) -> Callable[..., Any]:
    def carrying_run_sync(*called: Any, **kwargs: Any) -> Any:
        return run_sync(*_carried(called), **kwargs)

    return carrying_run_sync


def _carried(called: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a function and its arguments so that the current carrier calls it."""
    carrier = CURRENT.get()
    return (carrier.call, *called) if carrier is not None and called else called


def _carrying_main_wrap(main_wrap: Callable[..., Any]) -> Callable[..., Any]:
    def carrying_main_wrap(self: object, *args: Any, **kwargs: Any) -> Any:
        carrier = CURRENT.get()
        coroutine = main_wrap(self, *args, **kwargs)
        return coroutine if carrier is None else carrier.coroutine(coroutine)

    return carrying_main_wrap


class _Uses:
    """Hooks in use, with the number of requests in progress that need them."""

    def __init__(self) -> None:
        self._lock = REAL.allocate_lock()
        self._hooks: dict[object, list[_Hook]] = {}
        self._counts: dict[object, int] = {}

    def begin(self, key: object, hooks: Callable[[], list[_Hook]]) -> None:
        """Install hooks unless they are in use."""
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1
            if self._counts[key] == 1:
                self._hooks[key] = hooks()
                for hook in self._hooks[key]:
                    hook.install()

    def end(self, key: object) -> None:
        """Remove hooks if nothing else uses them; do nothing in a child that was forked meanwhile."""
        with self._lock:
            if key not in self._counts:
                return
            self._counts[key] -= 1
            if not self._counts[key]:
                del self._counts[key]
                _remove(self._hooks.pop(key))

    def become_child(self) -> None:
        """Remove all hooks in a forked child: the requests are its parent's."""
        self._lock = REAL.allocate_lock()
        for hooks in self._hooks.values():
            _remove(hooks)
        self._hooks.clear()
        self._counts.clear()


def _remove(hooks: Iterable[_Hook]) -> None:
    for hook in hooks:
        hook.remove()


def _do_nothing() -> None:
    pass


_USES = _Uses()
HOOKS.add(Hooks(_do_nothing, _do_nothing, _USES.become_child))
_POOLS = "pools of threads"


@contextmanager
def following(carrier: Carrier) -> Iterator[None]:
    """Have a request's carrier follow what the block gives to pools of threads, and to tasks of its loop."""
    keys: list[object] = [_POOLS]
    _USES.begin(_POOLS, _pool_hooks)
    loop = running_loop()
    if loop is not None:
        _USES.begin(loop, lambda: [_TaskFactory(loop)])
        keys.append(loop)
    before = CURRENT.set(carrier)
    try:
        yield
    finally:
        with suppress(ValueError):  # a coroutine that is closed later, in another context
            CURRENT.reset(before)
        for key in keys:
            _USES.end(key)


def _pool_hooks() -> list[_Hook]:
    hooks: list[_Hook] = [_Attribute(ThreadPoolExecutor, "submit", _carrying_submit)]
    anyio_threads = sys.modules.get("anyio.to_thread")
    if anyio_threads is not None:
        hooks.append(_Attribute(anyio_threads, "run_sync", _carrying_run_sync))
    # Called in a thread, it makes a task of a loop in another one.
    async_to_sync = getattr(sys.modules.get("asgiref.sync"), "AsyncToSync", None)
    if hasattr(async_to_sync, "main_wrap"):
        hooks.append(_Attribute(async_to_sync, "main_wrap", _carrying_main_wrap))
    return hooks
