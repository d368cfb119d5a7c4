"""A region: one decorated function or one labelled block, the same in every process."""

from __future__ import annotations

import enum
import hashlib
import inspect
from dataclasses import dataclass
from types import CodeType

MARKER_PREFIX = "profkit:"

_LABEL_MAX = 80


class RegionKind(enum.Enum):
    """What the user wrapped; the value is the word that files carry."""

    FUNCTION = "function"
    COROUTINE = "coroutine"
    GENERATOR = "generator"
    ASYNC_GENERATOR = "async generator"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class RegionKey:
    """What makes two regions the same one."""

    module: str
    qualname: str
    line: int
    label: str


@dataclass(frozen=True, slots=True)
class Region:
    """A region as the spool and the store name it.

    `expected` is the frame (qualified name, file) that must stand directly under the region's
    marker, None where the wrapped object has no code of its own. A block has no marker: its samples
    are those of frame (`qualname`, `file`) at one of the `body` lines. A detached block (its enter
    and exit lie in different frames) has neither: whole segments are its own.
    """

    key: RegionKey
    kind: RegionKind
    file: str
    expected: tuple[str, str] | None = None
    body: tuple[int, ...] = ()
    detached: bool = False
    all_threads: bool = False
    """Keep samples of every thread while the region is active, not of its callers alone."""
    stack_max_len: int = 0
    """Frames to keep at the leaf end; 0 keeps all."""
    tags: tuple[str, ...] = ()
    user: str = ""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that are equal in every process that has this region."""
        key = self.key
        text = "\0".join((key.module, key.qualname, str(key.line), key.label))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    @property
    def marker(self) -> str:
        """The name that the code object of the region's wrapper bears; samplers read it back."""
        label = self.key.label[:_LABEL_MAX].encode("utf-8", "replace").decode("utf-8")
        return f"{MARKER_PREFIX}{label}#{self.id}"


def kind_of(function: object) -> RegionKind:
    """What calling the function, or another object that can be called, gives."""
    called = function, getattr(type(function), "__call__", None)  # noqa: B004 - it is what is called
    if any(map(inspect.iscoroutinefunction, called)):
        return RegionKind.COROUTINE
    if any(map(inspect.isasyncgenfunction, called)):
        return RegionKind.ASYNC_GENERATOR
    if any(map(inspect.isgeneratorfunction, called)):
        return RegionKind.GENERATOR
    return RegionKind.FUNCTION


def code_of(function: object) -> CodeType | None:
    """The code that runs first when the function is called, None where that is not Python code."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        call = getattr(type(function), "__call__", None)  # noqa: B004 - its code is what is wanted
        code = getattr(call, "__code__", None)
    return code if isinstance(code, CodeType) else None


def readable(qualname: str) -> str:
    """A qualified name without the steps that say nothing to a reader."""
    return qualname.replace("<locals>.", "")
