"""The child: one process per job. It sets up its environment, runs the job, replies and ends."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import NoReturn, cast

from .cases import with_baseline, with_cases
from .counting import attribute_case, count_case
from .heap import start_pages
from .processes import c_library, die_with_parent
from .protocol import (
    CANNOT_REPLY,
    Counts,
    JobMessage,
    Message,
    StartOver,
    Times,
    blocking_socket,
    from_file,
    identity_of,
    receive_descriptors,
    send,
)
from .runnable import Runnable
from .source import as_reply, unwrapped
from .timing import no_collector, times_of


def apply_surroundings(job: Message) -> None:
    """Apply the job's folder, path, environment and cores; raises OSError if one does not exist."""
    if (numpy_random := sys.modules.get("numpy.random")) is not None:
        # So that forks draw different numbers, as processes that have just imported numpy. Python's `random`
        # reseeds itself after a fork, and torch always starts with the same seed.
        numpy_random.seed()
    os.chdir(job["cwd"])
    for name, value in job["env"].items():  # each takes 0.25 ms under Valgrind
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if job["path"]:  # else this environment keeps its own
        sys.path[:] = job["path"]
    sys.path[:0] = job.get("first", ())
    if job["cores"]:
        os.sched_setaffinity(0, job["cores"])


def refuse_modules_of_checkout(job: Message) -> None:
    """Raise ImportError if a module came from the caller's checkout although the job's copy has it.

    Import hooks of editable installs ignore copies; then the measured code is not that of the commit.
    """
    if "moved" not in job:
        return
    checkout, copy = map(os.path.realpath, job["moved"])
    for name, module in tuple(sys.modules.items()):
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        path = os.path.realpath(file) if isinstance(file, str) else ""
        if not path.startswith(checkout + os.sep) or path.startswith(os.path.realpath(sys.prefix) + os.sep):
            continue
        if name.split(".")[0] != __package__ and os.path.exists(copy + path.removeprefix(checkout)):
            raise ImportError(
                f"{name} was imported from {path}, which is not in the commit's work tree; add its folder to "
                "PYTHONPATH, or install it without import hooks (for setuptools: --config-settings "
                "editable_mode=compat)"
            )


def perform(message: Message, payload_fd: int | None = None) -> Message:
    """Run a job (`protocol.JobMessage`) in this process and return the reply.

    That has "ok", and "cases", one for each of the job's; for a canary, "versions" of the modules that it
    imported, "" for one without. Raises what the user's code raises. `payload_fd` is the payload, for cases
    without text.
    """
    job = cast(JobMessage, message)
    try:
        with no_collector():
            if job["mode"] == "canary":
                modules = {name: importlib.import_module(name) for name in job["imports"]}
                versions = {name: str(getattr(one, "__version__", "")) for name, one in modules.items()}
                return {"ok": True, "versions": versions}
            return {"ok": True, "cases": _measured_cases(job, payload_fd)}
    except RuntimeError as error:
        unwrapped_error = unwrapped(error)
        if unwrapped_error is error:
            raise
        raise unwrapped_error from None


def _measured_cases(job: JobMessage, payload_fd: int | None) -> Sequence[Times | Counts | StartOver]:
    if job["mode"] == "timer":
        return with_cases(job, payload_fd, lambda measured: times_of(measured, job))
    count: Callable[[Runnable, Runnable, int, JobMessage], Counts | StartOver] = count_case
    if job["mode"] == "attribution":
        from . import trampoline

        count = partial(attribute_case, descriptor=trampoline.activate())

    def counts(index: int) -> Counts | StartOver:
        return with_baseline(
            job, index, payload_fd, lambda measured, baseline: count(measured, baseline, index, job)
        )

    return [counts(index) for index in range(len(job["cases"]))]


def live(control: socket.socket) -> NoReturn:
    """Run the job that waits in `control`, and end without Python's shutdown.

    Ends by SIGKILL to a process group of its own: Valgrind would write another dump at an exit, and also at
    a signal to the process alone, which it handles itself.
    """
    die_with_parent()
    if work(control):
        with contextlib.suppress(PermissionError):  # the leader of a session has its own group already
            os.setpgid(0, 0)
        os.kill(-os.getpid(), signal.SIGKILL)
    os._exit(CANNOT_REPLY)


def work(control: socket.socket) -> bool:
    """Receive a job from `control`, run it and reply; return False if the reply cannot be sent.

    Descriptors: the channel of the reply, the job's output, the job, optionally its payload, and for a call
    the file of its result.
    """
    channel, output, message, *more = receive_descriptors(control)
    identity = identity_of(channel)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    job = from_file(message)
    reply = _call(job, channel, *more) if job["mode"] == "call" else _perform(job, *more)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed or replaced
            stream.flush()
    c_library().fflush(None)
    # The job may have closed our descriptors, and a file of its own may have the number now.
    return identity_of(channel) == identity is not None and _reply(channel, reply)


def _perform(job: Message, payload: int | None = None) -> Message:
    try:
        apply_surroundings(job)
        if job["mode"] == "callgrind":
            start_pages()
        reply = perform(job, payload)
        refuse_modules_of_checkout(job)
        return reply
    except BaseException as error:  # noqa: BLE001 - sys.exit and Ctrl-C of the job give a reply, too
        return as_reply(error)


def _call(job: Message, channel: int, payload: int, result: int) -> Message:
    try:
        from . import calling

        apply_surroundings(job)
        call = calling.prepare(job, payload, channel)
    except BaseException as error:  # noqa: BLE001 - importing the function may raise anything
        return as_reply(error)
    return calling.reply_of(call, result)


def _reply(channel: int, reply: Message) -> bool:
    with blocking_socket(channel) as connection:
        try:
            send(connection, reply)
        except OSError:  # the driver gave up
            return False
    return True
