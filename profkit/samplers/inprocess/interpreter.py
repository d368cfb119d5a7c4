"""Sampling by a subinterpreter with a GIL of its own: it reads the process as a sampler outside would.

A process with a second interpreter must not fork: its child dies of SIGSEGV (CPython 3.14 and 3.15). So the
interpreter ends before each fork, and another one continues after it.
"""

from __future__ import annotations

import math
import posix
from functools import partial
from types import ModuleType

from profkit.originals import REAL
from profkit.process import procfs
from profkit.process.background import BackgroundThread
from profkit.samplers import helper
from profkit.samplers.helper import inside
from profkit.samplers.helper.reader import HAS_STATES
from profkit.samplers.inprocess.ways import FASTEST_HZ, Kind, Request, ThreadedWay, WayFailed

_RETRIES = 10
_DELAY_S = 0.05
"""Time after a fork until another interpreter begins; making one takes half as long."""
_CODE = """
import sys
package = type(sys)("_profkit_sampler")
package.__path__ = [folder]
sys.modules[package.__name__] = package
from _profkit_sampler.inside import run
run(shared, dict(options), interpreter)
"""


class InterpreterWay(ThreadedWay):
    kind = Kind.INTERPRETER

    def __init__(self, request: Request) -> None:
        self._request = request
        self._shared = bytearray(inside.SHARED_BYTES)
        self._cancelled = REAL.allocate_lock()
        """Held until it is asked to stop."""
        self._failure: str | None = None

    def start(self) -> None:
        if not HAS_STATES:
            raise WayFailed("it needs CPython 3.15")
        if not _may_read_itself(self._request):
            raise WayFailed(
                "a seccomp filter refuses process_vm_readv", "allow process_vm_readv in its profile"
            )
        self._start(delay_s=0.0)

    def _start(self, delay_s: float) -> None:
        self._shared = bytearray(inside.SHARED_BYTES)
        self._cancelled = REAL.allocate_lock()
        self._cancelled.acquire()
        try:
            import _interpreters  # type: ignore[import-not-found]

            self._thread = BackgroundThread(partial(self._run, _interpreters, delay_s))
            self._thread.start()
        except (ImportError, RuntimeError) as error:
            self._thread = None
            raise WayFailed(str(error)) from error

    def is_running(self) -> bool:
        state = self._shared[inside.STATE]
        if self._failure is None and state == inside.FAILED:
            self._failure = bytes(self._shared[inside.REASON :]).rstrip(b"\0").decode("utf-8", "replace")
        if self._failure is not None:
            raise WayFailed(self._failure)
        return state != inside.STARTING and self._request.output.exists()

    def stop(self) -> None:
        self._shared[inside.STOP] = 1
        if self._cancelled.locked():
            self._cancelled.release()

    def after_fork(self) -> None:
        """See `Way.after_fork`; waits a moment, because the next fork may come soon."""
        if self.has_ended():
            self._start(_DELAY_S)

    def _run(self, interpreters: ModuleType, delay_s: float) -> None:
        """Make an interpreter, sample in it, and end it; the shared bytes say how that went."""
        shared, number = self._shared, None
        if delay_s and self._cancelled.acquire(timeout=delay_s):
            return
        try:
            number = interpreters.create("isolated")
            names = {
                "folder": helper.__path__[0], "shared": memoryview(shared), "interpreter": number,
                "options": tuple(self._options().items()),
            }  # fmt: skip
            interpreters.set___main___attrs(number, names)
            raised = interpreters.exec(number, _CODE)
            if raised is not None:
                self._failure = str(getattr(raised, "formatted", raised))
        except Exception as error:  # noqa: BLE001 - the poll reports it
            self._failure = f"{type(error).__name__}: {error}"
        finally:
            if number is not None:
                interpreters.destroy(number)

    def _options(self) -> dict[str, str]:
        request = self._request
        return {
            "pid": str(request.pid),
            "output": str(request.output),
            "rate": repr(min(request.rate_hz, FASTEST_HZ[self.kind])),
            "duration": str(math.ceil(request.max_duration_s)),
            "only": request.only,
            "retries": str(_RETRIES),
            "kind": self.kind.value,
        }


def _may_read_itself(request: Request) -> bool:
    """Return whether the process may call process_vm_readv: a filter might kill it for that.

    A child process tries it, once for the filters that there are.
    """
    status = procfs.status("self")
    if status.get("Seccomp", "0") == "0":
        return True
    filters = posix.getpid(), status.get("Seccomp_filters")
    if filters not in _TRIED:
        from profkit.samplers.attach_facts import try_calls  # takes 5 ms, and is needed only here

        results = try_calls(request.pid, request.log)
        if results is None:
            return False
        _TRIED[filters] = results.read_self == 0
    if filters[1] is None:  # Linux before 5.9: a new filter would not be noticed
        return _TRIED.pop(filters)
    return _TRIED[filters]


_TRIED: dict[tuple[int, str | None], bool] = {}
"""Whether processes may read themselves, by pid and number of filters, which only grows."""
