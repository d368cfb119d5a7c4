"""Plain calls: run a function and send its result or its exception.

Its imports take long, compared with the start of a zygote, and only plain calls need them.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Awaitable, Callable
from typing import cast

from .protocol import Message, blocking_socket, identity_of, send
from .source import as_reply
from .unpack import PayloadFile, TooBig, unpack

MAX_RESULT_BYTES = 1 << 30


class CannotReturn(Exception):
    """A result cannot be sent to the caller; the message says why."""


def prepare(message: Message, payload: int, channel: int) -> Callable[[], object]:
    """Return the call in a payload, and report to the driver that it begins.

    Raises what importing the function's module raises.
    """
    function, args, kwargs = unpack(payload)

    def call() -> object:
        result = function(*args, **kwargs)
        return _awaited(cast("Awaitable[object]", result)) if message["coroutine"] else result

    with blocking_socket(os.dup(channel)) as connection:
        send(connection, {"begun": True})
    return call


def reply_of(call: Callable[[], object], file: int) -> Message:
    """Make a call, write its result or its exception to a file, and return the reply."""
    identity = identity_of(file)
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - sys.exit of the function gives a reply, too
        return {**as_reply(error), "raised": identity_of(file) == identity and _write_exception(error, file)}
    try:
        if identity_of(file) != identity:
            raise CannotReturn("the function closed the descriptor of its result")
        _write(result, file)
    except Exception as error:  # noqa: BLE001 - pickling its objects can raise anything
        return {**as_reply(error), "unsendable": type(result).__qualname__}
    return {"ok": True}


def _awaited(awaitable: Awaitable[object]) -> object:
    import asyncio

    async def result() -> object:
        return await awaitable

    return asyncio.run(result())


def _write_exception(error: BaseException, file: int) -> bool:
    """Write an exception, and return whether it is read back with the same type."""
    if not isinstance(error, Exception):  # it would end the caller's program
        return False
    stream = io.BytesIO()
    try:
        _pickler()(stream, protocol=5).dump(error)
        again = pickle.loads(stream.getvalue())
        _write(error, file)
    except Exception:  # noqa: BLE001 - the reply then has the traceback's text only
        return False
    return type(again) is type(error)


def _write(value: object, file: int) -> None:
    buffers: list[pickle.PickleBuffer] = []
    written = PayloadFile(file, MAX_RESULT_BYTES)
    try:
        _pickler()(written, protocol=5, buffer_callback=buffers.append).dump(value)
        written.end(buffers)
    except TooBig:
        raise CannotReturn(f"it is larger than {MAX_RESULT_BYTES >> 20} MB") from None


def _pickler() -> type[pickle.Pickler]:
    """Return cloudpickle's pickler, if installed, for objects that cannot be imported by name."""
    try:
        import cloudpickle
    except ImportError:
        return pickle.Pickler
    return cloudpickle.CloudPickler  # type: ignore[no-any-return]
