"""Regions: decorated functions and labelled blocks; their ids, versions, kinds and markers."""

from __future__ import annotations

import dis
import enum
import hashlib
import inspect
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, MethodType

CALLS_ONLY = "none"
"""Sampler that takes no samples."""
MEMRAY = "memray"
"""Tracker of memory, in the place of a sampler."""

MARKER_PREFIX = "profkit:"

_LABEL_MAX = 80


class RegionKind(enum.Enum):
    """Kind of code that a region wraps; the value is the word in files."""

    FUNCTION = "function"
    COROUTINE = "coroutine"
    GENERATOR = "generator"
    ASYNC_GENERATOR = "async generator"
    BLOCK = "block"
    PROGRAM = "program"
    REQUEST = "request"
    """Requests of a web service: those of one route, or a single one."""
    TEST = "test"
    """The call of a test, whose marker is around the frames of the test runner."""
    COMPILATION = "compilation"
    """A phase of `torch.compile` or `torch.export`."""


@dataclass(frozen=True, slots=True)
class RegionKey:
    """Identity of a region: the location of its code and the user's label."""

    module: str
    qualname: str
    line: int
    label: str


@dataclass(frozen=True, slots=True)
class Compilation:
    """What a region of kind COMPILATION is: one phase of the compilation of one frame."""

    frame: str
    """PyTorch's number of the frame and of its compilation, such as `0/1`; empty for `torch.export`."""
    phase: str
    """PyTorch's name: `compile_inner`, `backward` or `export`."""
    inside: str = ""
    """Label of the phase that it ran in, whose time includes its own; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Region:
    """A region as the spool and the store record it.

    Regions with one key and different `code` are versions of it: an edited and reloaded module, or a notebook
    cell that was run again. `expected` is the frame (qualified name, file) that must be directly above the
    region's marker, or None if the wrapped object runs no Python frame of its own. A block has no marker: its
    samples are those of frame (`qualname`, `file`) at one of the `body` lines. A detached block (its enter
    and exit are in different frames) has neither: it owns whole segments, as a whole program does. A test's
    stacks begin at the frame (`qualname`, `file`) above its marker; those without it keep the test runner's.
    """

    key: RegionKey
    kind: RegionKind
    file: str
    expected: tuple[str, str] | None = None
    body: tuple[int, ...] = ()
    detached: bool = False
    all_threads: bool = False
    """If true, keep samples of all threads while the region is active, not only of its callers."""
    stack_max_len: int = 0
    """Frames to keep at the leaf end; 0 keeps all."""
    tags: tuple[str, ...] = ()
    user: str = ""
    env: tuple[tuple[str, str], ...] = ()
    code: str = ""
    """Digest of the code (`digest_of`), or a random text for a single request; empty if there is none."""
    compilation: Compilation | None = field(default=None, metadata={"later": True})

    @property
    def id(self) -> str:
        """Eight hexadecimal digits, equal in every process that has this region."""
        key = self.key
        text = "\0".join((key.module, key.qualname, str(key.line), key.label, *filter(None, [self.code])))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    @property
    def version(self) -> str:
        """Id of the version of its code; requests of one route are of one version."""
        return replace(self, code="").id if self.kind is RegionKind.REQUEST and self.code else self.id

    @property
    def is_marked(self) -> bool:
        """Whether stacks in the region have its marker."""
        return self.kind not in (RegionKind.BLOCK, RegionKind.PROGRAM)

    @property
    def is_frameless(self) -> bool:
        """Whether samplers see no frame of the wrapped function, so that its marker can be the leaf."""
        return self.is_marked and self.kind is not RegionKind.TEST and self.expected is None

    @property
    def marker(self) -> str:
        """Name of the wrapper's code object, which samplers report."""
        label = self.key.label[:_LABEL_MAX].encode("utf-8", "replace").decode("utf-8")
        return f"{MARKER_PREFIX}{label}#{self.id}"


def kind_of(function: object) -> RegionKind:
    """Return the kind of a function or another callable: what a call of it returns."""
    called = function, getattr(type(function), "__call__", None)  # noqa: B004 - calling runs it
    if any(map(inspect.iscoroutinefunction, called)):
        return RegionKind.COROUTINE
    if any(map(inspect.isasyncgenfunction, called)):
        return RegionKind.ASYNC_GENERATOR
    if any(map(inspect.isgeneratorfunction, called)):
        return RegionKind.GENERATOR
    return RegionKind.FUNCTION


def code_of(function: object) -> CodeType | None:
    """Return the code that a call of the function runs first; None if that is not Python code."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        call = getattr(type(function), "__call__", None)  # noqa: B004 - its code is needed
        code = getattr(call, "__code__", None)
    return code if isinstance(code, CodeType) else None


def frame_code_of(function: object) -> CodeType | None:
    """Return the code of the Python frame that a call of the function runs first; None if it runs none.

    Functions compiled by numba, Cython or C have none, even if they have a `__code__`.
    """
    if type(function) is MethodType:
        return frame_code_of(function.__func__)
    if type(function) is FunctionType:
        return function.__code__
    call = getattr(type(function), "__call__", None)  # noqa: B004 - its code is needed
    return call.__code__ if type(call) is FunctionType else None


def digest_of(code: CodeType) -> str:
    """Return a digest of code in eight hexadecimal digits, equal in every process of one Python version.

    It covers names, constants and instructions, but not files and lines.
    """
    found = hashlib.blake2b(digest_size=4)
    for part in _parts_of(code):
        found.update(part + b"\0")
    return found.hexdigest()


def digest_of_lines(code: CodeType, lines: Collection[int]) -> str:
    """Return a digest, like `digest_of`, of the code at some of its lines."""
    ranges = [(start, end) for start, end, line in code.co_lines() if line in lines]
    taken = b"".join(code.co_code[start:end] for start, end in ranges)
    part = code.replace(co_code=taken, co_exceptiontable=b"", co_linetable=b"")
    found = hashlib.blake2b(digest_size=4)
    for instruction in dis.get_instructions(part):
        found.update(instruction.opname.encode() + b"\0")
        if instruction.opcode in dis.hasconst:
            found.update(b"\0".join(_constant_parts(instruction.argval)))
        elif instruction.opcode not in (*dis.hasjrel, *dis.hasjabs):  # their targets are offsets
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
    """Return a qualified name without `<locals>`."""
    return qualname.replace("<locals>.", "")


"""Names that stand for a sampler in runs without samples. Decorating a function loads them, not `session`."""
