"""Fingerprint all state that a call can reach, to detect what an execution changes."""

from __future__ import annotations

import functools
import gc
import io
import itertools
import operator
import os
import random
import sys
import types
import warnings
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

Content = tuple[Hashable, Iterable[object]]
Checksum = Callable[[memoryview], int]

NUMBERS = (int, float, complex, bool, types.NoneType)
ATOMS = frozenset((*NUMBERS, str, bytes, types.EllipsisType, types.NotImplementedType, range))
"""Types whose values are compared directly."""
_EMPTY: Content = ("", ())
_HEAP_TYPE = 1 << 9
"""Flag of types made by Python code, and of some made by C (Py_TPFLAGS_HEAPTYPE)."""


def content_of(value: Any, checksum: Checksum) -> Content:
    """Return a token that changes if the value itself changes, and the values that it contains.

    `checksum` is called with the memory of buffers, arrays and tensors.
    """
    kind = type(value)  # proxies report another class as `__class__`
    if issubclass(kind, _OPAQUE):
        return _EMPTY
    for kinds, read in _READERS:
        if issubclass(kind, kinds):
            token, below = read(value)
            return token, below if kind in _PLAIN else [*below, *_attributes(value)]
    if issubclass(kind, (bytearray, memoryview, array)):
        with suppress(ValueError, BufferError, TypeError):  # released, or not contiguous
            return checksum(memoryview(value)), ()
        return _EMPTY
    if (numpy := sys.modules.get("numpy")) is not None and issubclass(kind, numpy.ndarray):
        return _array(value, checksum)
    if (torch := sys.modules.get("torch")) is not None and issubclass(kind, torch.Tensor):
        return _tensor(value, checksum)
    if _is_random(value):
        return _EMPTY
    attributes = list(_attributes(value))
    return ("", attributes) if attributes or kind.__flags__ & _HEAP_TYPE else _reduced(value)


def token_of(values: tuple[object, ...]) -> Hashable | None:
    """Return a token of values that are all of `ATOMS`, else None."""
    kinds = tuple(map(type, values))
    if not ATOMS.issuperset(kinds):
        return None
    return hash(values), hash(kinds), values.count(-1)  # -1 and -2 have the same hash, and 1 == 1.0


def _sequence(value: Any) -> Content:
    kind = next(kind for kind in (list, tuple, deque) if issubclass(type(value), kind))
    items = tuple(kind.__iter__(value))
    token = token_of(items)
    return (len(items), items) if token is None else (token, ())


def _mapping(value: Any) -> Content:
    keys, values = tuple(dict.keys(value)), tuple(dict.values(value))
    named, token = token_of(keys), token_of(values)
    if named is None:
        return len(keys), (*keys, *values)
    return (named, values) if token is None else ((named, token), ())


def _suspended(value: Any) -> Content:
    frames = (getattr(value, name, None) for name in ("gi_frame", "cr_frame", "ag_frame"))
    frame = next((frame for frame in frames if frame is not None), None)
    return ("ended", ()) if frame is None else (frame.f_lasti, tuple(frame.f_locals.values()))


def _file(value: Any) -> Content:
    with suppress(OSError, ValueError):  # closed, or cannot seek
        return (value.tell(), value.getvalue() if isinstance(value, io.BytesIO | io.StringIO) else ""), ()
    return "", ()


def _iterator(value: Any) -> Content:
    """Return the content of an iterator of itertools; from 3.14 on, what the garbage collector sees of it."""
    left, below = _reduced(value)
    if below:
        return left, below
    below = [other for other in gc.get_referents(value) if not isinstance(other, type)]
    return repr(value) if isinstance(value, itertools.count | itertools.repeat) else "", below


_READERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Content]], ...] = (
    ((list, tuple, deque), _sequence),
    (dict, _mapping),
    ((set, frozenset), lambda value: (hash(frozenset(value)), ())),  # the hashes of its items are cached
    (types.MethodType, lambda value: ("", (value.__func__, value.__self__))),
    (functools.partial, lambda value: ("", (value.func, value.args, value.keywords))),
    (
        types.CellType,
        lambda value: ("", (value.cell_contents,)) if value != types.CellType() else ("empty", ()),
    ),
    ((types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType), _suspended),
    (io.IOBase, _file),
    # A C function is bound to an object or to its module.
    (types.BuiltinFunctionType, lambda value: ("", (value.__self__,))),
    (tuple(kind for kind in vars(itertools).values() if isinstance(kind, type)), _iterator),
)
_OPAQUE = (types.ModuleType, types.CodeType, types.FrameType, random.Random, slice)
"""Types without content; modules are inspected only for names that the user's functions use."""
_PLAIN = frozenset(
    (list, tuple, deque, dict, set, frozenset, types.MethodType, types.CellType, types.BuiltinFunctionType)
)
"""Types whose instances have no attributes of their own."""


