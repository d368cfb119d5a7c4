"""What a value of the user's is made of: a token of its own, and the values below it.

No code of the value's class runs, but for what objects of C say when they are pickled.
"""

from __future__ import annotations

import functools
import io
import operator
import random
import sys
import types
import warnings
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

Content = tuple[Hashable, Iterable[object]]
Checksum = Callable[[memoryview], int]

NUMBERS = (int, float, complex, bool, types.NoneType)
ATOMS = frozenset((*NUMBERS, str, bytes, types.EllipsisType, types.NotImplementedType, range))
"""Types whose values are compared as they are."""
_EMPTY: Content = ("", ())
_HEAP_TYPE = 1 << 9
"""Of types that Python code has made, and some of C (Py_TPFLAGS_HEAPTYPE)."""


def content_of(value: Any, checksum: Checksum) -> Content:
    """Return a token that changes if the value itself changes, and the values that it holds.

    `checksum` is called with the memory of buffers, arrays and tensors.
    """
    kind = type(value)  # proxies say of themselves that they are of another class
    if issubclass(kind, _OPAQUE):
        return _EMPTY
    for kinds, look in _LOOKS:
        if issubclass(kind, kinds):
            token, below = look(value)
            return token, below if kind in _PLAIN else [*below, *_attributes(value)]
    if issubclass(kind, (bytearray, memoryview, array)):
        with suppress(ValueError, BufferError, TypeError):  # released, or not in one piece
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
    """Return a token of values that can be compared at once; None if there are others among them."""
    kinds = tuple(map(type, values))
    if not ATOMS.issuperset(kinds):
        return None
    return hash(values), hash(kinds), values.count(-1)  # the hash of -1 is that of -2, and 1 equals 1.0


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


def _set(value: Any) -> Content:
    return hash(frozenset(value)), ()  # the hashes of its items are known


def _method(value: Any) -> Content:
    return "", (value.__func__, value.__self__)


def _partial(value: Any) -> Content:
    return "", (value.func, value.args, value.keywords)


def _cell(value: Any) -> Content:
    return ("", (value.cell_contents,)) if value != types.CellType() else ("empty", ())


def _suspended(value: Any) -> Content:
    frames = (getattr(value, name, None) for name in ("gi_frame", "cr_frame", "ag_frame"))
    frame = next((frame for frame in frames if frame is not None), None)
    return ("ended", ()) if frame is None else (frame.f_lasti, tuple(frame.f_locals.values()))


def _file(value: Any) -> Content:
    with suppress(OSError, ValueError):  # closed, or cannot seek
        return (value.tell(), value.getvalue() if isinstance(value, io.BytesIO | io.StringIO) else ""), ()
    return "", ()


def _builtin(value: Any) -> Content:
    """Look at a function of C: it may be bound to an object, or to its module."""
    return "", () if isinstance(value.__self__, types.ModuleType) else (value.__self__,)


_LOOKS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Content]], ...] = (
    ((list, tuple, deque), _sequence),
    (dict, _mapping),
    ((set, frozenset), _set),
    (types.MethodType, _method),
    (functools.partial, _partial),
    (types.CellType, _cell),
    ((types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType), _suspended),
    (io.IOBase, _file),
    (types.BuiltinFunctionType, _builtin),
)
_OPAQUE = (types.ModuleType, types.CodeType, types.FrameType, random.Random, slice)
"""Modules are looked at by name alone, where the user's functions name what is in them."""
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
        return (*token, value._version), below  # counts what torch changes in place
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
    """Whether a value is a random number generator, whose state always advances."""
    kind = type(value)
    return kind.__module__.startswith("numpy.random") or (kind.__module__, kind.__name__) in (
        ("torch._C", "Generator"),
        ("torch", "Generator"),
    )


def _reduced(value: Any) -> Content:
    """Look at an object of C by what it would be pickled as; iterators say how much is left."""
    left, below = -1, ()
    with suppress(Exception):  # it may be anything
        left = operator.length_hint(value, -1)
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # iterators of itertools: from Python 3.14 on they cannot be pickled
        made = value.__reduce_ex__(4)
        below = made[1:] if isinstance(made, tuple) else ()
    return left, below


def _attributes(value: object) -> Iterator[object]:
    """Yield the attributes of an instance: its dictionary, and its slots."""
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
