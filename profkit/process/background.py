"""Background threads of profkit in the profiled program, and the frames of all its threads.

The threads bypass `threading`: gevent and eventlet would turn them into greenlets, debuggers would stop in
them, coverage would trace them, and `threading.enumerate()` would list them.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from weakref import ref

from profkit.originals import REAL

_LONGEST_WAIT_S = 0.1
"""Time after which a thread looks whether another one has ended, although the lock of that one is taken."""
# Until 3.11.8, a garbage collection within the call lets another thread run, and both wait for each other if
# that one starts a thread (python/cpython#106883).
_COLLECTS = sys.version_info < (3, 11, 9)

_MEMORY = (b"Max data size", b"Max address space")
_RESERVED_BYTES = 1 << 18

_NO_LIBRARY = os.strerror(errno.ENOENT)
"""Part of the loader's message where there is another C library, which needs none to end a thread."""


def is_main_thread() -> bool:
    """Return whether the caller runs in the thread that runs signal handlers, also in programs of gevent."""
    return REAL.get_native_id() == os.getpid()


def is_gil_enabled() -> bool:
    """Return whether the interpreter has a GIL and uses it."""
    enabled: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
    return enabled


@cache
def _load_unwinder() -> None:
    """Load the library with which glibc ends a thread; raise RuntimeError if a limit forbids that now.

    Until Python 3.14, a thread that wants the GIL while the interpreter ends is ended by pthread_exit(3).
    That loads the library, and aborts the process if it cannot, as after a chroot, or without memory or a
    free descriptor.
    """
    if sys.version_info >= (3, 14):
        return
    try:
        import _ctypes  # `ctypes` takes milliseconds

        _ctypes.dlopen("libgcc_s.so.1", os.RTLD_NOW)
    except (ModuleNotFoundError, AttributeError):  # another Python
        return
    except (ImportError, OSError) as error:
        if _NO_LIBRARY not in str(error):
            raise RuntimeError(f"no thread is started, since it could not be ended: {error}") from error


def _reserve_memory() -> object:
    """Return what keeps memory free for a thread's first frame; raise RuntimeError if there is no more.

    A thread whose stack takes the last memory fails before its first line, and CPython prints that. Frames
    are mapped, so memory of malloc would be of no use.
    """
    try:
        with open("/proc/self/limits", "rb") as file:
            if all(line.split()[3] == b"unlimited" for line in file if line.startswith(_MEMORY)):
                return None
        from mmap import mmap
    except (ImportError, OSError):
        return None
    try:
        return mmap(-1, _RESERVED_BYTES)
    except OSError as error:
        raise RuntimeError(f"no thread is started without memory for it: {error}") from error


class BackgroundThread:
    """Thread that runs `work` once and blocks all signals.

    The kernel delivers a process's signal to any thread that does not block it. Without this, a signal
    that the program blocks in order to wait for it would end the program here.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._ended = REAL.allocate_lock()
        """Held while the thread runs. After that, a wait that is interrupted may leave it held."""
        self._is_over = False
        self._pid = 0
        self._held: ref[Callable[[], None]] | None = None
        """Dead once the interpreter has let go of the thread, even if that had no memory for a frame."""
        self._native_id: int | None = None
        self._ident: int | None = None

    def start(self) -> None:
        """Start the thread; raises RuntimeError if that is impossible, as at interpreter shutdown."""
        _load_unwinder()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        self._ended.acquire()
        run = self._run
        self._pid, self._held = os.getpid(), ref(run)
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            reserve = _reserve_memory()
            self._ident = REAL.start_new_thread(run, ())
            del reserve
        except BaseException:
            self._end()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def is_alive(self) -> bool:
        """Return whether the thread was started in this process and has not ended."""
        is_held = self._held is not None and self._held() is not None
        return is_held and not self._is_over and self._pid == os.getpid()

    def is_current(self) -> bool:
        """Return whether the caller runs in this thread."""
        return self._ident == REAL.get_ident()

    def await_end(self, timeout_s: float | None = None) -> bool:
        """Wait until the thread has ended in the kernel too, which may be later; return whether it has."""
        start_ns = REAL.perf_counter_ns()
        while self.is_alive():
            if timeout_s is not None and REAL.perf_counter_ns() - start_ns >= timeout_s * 1e9:
                return False
            if self._ended.acquire(timeout=_LONGEST_WAIT_S):
                self._ended.release()
        while self._native_id is not None and os.path.exists(f"/proc/self/task/{self._native_id}"):
            REAL.sleep(0)
        return True

    def _run(self) -> None:
        try:
            self._do_work()
        except MemoryError:  # whoever waits notices the end; to say more would take memory
            return

    def _do_work(self) -> None:
        self._ident, self._native_id = REAL.get_ident(), REAL.get_native_id()
        RUNNING.add(self)
        try:
            self._work()
        finally:
            RUNNING.discard(self)
            _forget_dummy(self._ident)
            self._end()

    def _end(self) -> None:
        self._is_over = True
        if self._ended.locked():  # else a signal handler raised just when the thread was started
            self._ended.release()


def _forget_dummy(ident: int | None) -> None:
    """Remove the entry that logging adds for this thread to `threading`, as Python 3.13 does itself."""
    threading = sys.modules.get("threading")
    known = getattr(threading, "_active", None)
    if isinstance(known, dict) and type(known.get(ident)).__name__ == "_DummyThread":
        known.pop(ident, None)


RUNNING: set[BackgroundThread] = set()
"""The threads that run in this process."""
os.register_at_fork(after_in_child=RUNNING.clear)


def current_frames() -> dict[int, FrameType]:
    """Return the frame in which each thread is, by Python's number of the thread."""
    if not (_COLLECTS and gc.isenabled()):
        return sys._current_frames()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        gc.enable()
