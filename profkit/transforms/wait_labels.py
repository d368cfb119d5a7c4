"""What threads wait for, by the functions and the line in which they wait.

Labels never decide whether a thread waits. Of the library functions that the program's line calls, the
outermost one with a label says what the program waits for: a data loader, not the queue in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from profkit.model.profile import Frame
from profkit.transforms.identity import file_identity

SLEEP = "sleep"
"""Label of waiting for nothing but time."""
EVENTS, LOCK, OTHER_RANKS = "events", "a lock", "other ranks"
OF_OTHER_THREADS = frozenset({"another thread", "a pool", "a queue", LOCK})
"""Labels of waiting for what other threads of the process may do."""

_LABELS: dict[str, dict[str, str]] = {
    "the data loader": {"torch/utils/data/dataloader": "*"},
    OTHER_RANKS: {
        "torch/distributed/distributed_c10d": "*",
        "torch/distributed/algorithms/join": "*",
        "torch/nn/parallel/distributed": "_pre_forward _sync_buffers _sync_module_states _post_forward",
    },
    "the GPU": {"torch/cuda": "synchronize", "torch/cuda/streams": "*"},
    "the backward pass": {"torch/autograd/graph": "_engine_run_backward"},
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


def wait_label(frames: Sequence[Frame], source: str | None, *, is_distributed: bool = False) -> str:
    """Return what a thread waits for, empty if it is not known.

    `frames` are those of the libraries that the program's line calls, outermost first; `source` is that line.
    """
    for name, file, _ in frames:
        label = _label_of(name, file)
        if label:
            return OTHER_RANKS if is_distributed and label == "the backward pass" else label
    if source is not None:
        for pattern, label in _LINES:
            if pattern.search(source):
                return label
    return _NATIVE.get(frames[-1].name.lstrip("_"), "") if frames else ""


def has_ranks(frames: Sequence[Frame]) -> bool:
    """Return whether the frames of a profile are of a program that trains on several ranks."""
    return any(_PARALLEL.search(frame.file) for frame in frames)


@cache
def _label_of(name: str, file: str) -> str:
    module = file_identity(file)
    found = _BY_FUNCTION.get((module, name.rpartition(".")[2])) or _BY_FUNCTION.get((module, "*"))
    if found is None and "/" in module:
        found = _BY_FUNCTION.get((module.partition("/")[0], "*"))
    return found or ""
