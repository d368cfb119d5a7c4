"""The zygote: a fresh interpreter that has imported what jobs need, and forks a child for each.

It runs one thread, imports nothing of the user and, without Valgrind, computes nothing: a process
that has run a parallel OpenMP region has children that hang in theirs. Under Valgrind it has one thread at
any rate, and rehearses: children inherit the translated code.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import socket
import struct
import sys
from importlib import import_module

from . import child
from .failures import as_text
from .kernel import die_with_parent
from .messages import FORK, Message
from .rehearsing import prepare_to_count, settle_heap

_STATUS = struct.Struct(">i")


def main(config_text: str) -> None:
    """Import what the configuration says, tell the driver at the other end of stdin, and serve it."""
    die_with_parent()
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    try:
        ready = _prepare(json.loads(config_text))
    except BaseException as error:  # noqa: BLE001 - whatever an import raises, the driver is to read it
        control.send(json.dumps({"ready": False, "trace": as_text(error)[-60_000:]}).encode("ascii"))
        os._exit(1)
    control.send(json.dumps(ready).encode("ascii"))
    serve(control)
    os._exit(0)


def _prepare(config: Message) -> Message:
    at = next((place for place, folder in enumerate(sys.path) if folder.endswith("-packages")), len(sys.path))
    sys.path[at:at] = [folder for folder in config["roots"] if folder not in sys.path]
    modules = [import_module(name) for name in config["imports"]]
    for stream in (sys.stdout, sys.stderr):  # as on a terminal: what comes before a crash is to be seen
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable()
    if config["valgrind"]:
        prepare_to_count()
    packages = [[module.__name__, str(getattr(module, "__version__", "?"))] for module in modules]
    gc.collect()
    gc.freeze()
    if config["valgrind"]:
        settle_heap()
    return {"ready": True, "pid": os.getpid(), "python": sys.version.split()[0], "packages": packages}


def serve(control: socket.socket) -> None:
    """Fork a child whenever the driver says so, wait for it and tell its wait status, until the driver ends.

    Nothing here keeps memory from one turn to the next: the children's heaps are all alike.
    """
    order = bytearray(len(FORK))
    report = bytearray(_STATUS.size)
    while control.recv_into(order):
        if order != FORK:
            continue
        pid = os.fork()
        if pid == 0:
            child.live(control)
        _STATUS.pack_into(report, 0, os.waitpid(pid, 0)[1])
        control.send(report)
