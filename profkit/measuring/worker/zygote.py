"""The zygote: a fresh interpreter that imports modules, rehearses, and forks a child for each job.

It runs one thread and imports nothing of the user. Without Valgrind it computes nothing: after a parallel
OpenMP region in a process, its children hang in theirs. Under Valgrind it has one thread in any case, and
runs rehearsal jobs, since children inherit the translated code.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import traceback
from importlib import import_module

from . import valgrind
from .child import live, work
from .heap import fill_arenas, start_pages
from .processes import die_with_parent
from .protocol import (
    DUMP_SIGNAL,
    FORK,
    UNDECIDED,
    Case,
    Inbox,
    JobMessage,
    Message,
    blocking_socket,
    in_file,
    send_descriptors,
)


def _job(stmt: str, setup: str = "", level: str = "function", global_setup: str = "") -> JobMessage:
    case: Case = {
        "stmt": stmt,
        "setup": setup,
        "global_setup": global_setup,
        "language": "python",
        "level": level,
        "payload": False,
        "library": None,
        "fresh": UNDECIDED,
    }
    return {
        "mode": "callgrind",
        "num_threads": 1,
        "cases": [case],
        "number": [2],
        "runs": None,
        "repeats": 2,
        "warm": 20,
    }


_IMPORTED = """
import sys
torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
"""
_TORCH = "x = y = torch.ones(64) if torch else 1"
_NUMPY = "a = numpy.ones(64) if numpy else 1"
_OWN = """
    class Point:
        def __init__(self, x):
            self.x = x
    def f(x, *, y=1):
        return [Point(x), y]
"""

JOBS: tuple[JobMessage, ...] = (
    _job("[i * i for i in range(100)]"),
    _job("s.split()", "s = 'a few words in a string'"),
    _job("items.sort()", "items = [3, 1, 2] * 20"),
    _job("{str(i): (i, float(i)) for i in range(50)}"),
    _job("f(2, y=3)", _OWN),
    _job("x + y", _TORCH, global_setup=_IMPORTED),
    _job("a + a", _NUMPY, global_setup=_IMPORTED),
    _job("x + y", _TORCH, "module", _IMPORTED),
)
"""Messages without the fields that a zygote fills in: `dump_prefix` and the environment."""


_DUMP_PREFIX = "cg"
"""Relative to the zygote's folder, whose name differs between zygotes and must not enter its memory."""
_SET, _UNSET = "PROFKIT_REHEARSAL", "PROFKIT_REHEARSED"
"""Variables that are changed in the same way as a job's."""


def prepare_to_count() -> None:
    """Switch instrumentation on and run rehearsal jobs; raises RuntimeError on failure."""
    valgrind.prepare()
    if not valgrind.running_on_valgrind():
        raise RuntimeError(
            "Valgrind runs a wrapper script, such as pyenv's, instead of the interpreter; give the path of "
            f"the interpreter itself: {sys.executable}"
        )
    valgrind.start_instrumentation()
    printed_to = os.dup(1)
    try:
        for job in JOBS:
            _rehearse(job)
    finally:
        os.environ.pop(_SET, None)
        os.dup2(printed_to, 1)
        os.dup2(printed_to, 2)
        os.close(printed_to)


def _rehearse(job: JobMessage) -> None:
    control, childs_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel, childs_channel = socket.socketpair()
    with control, childs_control, channel:
        output, message = os.open(os.devnull, os.O_WRONLY), in_file(_whole(job))
        send_descriptors(control, [childs_channel.fileno(), output, message])
        for descriptor in (childs_channel.detach(), output, message):
            os.close(descriptor)
        work(childs_control)
        replies = Inbox(channel).read()
    if not replies or not replies[0]["ok"]:
        raise RuntimeError(f"a rehearsal failed: {replies[0]['trace'] if replies else 'no reply'}")


