"""Payloads: a call in a sealed memory file, its largest size; and which results may be unpickled.

Reading a pickle runs code that the pickle names. So this process creates the file of a result, passes it
only to the worker, and reads it sealed, after the worker's end. A worker of this process's own interpreter
runs the caller's function, as the caller's user, with modules that the caller imports too: its pickles are
read without restriction. Another interpreter has other modules, which must run nothing here: only plain data
is read from its pickles.
"""

from __future__ import annotations

import builtins
import fcntl
import inspect
import logging
import os
import pickle
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from profkit.errors import CannotTravel
from profkit.measuring.transfer.pickling import Storage, TravelPickler, reason_against
from profkit.measuring.transfer.signature import signature_of
from profkit.measuring.worker.protocol import file_of
from profkit.measuring.worker.unpack import PayloadFile, StorageEntry, TooBig, plain, read_index, read_memory
from profkit.model.region import RegionKind, code_of, kind_of, readable

SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
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


def payload_file(content: bytes) -> int:
    """Return a new payload's descriptor with the content of another one, as it arrives from elsewhere."""
    fd = file_of(content)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd


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
        storages = [_write_storage(file, storage) for storage in pickler.storages]
        file.end(pickler.buffers, storages, has_code=pickler.has_code)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    except TooBig:
        problem = f"it is larger than {most_bytes >> 20} MB"
        raise CannotTravel(f"the call of {_name(call[0])} with its arguments", problem) from None
    except Exception as error:
        raise _refusal(call, error) from error
    return file.sent_bytes, pickler.packages


def _write_storage(file: PayloadFile, storage: Storage) -> StorageEntry:
    offset, pieces = file.reserve(storage.address, storage.size), storage.pieces()
    for piece in pieces:
        at = offset + piece[0]
        for memory in storage.read(piece):
            file.write_at(at, memory)
            at += len(memory)
    return StorageEntry(offset=offset, size=storage.size, device=storage.device, pieces=pieces)


def _payload(fd: int, call: Call, size_bytes: int, packages: set[str]) -> Payload:
    function, args, kwargs = call
    target = plain(function)
    what, file, line = what_and_where(function, args, kwargs)
    packages = packages | _packages_around(target)
    return Payload(
        fd=fd,
        size_bytes=size_bytes,
        what=what,
        file=file,
        line=line,
        coroutine=kind_of(target) is RegionKind.COROUTINE,
        packages=tuple(name for name in _PRELOADS if name in packages),
    )


def what_and_where(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[str, str, int]:
    """Return a call as in `Payload.what`, and its function's file and line."""
    target = plain(function)
    home = getattr(target, "__module__", None) or type(target).__module__
    what, code = f"{home}:{_name(function)}({signature_of(args, kwargs)})", code_of(target)
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


def _name(function: object) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return readable(str(named.__qualname__))


_PLAIN = {
    "builtins": {"bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list",
                 "range", "set", "slice", "str", "tuple"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "pathlib": {"PosixPath", "PurePosixPath"},
    "uuid": {"UUID"},
}  # fmt: skip
"""Classes that a pickle of another interpreter may name: values without behaviour of their own."""


class NotPlain(Exception):
    """A result of another interpreter is not plain data; never leaves `profkit.isolated`."""

    def __init__(self, module: str, name: str) -> None:
        self.kind = f"{module}.{name}"
        super().__init__("another interpreter can return only plain data")


def new_result() -> int:
    """Return the descriptor of a new file for a result; the caller closes it."""
    return os.memfd_create("profkit-result", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def read_result(descriptor: int, *, trusted: bool) -> Any:
    """Return the object in the result file of an ended worker.

    Raises NotPlain if it holds more than plain data and is not `trusted`, ValueError if the file is
    malformed, and OSError if another process can still write to it. Exceptions of its objects' own code
    propagate.
    """
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    size, index = read_index(descriptor)
    memory = read_memory(descriptor, size)  # a mapping of the file would keep a reference to it
    view = memoryview(memory)
    buffers = [view[offset : offset + length] for offset, length in index["buffers"]]
    return (pickle.Unpickler if trusted else _PlainUnpickler)(memory, buffers=buffers).load()


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a plain class or one of Python's own exceptions; raise NotPlain for others."""
        known = getattr(builtins, name, None) if module == "builtins" else None
        if isinstance(known, type) and issubclass(known, Exception):
            return known
        if name not in _PLAIN.get(module, ()):
            raise NotPlain(module, name)
        return super().find_class(module, name)
