"""Plain calls: run a function and send its result or its exception.

Its imports take long, compared with the start of a zygote, and only plain calls need them.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import pickle
from collections.abc import Awaitable, Callable
from typing import cast

from .protocol import Message, blocking_socket, identity_of, send
from .tracebacks import as_reply
from .unpack import FOOTER, MAGIC, unpack

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
    try:
        again = pickle.loads(_dumped(error, None))
        _write(error, file)
    except Exception:  # noqa: BLE001 - the reply then has the traceback's text only
        return False
    return type(again) is type(error)


def _write(value: object, file: int) -> None:
    buffers: list[pickle.PickleBuffer] = []
    end = _append(file, 0, _dumped(value, buffers.append))
    spans: list[tuple[int, int]] = []
    for buffer in buffers:
        memory = buffer.raw()
        start = -(-end // mmap.PAGESIZE) * mmap.PAGESIZE
        spans.append((start, len(memory)))
        end = _append(file, start, memory)
    index = json.dumps({"buffers": spans, "storages": []}).encode("ascii")
    _append(file, _append(file, end, index), FOOTER.pack(MAGIC, end, len(index)))


def _append(file: int, end: int, data: bytes | memoryview) -> int:
    """Write at an offset and return the offset of its end."""
    if end + len(data) > MAX_RESULT_BYTES:
        raise CannotReturn(f"it is larger than {MAX_RESULT_BYTES >> 20} MB")
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file, rest, end)
        rest, end = rest[written:], end + written
    return end


def _dumped(value: object, take_buffer: Callable[[pickle.PickleBuffer], object] | None) -> bytes:
    """Return a pickle: by cloudpickle, if installed, for objects that cannot be imported by name."""
    stream = io.BytesIO()
    _pickler()(stream, protocol=5, buffer_callback=take_buffer).dump(value)
    return stream.getvalue()


def _pickler() -> type[pickle.Pickler]:
    try:
        import cloudpickle
    except ImportError:
        return pickle.Pickler
    return cloudpickle.CloudPickler  # type: ignore[no-any-return]
