"""Pickling: functions by name, those of `__main__` by value, tensors by number; what cannot be copied.

Each storage of tensors is sent once. It keeps its size and its tensors' offsets, and bytes that no tensor
uses are a hole in the file.
"""

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
from typing import TYPE_CHECKING, Any

import cloudpickle

from profkit.measuring.worker.unpack import DECORATED, Loader, PayloadFile, plain

if TYPE_CHECKING:
    import torch


_CHUNK = 64 << 20
"""Memory of other devices is copied to the CPU in chunks of this size."""

Piece = tuple[int, int]
"""Start and end in bytes."""


class Storage:
    """One of torch's storages, and the bytes of it to transfer."""

    def __init__(self, number: int, storage: torch.UntypedStorage) -> None:
        self.number, self.size, self.device = number, storage.nbytes(), str(storage.device)
        self._storage = storage
        self._used: list[Piece] | None = None

    @property
    def address(self) -> int:
        """Address of the memory; 0 if the CPU cannot read it."""
        return self._storage.data_ptr() if self.device == "cpu" else 0

    def use(self, start: int, end: int) -> None:
        """Note that a tensor needs these bytes; without such a note, the whole storage is transferred."""
        self._used = [*(self._used or ()), (start, end)]

    def pieces(self) -> list[Piece]:
        """Return the bytes to transfer, in order, without overlaps."""
        merged: list[Piece] = []
        for start, end in sorted([(0, self.size)] if self._used is None else self._used):
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            elif start < end:
                merged.append((start, end))
        return merged

    def read(self, piece: Piece) -> Iterator[memoryview]:
        """Yield the bytes of a piece; on the CPU, without copying them."""
        start, end = piece
        if self.device == "cpu":
            yield _memory(self.address + start, end - start)
            return
        torch = sys.modules["torch"]
        there = torch.empty(0, dtype=torch.uint8, device=self.device).set_(self._storage)
        for at in range(start, end, _CHUNK):
            here = there[at : min(at + _CHUNK, end)].cpu()
            yield _memory(here.data_ptr(), here.numel())


def _memory(address: int, size: int) -> memoryview:
    """Return a view of memory; its owner must outlive the view."""
    import ctypes  # torch has imported it

    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


class Storages:
    """Storages of one payload, numbered in order of appearance."""

    def __init__(self) -> None:
        self._known: dict[int, Storage] = {}

    def __iter__(self) -> Iterator[Storage]:
        return iter(self._known.values())

    def of(self, storage: torch.UntypedStorage) -> Storage:
        """Return the entry of a storage, equal for all Python objects of the same storage."""
        key: int = storage._cdata
        if key not in self._known:
            self._known[key] = Storage(len(self._known), storage)
        return self._known[key]

    def note(self, tensor: torch.Tensor) -> None:
        """Note the bytes that a tensor uses; its storage is pickled after it."""
        try:
            storage, itemsize = tensor.untyped_storage(), tensor.element_size()
            first = int(tensor.storage_offset()) * itemsize
            steps = sum(
                (int(size) - 1) * int(step) for size, step in zip(tensor.shape, tensor.stride(), strict=True)
            )
        except (NotImplementedError, RuntimeError):  # sparse and other tensors have no storage
            return
        if storage.device.type != "meta":
            self.of(storage).use(first, first + (steps + 1) * itemsize if tensor.numel() else first)


def torch_types() -> tuple[type, ...]:
    """Return the types of tensors and storages if the program has imported torch, else none."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "storage"):
        return ()
    return torch.Tensor, torch.storage.TypedStorage, torch.UntypedStorage


_IN_MEMORY = (io.StringIO, io.BytesIO)
_SHARED = (
    ("multiprocessing.shared_memory", "SharedMemory"),
    ("multiprocessing.managers", "BaseProxy"),
)
"""Classes whose copies stay connected to the original; only checked if the program imported them."""
_IMMUTABLE = 1 << 8
"""Py_TPFLAGS_IMMUTABLETYPE, in a class's `__flags__`."""
_KNOWN_TYPES = frozenset(
    {type(None), type(...), type(NotImplemented)}
    | {value for value in vars(types).values() if isinstance(value, type)}
)
"""Classes made by C code that cloudpickle finds under other names."""


def reason_against_copying(obj: Any) -> str | None:
    """Return why a copy of `obj` would not be equivalent; None if only pickling can decide."""
    kind = type(obj)
    is_file = any("fileno" in vars(base) for base in kind.__mro__)  # runs no code of the class
    is_output = obj is sys.stdout or obj is sys.stderr  # pickled by name: each process has its own
    if is_file and not issubclass(kind, _IN_MEMORY) and not is_output:
        return "open files, sockets and connections are not copied"
    if any(issubclass(kind, shared) for shared in _shared_classes()):
        return "objects that processes share are not copied"
    if issubclass(kind, type) and obj.__flags__ & _IMMUTABLE and not _is_found(obj):
        return f"its module has no class {obj.__qualname__}, which C code defines"
    return None


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
"""Result of `reducer_override`: a tuple as pickle defines it, or NotImplemented."""

