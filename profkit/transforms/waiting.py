"""Classify stacks as waiting or working, by the function in which they end and its line, and label the waits.

A sampler sees Python functions, but few of the C functions that wait for them: a thread in `lock.acquire` is
seen in the function that calls it. So each entry names a function that does hardly anything but wait. A call
such as `time.sleep` in the user's own function is recognized by the source of its line. Waiting of any other
kind is known only from samplers that report the states of threads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter

from profkit.model.profile import Frame, Profile, ThreadState
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
        "wait barrier monitored_barrier all_reduce all_gather all_gather_into_tensor all_gather_single "
        "all_to_all all_to_all_single broadcast gather recv reduce reduce_scatter reduce_scatter_single "
        "reduce_scatter_tensor scatter send"
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


SLEEP = "sleep"
"""Label of waiting for nothing but time."""
EVENTS, LOCK, OTHER_RANKS, BACKWARD = "events", "a lock", "other ranks", "the backward pass"
OF_OTHER_THREADS = frozenset({"another thread", "a pool", "a queue", LOCK})
"""Labels of waiting for what other threads of the process may do."""
OF_OTHER_PROCESSES = frozenset({"the data loader", "a child process", "a pool", "another process"})
"""Labels of waiting for what child processes may do."""

_LABELS: dict[str, dict[str, str]] = {
    "the data loader": {"torch/utils/data/dataloader": "*"},
    OTHER_RANKS: {
        "torch/distributed/distributed_c10d": "*",
        "torch/distributed/_functional_collectives": "*",
        "torch/distributed/algorithms/join": "*",
        "torch/distributed/rendezvous": "*",
        "torch/futures": "wait wait_all value",
        "horovod/torch/mpi_ops": "*",
        "torch/nn/parallel/distributed": "_pre_forward _sync_buffers _sync_module_states _post_forward",
    },
    "the GPU": {"torch/cuda": "synchronize", "torch/cuda/streams": "*"},
    BACKWARD: {"torch/autograd/graph": "_engine_run_backward"},
    "a child process": {
        "subprocess": "*",
        "multiprocessing/process": "join",
        "multiprocessing/popen_fork": "*",
        "multiprocessing/popen_spawn_posix": "*",
        "multiprocessing/popen_forkserver": "*",
    },
    "a pool": {
        "multiprocessing/pool": "*",
        "concurrent/futures/process": "shutdown",
        "concurrent/futures/thread": "shutdown",
        "concurrent/futures/_base": "*",
        "joblib/parallel": "*",
        "joblib/externals/loky/process_executor": "*",
        "loky/process_executor": "*",
    },
    "another process": {"multiprocessing/connection": "*", "multiprocessing/queues": "*"},
    "a queue": {"queue": "*", "asyncio/queues": "*"},
    "another thread": {"threading": "wait wait_for join _wait_for_tstate_lock _shutdown"},
    LOCK: {"threading": "acquire __enter__ _acquire_restore", "multiprocessing/synchronize": "*"},
    "the network": {
        "socket": "*",
        "ssl": "*",
        "socketserver": "*",
        "http/client": "*",
        "urllib/request": "*",
        "requests/api": "*",
        "requests/sessions": "*",
        "httpx": "*",
        "urllib3/connectionpool": "*",
    },
    "the database": {
        "sqlalchemy/engine/default": "*",
        "psycopg/waiting": "*",
        "psycopg2/extensions": "*",
        "pymongo/network": "*",
    },
    EVENTS: {
        "asyncio/runners": "*",
        "asyncio/base_events": "*",
        "selectors": "*",
        "gevent/hub": "*",
        "eventlet/hubs/hub": "*",
        "trio/_core/_run": "*",
        "uvloop": "*",
        "twisted/internet/base": "*",
    },
    "the terminal": {"getpass": "*"},
    "imports in another thread": {"importlib/_bootstrap": "acquire"},
}
"""By label: modules, and their functions without their class; `*` for all."""
_BY_FUNCTION = {
    (module, name): label
    for label, modules in _LABELS.items()
    for module, names in modules.items()
    for name in names.split()
}

_NATIVE = {
    "nanosleep": SLEEP, "clock_nanosleep": SLEEP, "usleep": SLEEP, "sleep": SLEEP, "pysleep": SLEEP,
    "wait4": "a child process", "waitpid": "a child process", "waitid": "a child process",
    "recv": "the network", "recvfrom": "the network", "accept": "the network", "connect": "the network",
}  # fmt: skip
_LINES = tuple(
    (re.compile(pattern), label)
    for pattern, label in (
        (r"\b(?:u|nano)?sleep\w*\(", SLEEP),
        (r"\bos\.system\(|\bwait(?:pid|id|3|4)?\(|\bPopen\b|\.stdout\b", "a child process"),
        (r"\.communicate\(|\bcheck_(?:output|call)\(", "a child process"),
        (r"\.(?:recv|recv_into|recvfrom|accept|connect|sendall)\(", "the network"),
        (r"\burlopen\(|\brequests?\.\w+\(", "the network"),
        (r"\.result\(|\bas_completed\(|\.imap|\.starmap\(", "a pool"),
        (r"\.join\(\)|\.join\(timeout", "another thread"),
        (r"\.acquire\(|^(?:async )?with .*(?i:lock|mutex|semaphore|condition)|_lock\(", LOCK),
        (r"\.get\(|\.put\(", "a queue"),
        (r"\bselect\(|\bpoll\(|\.select\(", EVENTS),
        (r"\bexecute(?:many|script)?\(|\bcommit\(|\bfetch(?:all|one|many)?\(", "the database"),
        (r"\bsynchronize\(|\.item\(\)|\.cpu\(\)", "the GPU"),
        (r"\binput\(", "the terminal"),
        (r"\bfsync\(|\bos\.sync\(", "the disk"),
        (r"\bos\.(?:read|write)\(|\.read(?:line|lines|into)?\(|\.(?:write|flush)\(", "a file or pipe"),
    )
)
"""Calls in a line of the program, if no library function has a label."""
_PARALLEL = re.compile(r"torch/(?:nn/parallel/distributed|distributed/)")
_EXCHANGING = re.compile(
    r"torch/(?:nn/parallel/distributed|distributed/(?!checkpoint|elastic|launcher|run\b))"
)
"""Files of torch that wait for nothing but other ranks."""
_OPERATION_WAIT = re.compile(r"\.wait\(")
_STORE_WAIT = re.compile(r"\b\w*[Ss]tore\w*\.(?:get|multi_get|queue_pop)\(")
"""Calls in a line of a program with ranks that wait for them in C++; those of a store may be of a dict."""
_MPI_CALL = re.compile(
    # Nothing else is called before it, and little within it: that would be work of the rank itself.
    r"^[^#(]*(?:\b\w*(?:comm|COMM)\w*\.(?:[Aa]ll(?:reduce|gather|to)\w*|[Bb](?:arrier|cast)|[Gg]atherv?|[Ss]catterv?"
    r"|[Rr]educe\w*|[Ee]?[Xx]?[Ss]can|[Ss]?[Ss]end(?:recv\w*)?|[Rr]ecv|[Mm]?[Pp]robe|[Nn]eighbor_\w+)"
    r"|\b(?:MPI\.Request|\w*[Rr]eq\w*)\.[Ww]ait(?:all|any|some)?)"
    r"\((?:[^()]|\b(?:len|int|float|bool|item|time|perf_counter|monotonic)\([^()]*\))*(?:\)[^(]*)?$"
)
"""Calls in a line that wait for other ranks in mpi4py, which polls: the thread always seems to work."""


def wait_label(frames: Sequence[Frame], source: str | None, *, is_distributed: bool = False) -> str:
    """Return what a thread waits for, empty if it is not known.

    `frames` are those of the libraries that the program's line calls, outermost first; `source` is that line.
    """
    for name, file, _ in frames:
        label = _label_of(name, file)
        if label:
            return OTHER_RANKS if is_distributed and label == BACKWARD else label
    if is_distributed and (_EXCHANGING.search(frames[-1].file) if frames else is_rank_call(source)):
        return OTHER_RANKS
    if source is not None:
        for pattern, label in _LINES:
            if pattern.search(source):
                return label
    return _NATIVE.get(frames[-1].name.lstrip("_"), "") if frames else ""


def is_rank_call(source: str | None, *, works: bool = False) -> bool:
    """Return whether a line of a program with ranks, in which a stack ends, waits for other ranks.

    A thread may seem to work there if it exchanges data, or has no processor.
    """
    if source is None:
        return False
    return bool(_OPERATION_WAIT.search(source) or (not works and _STORE_WAIT.search(source)))


def is_mpi_call(source: str | None) -> bool:
    """Return whether a line of a rank, in which a stack ends, does little but wait for other ranks of MPI."""
    return source is not None and _MPI_CALL.search(source) is not None


def is_backward(frame: Frame) -> bool:
    """Return whether a frame is that of torch's backward pass, in which ranks wait for one another."""
    return _label_of(frame.name, frame.file) == BACKWARD


def has_ranks(frames: Sequence[Frame]) -> bool:
    """Return whether the frames of a profile are of a program that trains on several ranks."""
    return any(map(_PARALLEL.search, set(map(itemgetter(1), frames))))


@cache
def _label_of(name: str, file: str) -> str:
    module = file_identity(file)
    found = _BY_FUNCTION.get((module, name.rpartition(".")[2])) or _BY_FUNCTION.get((module, "*"))
    if found is None and "/" in module:
        found = _BY_FUNCTION.get((module.partition("/")[0], "*"))
    return found or ""