def _array(value: Any, checksum: Checksum) -> Content:
    shape = (value.shape, value.dtype.str)
    if value.dtype.hasobject:
        return shape, tuple(value.ravel().tolist())
    whole = value if value.flags.c_contiguous else value.copy()
    return (*shape, checksum(memoryview(whole.reshape(-1).view("u1")))), ()


def _tensor(value: Any, checksum: Checksum) -> Content:
    token = (tuple(value.shape), str(value.dtype), value.requires_grad)
    below = (value.grad,) if value.is_leaf else ()
    if value.device.type != "cpu" or str(value.layout) != "torch.strided":
        return (*token, value._version), below  # counts in-place changes by torch
    # Fake tensors have no memory: torch raises RuntimeError, or warns.
    with suppress(RuntimeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = value.untyped_storage()
        size, address = storage.nbytes(), storage.data_ptr()
        if size and address:
            import ctypes  # torch has imported it

            memory = memoryview((ctypes.c_char * size).from_address(address))
            return (*token, value.storage_offset(), checksum(memory)), below
    return (*token, value._version), below


def _is_random(value: object) -> bool:
    """Return whether a value is a random number generator, whose state always advances."""
    kind = type(value)
    return kind.__module__.startswith("numpy.random") or (kind.__module__, kind.__name__) in (
        ("torch._C", "Generator"),
        ("torch", "Generator"),
    )


def _reduced(value: Any) -> Content:
    """Return the content of a C object from its pickled form; for iterators, their remaining length."""
    left, below = -1, ()
    with suppress(Exception):  # can raise anything
        left = operator.length_hint(value, -1)
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and 3.13 warn of it for itertools
        made = value.__reduce_ex__(4)
        below = made[1:] if isinstance(made, tuple) else ()
    return left, below


def _attributes(value: object) -> Iterator[object]:
    """Yield the attributes of an instance: its dictionary and its slots."""
    with suppress(AttributeError):
        found = object.__getattribute__(value, "__dict__")
        if isinstance(found, Mapping):
            yield found
    for base in type(value).__mro__:
        if "__slots__" in vars(base):
            for slot in vars(base).values():
                if isinstance(slot, types.MemberDescriptorType):
                    with suppress(AttributeError):
                        yield slot.__get__(value)


MAX_OBJECTS = 100_000
"""Maximum number of objects to inspect, which takes 0.1 s; a list of numbers is one."""
MAX_BYTES = 1 << 30
"""Maximum size of buffers, arrays and tensors."""

_CACHED = type(functools.lru_cache(len))


@dataclass(frozen=True, slots=True)
class Global:
    """A name of a module, which functions look up at each execution."""

    module: str
    name: str

    def __str__(self) -> str:
        return self.name if self.module == "__main__" else f"{self.name} of module {self.module}"


@dataclass(frozen=True, slots=True)
class State:
    """Fingerprints by description of the fingerprinted object."""

    values: Mapping[str, int] = field(default_factory=dict)
    globals: Mapping[str, Global] = field(default_factory=dict)
    """Globals of modules by the same descriptions; not those of functions sent by value."""
    whole: bool = True
    """True if everything was inspected; else there are no values."""

    def changes(self, later: State) -> tuple[str, ...]:
        """Return the descriptions of values that differ in a later state, among those in both."""
        return tuple(name for name, value in self.values.items() if later.values.get(name, value) != value)


def state_of(
    roots: Mapping[str, object],
    code: types.CodeType | None = None,
    namespace: Mapping[str, object] | None = None,
    most_objects: int = MAX_OBJECTS,
) -> State:
    """Return the state of named values and of the globals that `code` uses from its namespace."""
    walk = _Walk(most_objects)
    try:
        if code is not None and namespace is not None:
            walk.note_globals(code, namespace)
        values = {name: walk.fingerprint(value) for name, value in roots.items()}
        while walk.found:
            words, value = walk.found.popitem()
            values[words] = walk.fingerprint(value)
    except _TooMuch:
        return State(whole=False)
    except Exception:  # noqa: BLE001 - objects may raise when inspected; they are measured anyway
        return State(whole=False)
    return State(values, walk.globals)


class _TooMuch(Exception):
    """There is more state than the limits allow."""


class _Walk:
    """Traversal that visits each object once."""

    def __init__(self, most_objects: int) -> None:
        self.found: dict[str, object] = {}
        """Globals and class attributes that are not inspected yet."""
        self.globals: dict[str, Global] = {}
        self._objects_left, self._bytes_left = most_objects, MAX_BYTES
        self._known: dict[int, tuple[int, int, object]] = {}
        """(root, number within it, object) by `id`; keeping the object keeps its `id` unique."""
        self._roots = 0
        self._classes = set[type]()

    def fingerprint(self, root: object) -> int:
        digest, ahead, number = 0, [root], 0
        self._roots += 1
        while ahead:
            value = ahead.pop()
            kind = type(value)
            if kind in ATOMS:
                digest = hash((digest, token_of((value,))))
            elif issubclass(kind, type):
                digest = hash((digest, id(value)))
                self._note_class(cast(type, value))
            elif id(value) in self._known:
                other, position, _ = self._known[id(value)]
                # Its position in another root belongs to the fingerprint of that root.
                digest = hash((digest, other, position if other == self._roots else 0))
            else:
                self._objects_left -= 1
                if self._objects_left < 0:
                    raise _TooMuch
                self._known[id(value)] = self._roots, (number := number + 1), value
                token, below = self._content(value)
                digest = hash((digest, kind, token))
                ahead.extend(below)
        return digest

    def _content(self, value: object) -> Content:
        kind = type(value)
        if kind is types.FunctionType:
            return self._function(cast(types.FunctionType, value))
        if kind is _CACHED:
            return self._cache(cast("functools._lru_cache_wrapper[object]", value))
        token, below = content_of(value, self._checksum)
        return token, (*below, kind)

    def _cache(self, function: functools._lru_cache_wrapper[object]) -> Content:
        _, misses, _, size = function.cache_info()
        self.found[f"the cache of {getattr(function, '__qualname__', 'a function')}"] = (misses, size)
        return "", (function.__wrapped__,)

    def _checksum(self, memory: memoryview) -> int:
        self._bytes_left -= memory.nbytes
        if self._bytes_left < 0:
            raise _TooMuch
        import zlib  # few jobs need it

        return zlib.crc32(memory)

    def _function(self, function: types.FunctionType) -> Content:
        if _is_library_file(function.__code__.co_filename):
            return "", ()
        self.note_globals(function.__code__, function.__globals__)
        kept = (function.__defaults__, function.__kwdefaults__, function.__closure__, function.__dict__)
        return id(function.__code__), kept

    def _note_class(self, kind: type) -> None:
        """Find attributes of a class and its bases, and their methods' globals; they belong to no root."""
        for base in kind.__mro__:
            if base in self._classes or _is_of_library(base):
                continue
            self._classes.add(base)
            for name, value in list(vars(base).items()):
                plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
                if isinstance(plain, types.FunctionType):
                    self._function(plain)
                elif not name.startswith("__") and not hasattr(type(value), "__get__"):
                    self._find(f"{name} of class {base.__qualname__}", value)

    def note_globals(self, code: types.CodeType, namespace: Mapping[str, object]) -> None:
        """Find the globals that code uses, and the names that it uses from the user's modules."""
        names = frozenset(_names_in(code))
        for name in names & namespace.keys():
            value = namespace[name]
            if not isinstance(value, types.ModuleType):
                self._find_global(namespace, name)
            elif not _is_library_file(getattr(value, "__file__", None) or "<frozen"):
                for inner in names & vars(value).keys():
                    self._find_global(vars(value), inner)

    def _find_global(self, namespace: Mapping[str, object], name: str) -> None:
        module = sys.modules.get(str(namespace.get("__name__", "__main__")))
        variable = Global("__main__" if module is None else module.__name__, name)
        if module is not None and vars(module) is namespace:
            self.globals[str(variable)] = variable
        self._find(str(variable), namespace[name])

    def _find(self, words: str, value: object) -> None:
        if not isinstance(value, (*NUMBERS, types.ModuleType)) and id(value) not in self._known:
            self.found.setdefault(words, value)


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names_in(inner)


def _is_of_library(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    if module is None or module.__name__ == "__main__":
        return False
    return _is_library_file(getattr(module, "__file__", None) or "<frozen")


@functools.cache
def _is_library_file(file: str) -> bool:
    """Return whether a file is part of Python, an installed package or the worker."""
    library = os.path.dirname(os.__file__) + os.sep
    return file.startswith(("<frozen", library, os.path.dirname(__file__) + os.sep)) or "-packages/" in file
