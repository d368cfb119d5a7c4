"""Parcels: a function and its arguments in a file in memory, which any number of workers may read.

What a worker gets is what a fresh process would have, and then the arguments:

- A function or class of a module goes by name: the worker imports the module afresh, so code that was
  edited meanwhile is measured as it is now, with the module's globals as importing leaves them.
- A function or class of `__main__`, a nested function, and what a fresh process could not import, goes
  by value, with the globals that it uses as they are when it is packed; workers run no `__main__`.
- A decorated function goes as the plain one.
- Tensors go with their storage, shared between tensors as before, and with their gradients, but
  without their graph; arrays with their memory, each for itself.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from profkit.errors import CannotTravel
from profkit.measuring.travel.cargo import Cargo, TooBig
from profkit.measuring.travel.pickling import TravelPickler, reason_against
from profkit.measuring.travel.signature import signature_of
from profkit.measuring.worker.unpack import plain
from profkit.model.region import RegionKind, code_of, kind_of, readable

MOST_BYTES = 1 << 30
MANY_BYTES = 100 << 20
"""So much beside tensors and arrays is worth a warning: each worker makes it anew from the pickle."""

_PRELOADS = ("torch", "numpy")

_log = logging.getLogger("profkit")

Call = tuple[Callable[..., object], tuple[object, ...], dict[str, object]]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Parcel:
    """A packed call; its file lives until `close`, or until nobody has the parcel any more."""

    fd: int
    """Sealed, so nobody can change it. Read it with offsets of your own."""
    size_bytes: int
    what: str
    """`module:function(signature)`."""
    file: str
    """Where the function is defined; empty where that is not Python."""
    line: int
    coroutine: bool
    """Whether calling the function gives something to await."""
    packages: tuple[str, ...]
    """Of torch and numpy, what the worker will need."""
    _closing: weakref.finalize[[int], Parcel] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        closing = weakref.finalize(self, os.close, self.fd)
        closing.atexit = False  # the pool may still be measuring then
        object.__setattr__(self, "_closing", closing)

    def close(self) -> None:
        """Give the file up, once; workers that have it open go on."""
        if self._closing.detach() is not None:  # calling it does nothing once exit handlers run
            os.close(self.fd)


def pack(
    function: Callable[..., object],
    args: Iterable[object] = (),
    kwargs: Mapping[str, object] | None = None,
    most_bytes: int = MOST_BYTES,
) -> Parcel:
    """Pack a call as it is now; raises `CannotTravel`, which names what cannot be sent."""
    call: Call = function, tuple(args), dict(kwargs or {})
    fd = os.memfd_create("profkit-parcel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        return _parcel(fd, call, *_write(fd, call, most_bytes))
    except BaseException:
        os.close(fd)
        raise


def what_of(function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]) -> str:
    """A call as `Parcel.what` has it."""
    return f"{_home(plain(function))}:{_name(function)}({signature_of(args, kwargs)})"


def _write(fd: int, call: Call, most_bytes: int) -> tuple[int, set[str]]:
    """The bytes written, and the packages that what was written belongs to."""
    cargo = Cargo(fd, most_bytes)
    pickler = TravelPickler(cargo)
    try:
        pickler.dump(call)
        if cargo.sent_bytes > MANY_BYTES:
            _log.warning(
                "%s: %d MB beside tensors and arrays are copied to every process that measures it; "
                "make them in a setup, or load them in the function's module",
                _name(call[0]), cargo.sent_bytes >> 20,
            )  # fmt: skip
        cargo.load(pickler.buffers, pickler.storages, has_code=pickler.has_code)
    except TooBig:
        problem = f"it is more than {most_bytes >> 20} MB"
        raise CannotTravel(f"the call of {_name(call[0])} with its arguments", problem) from None
    except Exception as error:
        raise _refusal(call, error) from error
    return cargo.sent_bytes, pickler.packages


def _parcel(fd: int, call: Call, size_bytes: int, packages: set[str]) -> Parcel:
    function, args, kwargs = call
    target = plain(function)
    code = code_of(target)
    packages = packages | _packages_around(target)
    return Parcel(
        fd=fd,
        size_bytes=size_bytes,
        what=what_of(function, args, kwargs),
        file=code.co_filename if code else "",
        line=code.co_firstlineno if code else 0,
        coroutine=kind_of(target) is RegionKind.COROUTINE,
        packages=tuple(name for name in _PRELOADS if name in packages),
    )


def _refusal(call: Call, error: Exception) -> CannotTravel:
    """Which part of the call it is that does not pickle, and why."""
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
        yield f"argument {key!r} of {name} ({type(value).__qualname__})", value


def _parameters(function: Callable[..., object]) -> list[str]:
    """Names of positional parameters, as far as they can be known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # builtins
        return []
    return [
        item.name for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)
    ]


def _packages_around(function: object) -> set[str]:
    """Packages that the function's module, which the worker imports, has as globals."""
    module = sys.modules.get(str(getattr(function, "__module__", "")))
    values = (value for value in vars(module).values()) if module is not None else ()
    return {value.__name__.partition(".")[0] for value in values if type(value) is ModuleType}


def _home(function: object) -> str:
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _name(function: object) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return readable(str(named.__qualname__))
