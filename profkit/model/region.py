"""A region: one decorated function or one labelled block, the same in every process."""

from __future__ import annotations

import dis
import enum
import hashlib
import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType

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
    """The name of a region: where its code is, and what the user calls it."""

    module: str
    qualname: str
    line: int
    label: str


@dataclass(frozen=True, slots=True)
class Region:
    """A region as the spool and the store name it.

    Two regions with one key and different `code` are versions of it: an edited and reloaded module, a cell
    of a notebook that was run again. `expected` is the frame (qualified name, file) that must be directly
    above the region's marker, None if the wrapped object runs no Python frame of its own. A block has no
    marker: its samples are those of frame (`qualname`, `file`) at one of the `body` lines. A detached block
    (its enter and exit lie in different frames) has neither: whole segments are its own.
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
    code: str = field(default="", metadata={"later": True})
    """Digest of the code, see `digest_of`; empty if there is none."""

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that are equal in every process that has this region."""
        key = self.key
        text = "\0".join((key.module, key.qualname, str(key.line), key.label, *filter(None, [self.code])))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    @property
    def marker(self) -> str:
        """The name of the code object of the region's wrapper, which samplers report."""
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


def frame_code_of(function: object) -> CodeType | None:
    """Return the code of the Python frame that a call of the function runs first; None if it runs none.

    Functions that numba, Cython or C compiled have none, even if they have a `__code__`.
    """
    if type(function) is MethodType:
        return frame_code_of(function.__func__)
    if type(function) is FunctionType:
        return function.__code__
    call = getattr(type(function), "__call__", None)  # noqa: B004 - its code is what is wanted
    return call.__code__ if type(call) is FunctionType else None


def digest_of(code: CodeType) -> str:
    """Return eight hexadecimal digits for what code does, equal in every process of one Python.

    Names, constants and instructions count; files and lines do not.
    """
    found = hashlib.blake2b(digest_size=4)
    for part in _parts_of(code):
        found.update(part + b"\0")
    return found.hexdigest()


def digest_of_lines(code: CodeType, lines: Collection[int]) -> str:
    """Return eight hexadecimal digits, as `digest_of` does, for what code does at some of its lines."""
    ranges = [(start, end) for start, end, line in code.co_lines() if line in lines]
    taken = b"".join(code.co_code[start:end] for start, end in ranges)
    part = code.replace(co_code=taken, co_exceptiontable=b"", co_linetable=b"")
    found = hashlib.blake2b(digest_size=4)
    for instruction in dis.get_instructions(part):
        found.update(instruction.opname.encode() + b"\0")
        if instruction.opcode in dis.hasconst:
            found.update(b"\0".join(_constant_parts(instruction.argval)))
        elif instruction.opcode not in (*dis.hasjrel, *dis.hasjabs):  # whose targets are places
            found.update(repr(instruction.argval).encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _parts_of(code: CodeType) -> Iterator[bytes]:
    yield code.co_code
    yield repr((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)).encode()
    for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
        yield repr(names).encode("utf-8", "surrogatepass")
    yield code.co_exceptiontable
    for constant in code.co_consts:
        yield from _constant_parts(constant)


def _constant_parts(constant: object) -> Iterator[bytes]:
    if isinstance(constant, CodeType):
        yield from _parts_of(constant)
    elif isinstance(constant, frozenset):  # its order depends on the hash seed
        yield b"".join(sorted(b"".join(_constant_parts(member)) for member in constant))
    elif isinstance(constant, tuple):
        for member in constant:
            yield from _constant_parts(member)
    else:
        yield f"{type(constant).__name__} {constant!r}".encode("utf-8", "surrogatepass")


def readable(qualname: str) -> str:
    """A qualified name without the steps that say nothing to a reader."""
    return qualname.replace("<locals>.", "")
