"""Objects that pickle but must not be copied: what they stand for lies outside the process's memory.

A copy of an open file would be a text without its file, a copy of a connection would close somebody else's
descriptor, and what a copy of shared memory does happens to the original.
"""

from __future__ import annotations

import io
import sys
import types
from typing import Any

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
