"""Payloads: a function and its arguments in a sealed memory file, readable by any number of workers."""

from __future__ import annotations

import fcntl
import inspect
import json
import logging
import mmap
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pickle import PickleBuffer
from types import ModuleType
from typing import Any

from profkit.errors import CannotTravel
from profkit.measuring.transfer.pickling import TravelPickler, reason_against
from profkit.measuring.transfer.signature import signature_of
from profkit.measuring.transfer.tensors import Storage
from profkit.measuring.worker.unpack import FOOTER, MAGIC, Index, StorageEntry, plain
from profkit.model.region import RegionKind, code_of, kind_of, readable

_SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


class TooBig(Exception):
    """The payload exceeds its maximum size; never leaves this package."""


class PayloadFile:
    """Memory file under construction; `sent_bytes` counts the bytes written."""

    def __init__(self, fd: int, most_bytes: int) -> None:
        self._fd, self._most_bytes, self._end = fd, most_bytes, 0
        self.sent_bytes = 0

    def write(self, data: Any) -> int:
        """Append an object with the buffer protocol, as pickle needs it; raise `TooBig` over the maximum."""
        view = memoryview(data).cast("B")
        self._write_at(self._end, view)
        self._end += len(view)
        return len(view)

    def load(
        self, buffers: Iterable[PickleBuffer], storages: Iterable[Storage], *, has_code: bool = False
    ) -> None:
        """Write the pickle's buffers and storages, and the index; seal the file. Raise `TooBig` if needed."""
        index = Index(
            buffers=[self._buffer(buffer.raw()) for buffer in buffers],
            storages=[self._storage(storage) for storage in storages],
            code_of=list(sys.version_info[:2]) if has_code else None,
        )
        text = json.dumps(index).encode()
        start = self._end
        self.write(text)
        self.write(FOOTER.pack(MAGIC, start, len(text)))
        fcntl.fcntl(self._fd, fcntl.F_ADD_SEALS, _SEALS)

    def _buffer(self, memory: memoryview) -> tuple[int, int]:
        offset = self._reserve(_address(memory), len(memory))
        self._write_at(offset, memory)
        return offset, len(memory)

    def _storage(self, storage: Storage) -> StorageEntry:
        offset, pieces = self._reserve(storage.address, storage.size), storage.pieces()
        for piece in pieces:
            at = offset + piece[0]
            for memory in storage.read(piece):
                self._write_at(at, memory)
                at += len(memory)
        return StorageEntry(offset=offset, size=storage.size, device=storage.device, pieces=pieces)

    def _reserve(self, address: int, size: int) -> int:
        """Reserve space at the same offset within a page as the original: alignment affects speed."""
        offset = self._end + (address - self._end) % mmap.PAGESIZE
        self._end = offset + size
        return offset

    def _write_at(self, offset: int, data: memoryview) -> None:
        self.sent_bytes += len(data)
        if self.sent_bytes > self._most_bytes:
            raise TooBig
        done = 0
        while done < len(data):  # the kernel takes at most 2 GiB at once
            done += os.pwrite(self._fd, data[done:], offset + done)


def _address(memory: memoryview) -> int:
    if memory.readonly or not len(memory):
        return 0
    import ctypes  # not above: with libffi 3.5, it keeps a descriptor open; numpy and torch have imported it

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


MAX_BYTES = 1 << 30
MANY_BYTES = 100 << 20
"""Size beside tensors and arrays that deserves a warning: each worker unpickles all of it."""

_PRELOADS = ("torch", "numpy")

_log = logging.getLogger("profkit")

Call = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Payload:
    """Packed call; its file lives until `close`, or until the payload is garbage."""

    fd: int
    """Sealed, so that no process can change it. Read it with explicit offsets."""
    size_bytes: int
    what: str
    """`module:function(signature)`."""
    file: str
    """File that defines the function; empty if it is not Python."""
    line: int
    coroutine: bool
    """True if calling the function returns an awaitable."""
    packages: tuple[str, ...]
    """Those of torch and numpy that the worker will need."""
    _closing: weakref.finalize[[int], Payload] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        closing = weakref.finalize(self, os.close, self.fd)
        closing.atexit = False  # the pool may still be measuring then
        object.__setattr__(self, "_closing", closing)

    def close(self) -> None:
        """Close the descriptor, once; workers that have the file open go on."""
        if self._closing.detach() is not None:  # calling it does nothing after exit handlers began
            os.close(self.fd)


