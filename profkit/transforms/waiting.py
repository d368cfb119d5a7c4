"""Classify stacks as waiting or working, by the function in which they end, by its line, and by idle threads.

A sampler sees Python functions, but few of the C functions that wait for them: a thread in `lock.acquire` is
seen in the function that calls it. So each entry names a function that does hardly anything but wait. A call
such as `time.sleep` in the user's own function is recognized by the source of its line. Waiting of any other
kind is known only from samplers that report the states of threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from profkit.model.profile import Profile, ThreadState
from profkit.transforms.identity import file_identity
from profkit.transforms.origin import is_native_file

_WAITING_STATES = (ThreadState.WAITING, ThreadState.GIL)

LineOf = Callable[[str, int], str | None]
"""Returns a line's source by file and number, None if it is unknown."""

_WAITING: dict[str, str] = {
    # The standard library.
    "threading": "wait wait_for acquire join _wait_for_tstate_lock _shutdown __enter__ _acquire_restore",
    "selectors": "select _select",
    "queue": "get put join",
    "socket": "accept readinto create_connection connect",
    "ssl": "read recv recv_into do_handshake",
    "subprocess": "wait _wait _try_wait communicate",
    "sched": "run",
    "getpass": "unix_getpass _raw_input",
    "asyncore": "poll poll2",
    "asyncio/runners": "run",  # of a loop in C, such as uvloop's
    "concurrent/futures/thread": "_worker",
    "importlib/_bootstrap": "acquire",
    "multiprocessing/connection": "_recv _poll wait accept",
    "multiprocessing/queues": "get",
    "multiprocessing/popen_fork": "poll wait",
    "multiprocessing/popen_forkserver": "poll",
    "multiprocessing/synchronize": "wait acquire __enter__",
    "multiprocessing/pool": "wait",
    # PyTorch: devices, and collective operations.
    "torch/cuda": "synchronize",
    "torch/cuda/streams": "synchronize",
    "torch/distributed/distributed_c10d": (
        "wait barrier monitored_barrier all_reduce all_gather all_gather_into_tensor all_to_all "
        "all_to_all_single broadcast gather recv reduce reduce_scatter reduce_scatter_tensor scatter send"
    ),
    # Event loops.
    "gevent/hub": "run",
    "gevent/_ffi/loop": "run",
    "eventlet/hubs/hub": "wait sleep",
    "eventlet/hubs/poll": "do_poll wait",
    "eventlet/hubs/epolls": "do_poll wait",
    "eventlet/hubs/selects": "wait",
    "trio/_core/_io_epoll": "get_events",
    "twisted/internet/epollreactor": "doPoll",
    "twisted/internet/pollreactor": "doPoll",
    "twisted/internet/selectreactor": "doSelect",
    "uvloop": "run",
    "zmq/sugar/poll": "poll",
    # Servers and clients.
    "gunicorn/arbiter": "sleep",
    "gunicorn/workers/sync": "wait",
    "waitress/wasyncore": "poll poll2",
    "billiard/connection": "_recv _poll wait",
    "billiard/queues": "get",
    "kombu/utils/eventio": "poll",
    "psycopg/waiting": "wait wait_select wait_epoll wait_poll wait_selector",
}
"""By module: the functions, without their class, that wait."""
_FUNCTIONS = frozenset((module, name) for module, names in _WAITING.items() for name in names.split())

_SYSTEM_CALLS = frozenset({
    "accept", "accept4", "clock_nanosleep", "connect", "epoll_pwait", "epoll_pwait2", "epoll_wait",
    "nanosleep", "pause", "poll", "ppoll", "pselect", "pselect6", "recv", "recvfrom", "recvmmsg",
    "recvmsg", "select", "sleep", "usleep", "wait", "wait4", "waitid", "waitpid",
    # glibc's own functions, and CPython's.
    "PyThread_acquire_lock", "PyThread_acquire_lock_timed", "do_futex_wait", "internal_syscall_cancel",
    "lll_lock_wait", "lock_PyThread_acquire_lock", "pysleep", "syscall_cancel", "syscall_cancel_arch",
    "take_gil", "time_sleep",
})  # fmt: skip
"""Functions in machine code that wait, without the decorations that some builds of libc have."""
_SYNCHRONIZATION = (
    "futex_", "new_sem_", "pthread_clockjoin", "pthread_cond_", "pthread_join", "pthread_mutex_lock",
    "pthread_rwlock_", "pthread_timedjoin", "sem_",
)  # fmt: skip
"""Beginnings of the names of others."""

_BUILT_IN = re.compile(
    r"time\.sleep|'acquire' of '_?thread|\block\.acquire|_?[Ss]impleQueue.*\bget|'get' of '_queue"
    r"|\bselect\.(?:select|poll|epoll)|'(?:poll|select)' of 'select|posix\.(?:waitpid|wait|wait4|waitid)"
    r"|'(?:accept|_accept|recv|recv_into|recvfrom|connect)' of '_socket|signal\.(?:pause|sigwait)"
    r"|'(?:acquire|__enter__)' of '_multiprocessing\.SemLock|\bsocket\.(?:accept|recv|recv_into|connect)"
    r"|^(?:sleep|epoll\.poll|poll\.poll|select|waitpid|nanosleep)$"
)
"""Names that profilers of all calls give to C functions that wait."""

_CALLS = re.compile(
    r"\b(?:time\.|gevent\.|eventlet\.|trio\.|anyio\.)?sleep\(|\.(?:acquire|synchronize|waitpid|sigwait)\("
    r"|\.(?:accept|recv|recv_into|recvfrom)\(|\b(?:select\.)?select\(|\binput\(|\bwaitpid\("
    # The body of a `with` has other lines, and entering a lock that is free takes no time.
    r"|^(?:async )?with (?:[\w.]+\.)?(?i:\w*(?:lock|mutex|semaphore|condition))\b(?:\(\))?(?:, .*)?:"
)
"""Calls in a line of source that wait."""


def waiting_stacks(profile: Profile, line_of: LineOf | None = None) -> frozenset[int]:
    """Return the indexes of the stacks of waiting threads: by their states, else by functions that wait."""
    unknown = [n for n, stack in enumerate(profile.stacks) if stack and not profile.state_of(n)]
    measured = (n for n in range(len(profile.stacks)) if profile.state_of(n) in _WAITING_STATES)
    ends = {profile.stacks[number][-1] for number in unknown}
    # Most lines at the end of a stack are of few functions.
    is_known = cache(_is_known_to_wait)

    def waits(name: str, file: str, line: int) -> bool:
        known = is_known(name, file)
        source = line_of(file, line) if known is None and line_of is not None and line else None
        return bool(known) or (source is not None and _CALLS.search(source) is not None)

    waiting = frozenset(frame for frame in ends if waits(*profile.frames[frame]))
    return frozenset((*measured, *(n for n in unknown if profile.stacks[n][-1] in waiting)))


def _is_known_to_wait(name: str, file: str) -> bool | None:
    """Return whether all lines of a function wait; None if that depends on the line."""
    if not file or file == "~":
        return _BUILT_IN.search(name) is not None
    if is_native_file(file):
        return _waits_in_machine_code(name)
    return (file_identity(file), name.rpartition(".")[2]) in _FUNCTIONS or None


def _waits_in_machine_code(name: str) -> bool:
    plain = name.partition("@")[0].lstrip("_").removeprefix("GI_").lstrip("_").removeprefix("libc_")
    plain = plain.removesuffix("_nocancel").removesuffix("_time64")
    return plain in _SYSTEM_CALLS or plain.startswith(_SYNCHRONIZATION)
