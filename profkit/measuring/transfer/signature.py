"""Signatures of arguments: the types, shapes and values by which calls count as the same."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

_MAX_ARGS, _LONGEST, _LONGEST_INT = 24, 32, 64


class Likeness(NamedTuple):
    """Signature in two parts: types, shapes and modes; and values of numbers and texts, and lengths."""

    shape: str
    values: tuple[tuple[str, str], ...]
    """(parameter, value or length) pairs; the parameter is its name or its position."""


def signature_of(args: Sequence[object], kwargs: Mapping[str, object]) -> str:
    """Return a readable signature of arguments: `torch.float32[64,64]@cpu, list[3], 5, mode='fast'`.

    It has the shape, dtype and device of tensors and arrays, type and length of containers, the value of
    scalars and short strings, and the type of everything else. It reads nothing else, and never raises.
    """
    if not kwargs and len(args) <= _MAX_ARGS:
        return ", ".join([_word(value) for value in args])
    words = [_word(value) for value in islice(args, _MAX_ARGS)]
    words += [f"{name}={_word(kwargs[name])}" for name in sorted(kwargs)[:_MAX_ARGS]]
    left = max(0, len(args) - _MAX_ARGS) + max(0, len(kwargs) - _MAX_ARGS)
    return ", ".join([*words, f"and {left} more"] if left else words)


def likeness_of(args: Sequence[object], kwargs: Mapping[str, object]) -> Likeness:
    """Return what `signature_of` says, in two parts; never raises."""
    named: list[tuple[str, object]] = [(str(n), value) for n, value in enumerate(islice(args, _MAX_ARGS))]
    named += [(name, kwargs[name]) for name in sorted(kwargs)[:_MAX_ARGS]]
    shape = ",".join(f"{name}={_shape(value)}" for name, value in named)
    values = tuple((name, _word(value)) for name, value in named if _has_value(type(value)))
    return Likeness(shape, values)


def _has_value(kind: type) -> bool:
    """Return whether two objects of the class may differ only by a number, a text or a length."""
    return issubclass(kind, _VALUED) and kind is not bool and not issubclass(kind, enum.Enum)


def _shape(value: object) -> str:
    kind = type(value)
    return kind.__name__ if _has_value(kind) else _word(value)


def _word(value: object) -> str:
    kind = type(value)
    known = _WORDS.get(kind)
    try:
        return known(value) if known is not None else _other(value, kind)
    except Exception:  # noqa: BLE001 - a user's property may raise anything
        return kind.__name__


def _other(value: object, kind: type) -> str:
    if hasattr(kind, "shape") and hasattr(kind, "dtype"):
        return _array(value, kind)
    if issubclass(kind, type):
        return f"class {type.__dict__['__name__'].__get__(value)}"
    if kind.__module__ == "torch" and kind.__name__ in _VALUES_OF_TORCH:
        return str(value)
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value._name_}"
    for container in _CONTAINERS:
        if issubclass(kind, container):  # a subclass's own `__len__` may be user code
            return f"{kind.__name__}[{container.__dict__['__len__'](value)}]"
    return kind.__name__


def _array(value: object, kind: type) -> str:
    """Return an array's word. A tensor's dtype contains its package's name; an array's does not."""
    shape, dtype = ",".join(map(str, getattr(value, "shape", ()))), str(getattr(value, "dtype", ""))
    where = f"@{getattr(value, 'device', '')}" if "." in dtype else ""
    package = "" if where else f"{kind.__module__.partition('.')[0]}."
    return f"{package}{dtype}[{shape}]{where}"


def _int(value: int) -> str:
    return repr(value) if value.bit_length() <= _LONGEST_INT else f"int[{value.bit_length()} bits]"


def _text(value: str | bytes) -> str:
    return repr(value) if len(value) <= _LONGEST else f"{type(value).__name__}[{len(value)}]"


def _sized(value: Sequence[object]) -> str:
    return f"{type(value).__name__}[{len(value)}]"


_VALUES_OF_TORCH = {"dtype", "device", "layout", "memory_format"}
_CONTAINERS = (list, tuple, dict, set, frozenset, str, bytes, bytearray, deque, range, memoryview)
_WORDS: dict[type, Callable[..., str]] = {
    **dict.fromkeys((bool, float, complex, type(None), type(...)), repr),
    **dict.fromkeys(_CONTAINERS, _sized),
    int: _int,
    str: _text,
    bytes: _text,
}
_VALUED = (int, float, complex, *_CONTAINERS)