def _whole(job: JobMessage) -> Message:
    """Return the job's message with the environment that the zygote already has."""
    here: Message = {
        "cwd": ".",
        "path": sys.path,
        "env": {_SET: "", _UNSET: None},
        "cores": [],
        "memory_limit_bytes": None,
        "dump_prefix": _DUMP_PREFIX,
    }
    return {**here, **job}


_MAX_TRACE = 60_000
"""Maximum characters in a packet."""
_IDLE_S = 0.1
"""Time that an incomplete zygote waits for its first job before it imports the rest."""
_DUMMIES = 3
"""Number of forks before the first job: they leave the heap in another state than later ones."""
_STATUS = struct.Struct(">i")


def main(config_text: str) -> None:
    """Import the configured modules, report to the driver at the other end of stdin, and serve it."""
    die_with_parent()
    control = blocking_socket(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    config = json.loads(config_text)
    try:
        ready = _prepare(config)
    except BaseException as error:  # noqa: BLE001 - imports can raise anything; the driver reports it
        trace = "".join(traceback.format_exception(error))[-_MAX_TRACE:]
        control.send(json.dumps({"ready": False, "trace": trace}).encode("ascii"))
        os._exit(1)
    message = json.dumps(ready).encode("ascii")
    if config["complete"]:
        serve(control, message, _DUMMIES if config["valgrind"] else 0)
    else:
        control.send(message)
        if not select.select([control], (), (), _IDLE_S)[0]:
            _import_unpickler()
            _freeze()
        serve(control)
    os._exit(0)


def _prepare(config: Message) -> Message:
    _extend_path(config["roots"])
    modules = [import_module(name) for name in config["imports"]]
    if config["complete"]:
        _import_unpickler()
    for stream in (sys.stdout, sys.stderr):  # as on a terminal, so that output before a crash is kept
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable()
    faulthandler.register(DUMP_SIGNAL)
    _freeze()
    if config["valgrind"]:
        prepare_to_count()
        _freeze()
    if config["valgrind"]:
        fill_arenas()
        start_pages()
        gc.freeze()
    return {
        "ready": True,
        "pid": os.getpid(),
        "python": sys.version.split()[0],
        "packages": [
            [module.__name__, module.__version__] for module in modules if hasattr(module, "__version__")
        ],
    }


def _extend_path(roots: list[str]) -> None:
    """Add folders before the environment's own packages, so that imports match the driver's."""
    at = next((index for index, folder in enumerate(sys.path) if folder.endswith("-packages")), len(sys.path))
    sys.path[at:at] = [folder for folder in roots if folder not in sys.path]


def _import_unpickler() -> None:
    """Import the modules that read and call functions sent by value."""
    with contextlib.suppress(ImportError):
        import_module("cloudpickle")
    from . import calling  # noqa: F401


def _freeze() -> None:
    """Exclude existing objects from garbage collection, which takes long in rehearsals and copies memory."""
    gc.collect()
    gc.freeze()


def serve(control: socket.socket, ready: bytes = b"", dummies: int = 0) -> None:
    """Fork a child whenever the driver requests it, until the driver ends.

    Each request gets two replies: the child's PID after the fork, and its wait status at its end. `ready`,
    if not empty, is sent first. Nothing here keeps memory between requests, and dummies run the same code
    before the first one, so that all children's heaps are alike.
    """
    order = bytearray(len(FORK))
    report = bytearray(_STATUS.size)
    for _ in range(dummies):
        _turn(None, report)
    if ready:
        control.send(ready)
    while control.recv_into(order):
        if order == FORK:
            _turn(control, report)
            control.send(report)


def _turn(control: socket.socket | None, report: bytearray) -> None:
    """Fork a child, wait for it and store its status; without `control`, the child ends at once."""
    pid = os.fork()
    if pid == 0:
        if control is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            live(control)
    if control is not None:
        _STATUS.pack_into(report, 0, pid)
        control.send(report)
    _STATUS.pack_into(report, 0, os.waitpid(pid, 0)[1])
