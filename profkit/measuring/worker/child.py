"""The child: one process for one job. It takes its job from the driver itself, answers, and is gone."""

from __future__ import annotations

import os
import signal
import socket
from typing import NoReturn

from . import job as jobs
from .failures import as_reply
from .heap import start_pages
from .kernel import die_with_parent
from .messages import CANNOT_ANSWER, Message, blocking_socket, from_file, handed, identity_of, send
from .surroundings import flush_output, refuse_strays, send_output_to, take_on


def live(control: socket.socket) -> NoReturn:
    """Do the job that is waiting in `control`, and end without a trace of Python's own ending.

    SIGKILL, as Valgrind would write another dump at an exit.
    """
    die_with_parent()
    if work(control):
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(CANNOT_ANSWER)


def work(control: socket.socket) -> bool:
    """Take a job from `control`, do it and answer; False where the answer cannot be sent.

    Descriptors: the channel of the answer, the job's output, the job, perhaps its parcel, and for a call
    the file of its result.
    """
    channel, output, message, *more = handed(control)
    identity = identity_of(channel)
    send_output_to(output)
    job = from_file(message)
    reply = _call(job, channel, *more) if job["mode"] == "call" else _perform(job, *more)
    flush_output()
    # The job may have closed our descriptors, and a file of its own may bear the number now.
    return identity_of(channel) == identity is not None and _answer(channel, reply)


def _perform(job: Message, parcel: int | None = None) -> Message:
    try:
        take_on(job)
        if job["mode"] == "callgrind":
            start_pages()
        reply = jobs.perform(job, parcel)
        refuse_strays(job)
        return reply
    except BaseException as error:  # noqa: BLE001 - sys.exit and Ctrl-C of the job are answers as well
        return as_reply(error)


def _call(job: Message, channel: int, parcel: int, result: int) -> Message:
    try:
        from . import calling  # takes longer than a zygote may take to start

        take_on(job)
        call = calling.begin(job, parcel, channel)
    except BaseException as error:  # noqa: BLE001 - importing the function may raise anything
        return as_reply(error)
    return calling.answer(call, result)


def _answer(channel: int, reply: Message) -> bool:
    with blocking_socket(channel) as connection:
        try:
            send(connection, reply)
        except OSError:  # the driver gave up
            return False
    return True
