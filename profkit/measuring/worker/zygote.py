"""The zygote: a fresh interpreter that has imported what jobs need, and forks a child for each.

It runs one thread, imports nothing of the user and, without Valgrind, computes nothing: a process
that has run a parallel OpenMP region has children that hang in theirs. Under Valgrind it has one thread at
any rate, and rehearses: children inherit the translated code.
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
from importlib import import_module

from . import child
from .calling import as_text
from .heap import fill_arenas, start_pages
from .processes import die_with_parent
from .protocol import DUMP_SIGNAL, FORK, Message, blocking_socket
from .rehearsal import prepare_to_count

_MOST_TRACE = 60_000
"""Characters that fit into a packet."""
_IDLE_S = 0.1
"""So long a zygote that is there at once waits for its first job before it imports more."""
_DUMMIES = 3
"""The first forks leave the heap in another state than later ones."""
_STATUS = struct.Struct(">i")


def main(config_text: str) -> None:
    """Import what the configuration says, tell the driver at the other end of stdin, and serve it."""
    die_with_parent()
    control = blocking_socket(os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    config = json.loads(config_text)
    try:
        ready = _prepare(config)
    except BaseException as error:  # noqa: BLE001 - whatever an import raises, the driver is to read it
        control.send(json.dumps({"ready": False, "trace": as_text(error)[-_MOST_TRACE:]}).encode("ascii"))
        os._exit(1)
    told = json.dumps(ready).encode("ascii")
    if config["complete"]:
        serve(control, told, _DUMMIES if config["valgrind"] else 0)
    else:
        control.send(told)
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
    for stream in (sys.stdout, sys.stderr):  # as on a terminal: what comes before a crash is to be seen
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable()
    faulthandler.register(DUMP_SIGNAL)
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
    """Before the environment's own packages: what the driver imports, the zygote shall."""
    at = next((place for place, folder in enumerate(sys.path) if folder.endswith("-packages")), len(sys.path))
    sys.path[at:at] = [folder for folder in roots if folder not in sys.path]


def _import_unpickler() -> None:
    """What functions that travel are read with, and called."""
    with contextlib.suppress(ImportError):
        import_module("cloudpickle")
    from . import calling  # noqa: F401


def _freeze() -> None:
    """Keep the collector of children off everything that is here, lest it copy memory."""
    gc.collect()
    gc.freeze()


def serve(control: socket.socket, ready: bytes = b"", dummies: int = 0) -> None:
    """Fork a child whenever the driver says so, until the driver ends.

    Each turn is answered twice: by the child's number once it is forked, and by its wait status at its end.
    `ready` is sent first, unless it has been. Nothing here keeps memory from one turn to the next, and
    dummies go the same way before the first one, so that the children's heaps are all alike.
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
    """Fork a child, wait for it and write its status; without a control it is a dummy, and ends at once."""
    pid = os.fork()
    if pid == 0:
        if control is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            child.live(control)
    if control is not None:
        _STATUS.pack_into(report, 0, pid)
        control.send(report)
    _STATUS.pack_into(report, 0, os.waitpid(pid, 0)[1])