_CACHED = type(functools.lru_cache(len))
_REGISTERING = threading.RLock()
"""Held while modules are registered by value with cloudpickle, which is global to the process."""


def _renew_lock() -> None:
    """Replace the lock in a forked child, where its holder does not exist."""
    global _REGISTERING
    _REGISTERING = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class _Nowhere:
    """Sink that discards a pickle."""

    def write(self, data: Any) -> int:
        return len(data)


class TravelPickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickler for `worker.unpack`: memory goes to `buffers` and `storages`, in the order of their numbers.

    A decorated function is pickled as the plain one. Functions and classes of a module are pickled by name
    if a fresh process would import that module from the same file, else by value.
    """

    def __init__(self, sink: PayloadFile | _Nowhere) -> None:
        self.buffers: list[pickle.PickleBuffer] = []
        self.storages = Storages()
        self.packages: set[str] = set()
        self.has_code = False
        """True if functions are pickled by value, which other versions of Python cannot run."""
        self._by_value: dict[str, bool] = {}
        self._torch = torch_types()
        super().__init__(sink, protocol=5, buffer_callback=self.buffers.append)

    def dump(self, obj: object) -> None:
        """Write the pickle of `obj`; errors of its objects' own code propagate."""
        with _REGISTERING:
            before = cloudpickle.list_registry_pickle_by_value()
            try:
                super().dump(obj)
            finally:
                for name in cloudpickle.list_registry_pickle_by_value() - before:
                    cloudpickle.unregister_pickle_by_value(sys.modules[name])

    def reducer_override(self, obj: Any) -> Reduced:
        """See `pickle.Pickler.reducer_override`; for wrappers, only the type is examined."""
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
        _, typed_storage, untyped_storage = self._torch
        if issubclass(type(obj), typed_storage):
            return Loader.typed_storage, (self.storages.of(obj._untyped_storage).number, obj.dtype)
        if issubclass(type(obj), untyped_storage):
            return Loader.untyped_storage, (self.storages.of(obj).number,)
        self.storages.note(obj)
        if obj.is_leaf and obj.grad is not None:
            made = obj.__reduce_ex__(5)  # subclasses with their own state have a longer tuple
            return (*made, obj.grad, None, None, Loader.with_grad) if len(made) == 2 else made
        return NotImplemented

    def _note_home(self, obj: Any) -> None:
        name = getattr(obj, "__module__", None)
        if isinstance(name, str):
            self.packages.add(name.partition(".")[0])
            self._goes_by_value(name)

    def _goes_by_value(self, name: str) -> bool:
        """Return whether a module's definitions are pickled by value; if so, register it with cloudpickle."""
        module = sys.modules.get(name)
        if name not in self._by_value:
            self._by_value[name] = name == "__main__" or (module is not None and not is_importable(module))
            if self._by_value[name] and isinstance(module, ModuleType) and name != "__main__":
                cloudpickle.register_pickle_by_value(module)
        return self._by_value[name]

    def _is_decorated(self, function: FunctionType) -> bool:
        """Return whether the module holds profkit's wrapper under the function's name."""
        if self._goes_by_value(function.__module__):
            return False
        value: object = sys.modules.get(function.__module__)
        for name in function.__qualname__.split("."):
            value = getattr(value, name, None)
        return getattr(type(value), DECORATED, False) and plain(value) is function


def is_importable(module: ModuleType) -> bool:
    """Return whether a fresh process with this `sys.path` would import the module from the same place.

    A module without a spec is created by its parent package. A few modules, such as `_io`, have a
    `__name__` other than the name they are imported by.
    """
    known, (parent, _, _) = getattr(module, "__spec__", None), module.__name__.rpartition(".")
    above = sys.modules.get(parent) if parent else None
    if known is None:
        return above is not None and is_importable(above)
    found = _find_spec(known.name, getattr(above, "__path__", None))
    return found is not None and found.origin == known.origin


def _find_spec(name: str, path: Any) -> importlib.machinery.ModuleSpec | None:
    """Find a spec as an import does: `importlib.util.find_spec` uses `sys.modules` instead."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


_DEEPEST = 6


def reason_against(value: object) -> tuple[str, str] | None:
    """Return where in `value` pickling fails, in words that follow its name, and why; None if it succeeds."""
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
    except Exception as error:  # noqa: BLE001 - it is the result
        return error
    return None


def _parts(value: Any) -> Iterator[tuple[str, object]]:
    """Yield the parts of a value, each with words for the user."""
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
