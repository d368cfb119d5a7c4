"""Fingerprints of all that a call or a statement can reach: they show what an execution has changed.

A fingerprint is a number that means something within this process only. It covers arguments and what they
hold, closures, default values, and the globals and class attributes that functions of the user's name. It
does not cover random number generators, names of numbers such as counters, and the internals of libraries.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from .contents import ATOMS, NUMBERS, Content, content_of, token_of

MOST_OBJECTS = 100_000
"""Objects that are looked at one by one, which takes 0.1 s; a list of numbers is one."""
MOST_BYTES = 1 << 30
"""Of buffers, arrays and tensors."""

_CACHED = type(functools.lru_cache(len))


@dataclass(frozen=True, slots=True)
class Global:
    """A name of a module, which functions look up whenever they are executed."""

    module: str
    name: str

    def __str__(self) -> str:
        return self.name if self.module == "__main__" else f"{self.name} of module {self.module}"


@dataclass(frozen=True, slots=True)
class State:
    """Fingerprints, by words that say what they are of."""

    values: Mapping[str, int] = field(default_factory=dict)
    globals: Mapping[str, Global] = field(default_factory=dict)
    """The names of modules among them, by the same words; functions that were sent by value have others."""
    whole: bool = True
    """Whether all was looked at; if not, there is nothing."""

    def changes(self, later: State) -> tuple[str, ...]:
        """Return what is different in a later state, as far as both are known."""
        return tuple(name for name, value in self.values.items() if later.values.get(name, value) != value)


def state_of(
    roots: Mapping[str, object],
    code: types.CodeType | None = None,
    namespace: Mapping[str, object] | None = None,
    most_objects: int = MOST_OBJECTS,
) -> State:
    """Return the state of named values, and of the globals that `code` finds in its namespace."""
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
    except Exception:  # noqa: BLE001 - objects may refuse to be looked at; they are measured all the same
        return State(whole=False)
    return State(values, walk.globals)


class _TooMuch(Exception):
    """There is more than is worth looking at."""


class _Walk:
    """One look at everything: at each object once."""

    def __init__(self, most_objects: int) -> None:
        self.found: dict[str, object] = {}
        """Globals and class attributes that are still to be looked at."""
        self.globals: dict[str, Global] = {}
        self._objects_left, self._bytes_left = most_objects, MOST_BYTES
        self._known: dict[int, tuple[int, int, object]] = {}
        """(root, number in that, object) by `id`; what is made meanwhile keeps its `id`."""
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
                other, place, _ = self._known[id(value)]
                # Where another root has it is a matter of that root.
                digest = hash((digest, other, place if other == self._roots else 0))
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
        """Find the attributes of a class and its bases, and what their methods name; they are of no root."""
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
        """Find the globals that code names, and the names that it takes from modules of the user's."""
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
        place = Global("__main__" if module is None else module.__name__, name)
        if module is not None and vars(module) is namespace:
            self.globals[str(place)] = place
        self._find(str(place), namespace[name])

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
    """Whether a file is Python's own, an installed package's, or the worker's."""
    library = os.path.dirname(os.__file__) + os.sep
    return file.startswith(("<frozen", library, os.path.dirname(__file__) + os.sep)) or "-packages/" in file