def pack(
    function: Callable[..., object],
    args: Iterable[object] = (),
    kwargs: Mapping[str, object] | None = None,
    most_bytes: int = MAX_BYTES,
) -> Payload:
    """Pack a call as it is now; raise `CannotTravel`, which names the part that cannot be sent."""
    call: Call = function, tuple(args), dict(kwargs or {})
    fd = os.memfd_create("profkit-payload", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        return _payload(fd, call, *_write(fd, call, most_bytes))
    except BaseException:
        os.close(fd)
        raise


def pack_names(names: Mapping[str, object]) -> Payload:
    """Pack values that a statement reads by their names; raise `CannotTravel` as `pack`."""
    return pack(dict, kwargs=names)


def what_of(function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> str:
    """Return the description of a call in `Payload.what`."""
    return f"{_home(plain(function))}:{_name(function)}({signature_of(args, kwargs)})"


def _write(fd: int, call: Call, most_bytes: int) -> tuple[int, set[str]]:
    """Write a call; return its size in bytes and the packages of its objects."""
    file = PayloadFile(fd, most_bytes)
    pickler = TravelPickler(file)
    try:
        pickler.dump(call)
        if file.sent_bytes > MANY_BYTES:
            _log.warning(
                "%s: besides tensors and arrays, %d MB are copied to every process that measures it; "
                "create these objects in a setup, or load them in the function's module",
                _name(call[0]), file.sent_bytes >> 20,
            )  # fmt: skip
        file.load(pickler.buffers, pickler.storages, has_code=pickler.has_code)
    except TooBig:
        problem = f"it is larger than {most_bytes >> 20} MB"
        raise CannotTravel(f"the call of {_name(call[0])} with its arguments", problem) from None
    except Exception as error:
        raise _refusal(call, error) from error
    return file.sent_bytes, pickler.packages


def _payload(fd: int, call: Call, size_bytes: int, packages: set[str]) -> Payload:
    function, args, kwargs = call
    target = plain(function)
    code = code_of(target)
    packages = packages | _packages_around(target)
    return Payload(
        fd=fd,
        size_bytes=size_bytes,
        what=what_of(function, args, kwargs),
        file=code.co_filename if code else "",
        line=code.co_firstlineno if code else 0,
        coroutine=kind_of(target) is RegionKind.COROUTINE,
        packages=tuple(name for name in _PRELOADS if name in packages),
    )


def what_and_where(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[str, str, int]:
    """Return a call as in `Payload.what`, and its function's file and line."""
    what, code = what_of(function, args, kwargs), code_of(plain(function))
    return (what, code.co_filename, code.co_firstlineno) if code else (what, "", 0)


def _refusal(call: Call, error: Exception) -> CannotTravel:
    """Return an error that names the part of the call that cannot be pickled, and why."""
    for words, value in _named_parts(call):
        reason = reason_against(value)
        if reason is not None:
            where, why = reason
            return CannotTravel(f"{words}{where}", why)
    return CannotTravel(f"the call of {_name(call[0])}", f"{type(error).__name__}: {error}")


def _named_parts(call: Call) -> Iterator[tuple[str, object]]:
    function, args, kwargs = call
    name = _name(function)
    yield f"the function {name}", function
    names = _parameters(function)
    for at, value in enumerate(args):
        known = f" {names[at]!r}" if at < len(names) else f" {at + 1}"
        yield f"argument{known} of {name} ({type(value).__qualname__})", value
    for key, value in kwargs.items():
        where = key if function is dict else f"argument {key!r} of {name}"
        yield f"{where} ({type(value).__qualname__})", value


def _parameters(function: Callable[..., object]) -> list[str]:
    """Return the names of positional parameters, as far as they are known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # builtins
        return []
    return [
        item.name for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)
    ]


def _packages_around(function: object) -> set[str]:
    """Return the packages among the globals of the function's module, which the worker imports."""
    module = sys.modules.get(str(getattr(function, "__module__", "")))
    values = (value for value in vars(module).values()) if module is not None else ()
    return {value.__name__.partition(".")[0] for value in values if type(value) is ModuleType}


def _home(function: object) -> str:
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _name(function: object) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return readable(str(named.__qualname__))
