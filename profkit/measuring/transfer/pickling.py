"""Pickle functions of modules by name, those of `__main__` by value, and tensors by number."""

from __future__ import annotations

import functools
import importlib.machinery
import io
import os
import pickle
import sys
import threading
import types
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Protocol

import cloudpickle

from profkit.measuring.transfer.tensors import Storages, is_storage, is_typed_storage, torch_types
from profkit.measuring.worker.unpack import DECORATED, Loader, plain

_IN_MEMORY = (io.StringIO, io.BytesIO)
_SHARED = (
    ("multiprocessing.shared_memory", "SharedMemory"),
    ("multiprocessing.managers", "BaseProxy"),
)
"""Classes of which a copy is connected to the original; looked for only if the program imported them."""
_IMMUTABLE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE, in a class's `__flags__`."""
_KNOWN_TYPES = frozenset(
    {type(None), type(...), type(NotImplemented)}
    | {value for value in vars(types).values() if isinstance(value, type)}
)
"""Classes of C code that cloudpickle finds under other names."""


def reason_against_copying(obj: Any) -> str | None:
    """Return why a copy of `obj` would not be what `obj` is; None if pickling decides."""
    kind = type(obj)
    if _has_descriptor(kind) and not issubclass(kind, _IN_MEMORY) and not _is_output(obj):
        return "open files, sockets and connections are not copied"
    if any(issubclass(kind, shared) for shared in _shared_classes()):
        return "what several processes share is not copied"
    if issubclass(kind, type) and obj.__flags__ & _IMMUTABLE and not _is_found(obj):
        return f"its module does not have the class {obj.__qualname__}, which is made by C code"
    return None


def _has_descriptor(kind: type) -> bool:
    """Return whether instances have a descriptor of the system's; runs no code of the class."""
    return any("fileno" in vars(base) for base in kind.__mro__)


def _is_output(obj: object) -> bool:
    """Return whether pickling names a stream that each process has of its own."""
    return obj is sys.stdout or obj is sys.stderr


def _shared_classes() -> tuple[type, ...]:
    modules = ((sys.modules.get(module), name) for module, name in _SHARED)
    found = (getattr(module, name, None) for module, name in modules if module is not None)
    return tuple(kind for kind in found if isinstance(kind, type))


def _is_found(kind: type) -> bool:
    if kind in _KNOWN_TYPES:
        return True
    value: object = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        value = getattr(value, name, None)
    return value is kind


Reduced = Any
"""What `reducer_override` gives: a tuple of pickle's, or NotImplemented."""

_CACHED = type(functools.lru_cache(len))
_REGISTERING = threading.RLock()
"""Which modules go by value is told to cloudpickle for the whole process."""


def _renew_lock() -> None:
    """In a forked child nobody is left to release it."""
    global _REGISTERING
    _REGISTERING = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class Sink(Protocol):
    """What a pickle is written to."""

    def write(self, data: Any, /) -> int:
        """Take these bytes."""
        ...


class TravelPickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickles for `worker.unpack`: memory goes to `buffers` and `storages`, in the order of their numbers.

    A decorated function goes as the plain one. Functions and classes of a module go by name if a fresh
    process would import that module from the same file, else by value.
    """

    def __init__(self, sink: Sink) -> None:
        self.buffers: list[pickle.PickleBuffer] = []
        self.storages = Storages()
        self.packages: set[str] = set()
        self.has_code = False
        """Whether functions go by value, which other versions of Python cannot run."""
        self._by_value: dict[str, bool] = {}
        self._torch = torch_types()
        super().__init__(sink, protocol=5, buffer_callback=self.buffers.append)

    def dump(self, obj: object) -> None:
        """Write the pickle of `obj`; raises whatever its objects raise."""
        with _REGISTERING:
            before = cloudpickle.list_registry_pickle_by_value()
            try:
                super().dump(obj)
            finally:
                for name in cloudpickle.list_registry_pickle_by_value() - before:
                    cloudpickle.unregister_pickle_by_value(sys.modules[name])

    def reducer_override(self, obj: Any) -> Reduced:
        """See `pickle.Pickler.reducer_override`; of wrappers only the type is asked."""
        kind = type(obj)
        if getattr(kind, DECORATED, False):
            return Loader.same, (obj.__wrapped__,)
        if (why := reason_against_copying(obj)) is not None:
            raise pickle.PicklingError(why)
        self.packages.add(kind.__module__.partition(".")[0])
        self.has_code |= kind is CodeType
        if kind is FunctionType or issubclass(kind, type):
            self._note_home(obj)
            if kind is FunctionType and self._is_decorated(obj):
                return Loader.named, (obj.__module__, obj.__qualname__)
        elif kind is ModuleType:
            self._goes_by_value(obj.__name__)
        elif issubclass(kind, self._torch):
            return self._tensor(obj)
        elif kind is _CACHED and ("<" in obj.__qualname__ or self._goes_by_value(obj.__module__)):
            return Loader.cached, (obj.__wrapped__, *obj.cache_parameters().values())
        return super().reducer_override(obj)

    def _tensor(self, obj: Any) -> Reduced:
        if is_typed_storage(obj):
            return Loader.typed_storage, (self.storages.of(obj._untyped_storage).number, obj.dtype)
        if is_storage(obj):
            return Loader.untyped_storage, (self.storages.of(obj).number,)
        self.storages.note(obj)
        if obj.is_leaf and obj.grad is not None:
            made = obj.__reduce_ex__(5)  # of subclasses with a state of their own, that
            return (*made, obj.grad, None, None, Loader.with_grad) if len(made) == 2 else made
        return NotImplemented

    def _note_home(self, obj: Any) -> None:
        name = getattr(obj, "__module__", None)
        if isinstance(name, str):
            self.packages.add(name.partition(".")[0])
            self._goes_by_value(name)

    def _goes_by_value(self, name: str) -> bool:
        """Whether what this module defines goes by value, as cloudpickle is then told."""
        module = sys.modules.get(name)
        if name not in self._by_value:
            self._by_value[name] = name == "__main__" or (module is not None and not is_importable(module))
            if self._by_value[name] and isinstance(module, ModuleType) and name != "__main__":
                cloudpickle.register_pickle_by_value(module)
        return self._by_value[name]

    def _is_decorated(self, function: FunctionType) -> bool:
        """Whether the module has, by the function's name, what profkit made of it."""
        if self._goes_by_value(function.__module__):
            return False
        value: object = sys.modules.get(function.__module__)
        for name in function.__qualname__.split("."):
            value = getattr(value, name, None)
        return getattr(type(value), DECORATED, False) and plain(value) is function


def is_importable(module: ModuleType) -> bool:
    """Return whether a fresh process with this one's `sys.path` would have the module from the same place.

    What has no place of its own is made by the package that it lies in. A few modules have another
    `__name__` than they are imported by, such as `_io`.
    """
    known, (parent, _, _) = getattr(module, "__spec__", None), module.__name__.rpartition(".")
    above = sys.modules.get(parent) if parent else None
    if known is None:
        return above is not None and is_importable(above)
    found = _find_spec(known.name, getattr(above, "__path__", None))
    return found is not None and found.origin == known.origin


def _find_spec(name: str, path: Any) -> importlib.machinery.ModuleSpec | None:
    """As an import would: `importlib.util.find_spec` answers from `sys.modules`."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


_DEEPEST = 6


class _Nowhere:
    """Takes a pickle and keeps nothing."""

    def write(self, data: Any) -> int:
        return len(data)


def reason_against(value: object) -> tuple[str, str] | None:
    """Where in `value` something does not pickle, in words that follow its name, and why; None: all does."""
    error = _error_of(value)
    if error is None:
        return None
    where = ""
    for _ in range(_DEEPEST):
        if reason_against_copying(value) is not None:
            break
        for words, part in _parts(value):
            deeper = _error_of(part)
            if deeper is not None:
                where, value, error = where + words, part, deeper
                break
    return where, f"{type(value).__name__}: {error}" if where else str(error)


def _error_of(value: object) -> Exception | None:
    try:
        TravelPickler(_Nowhere()).dump(value)
    except Exception as error:  # noqa: BLE001 - it is the answer
        return error
    return None


def _parts(value: Any) -> Iterator[tuple[str, object]]:
    """What a value is made of, as a user would say it."""
    function = plain(value)
    if type(function) is FunctionType:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if cell != CellType():
                yield f", its variable {name!r}", cell.cell_contents
        for name in function.__code__.co_names:
            if name in function.__globals__:
                yield f", its global {name!r}", function.__globals__[name]
    elif isinstance(value, dict):
        yield from ((f"[{key!r:.40}]", part) for key, part in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{at}]", part) for at, part in enumerate(value))
    elif isinstance(getattr(value, "__dict__", None), dict):
        yield from ((f".{name}", part) for name, part in vars(value).items())
