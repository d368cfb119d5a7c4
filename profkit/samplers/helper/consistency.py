"""Torn stacks: a stack whose parts are of two moments is found by its calls, and read again.

The reader copies a stack while the program runs. Since CPython 3.15 it also returns the instruction of each
frame, and a mark where it skipped frames: at calls from C code, and where a frame began or ended meanwhile. A
specialised instruction can still do something else now and then. So an inconsistent stack is read again, and
accepted if the same frames are inconsistent then.
"""

from __future__ import annotations

from opcode import opmap

try:
    from opcode import _specialized_opmap as specialized_opmap  # type: ignore[attr-defined]
except ImportError:  # it is private; then only instructions with public names are checked
    specialized_opmap: dict[str, int] = {}  # type: ignore[no-redef]

TYPE_CHECKING = False  # `typing` takes long to import
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Read: TypeAlias = Any
    """A frame as the reader returns it."""
    Inconsistent: TypeAlias = frozenset[tuple[str, str, int]]
    """Inconsistent frames of a stack: function, file and instruction of each."""

_SKIPPED = "~"
"""File name of a mark for skipped frames."""
_NO_LINE = -1
"""Line of an instruction that is none of the function: its frame has just begun."""
_OPCODES: dict[str, int] = {**opmap, **specialized_opmap}
_NO_CALLS = frozenset(
    number
    for name, number in _OPCODES.items()
    if name.startswith(
        (
            "BINARY_OP_ADD", "BINARY_OP_MULTIPLY", "BINARY_OP_SUBTRACT", "COMPARE_OP_", "COPY", "LOAD_CONST",
            "LOAD_DEREF", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_SMALL_INT", "POP_", "PUSH_NULL",
            "RESUME", "RETURN_VALUE", "STORE_DEREF", "STORE_FAST", "STORE_GLOBAL", "STORE_NAME", "SWAP",
        )
    )
)  # fmt: skip
"""Instructions that run no Python code, at least not as a rule."""
_PYTHON_CALLS = frozenset(
    number
    for name, number in specialized_opmap.items()
    if name.endswith(("_GETITEM", "_GEN", "_PROPERTY"))
    or name.startswith(("CALL_BOUND_METHOD", "CALL_EX_PY", "CALL_KW_BOUND_METHOD", "CALL_KW_PY", "CALL_PY"))
)
"""Instructions that run Python code without C code between."""


def inconsistencies(stack: list[Read]) -> Inconsistent:
    """Return the frames of a stack, leaf first, that cannot be as they were read."""
    found = set()
    called = skipped = False
    for frame in stack:
        if frame.filename == _SKIPPED:
            skipped = called
            continue
        opcode = frame.opcode
        if (
            (called and opcode in _NO_CALLS)
            or (skipped and opcode in _PYTHON_CALLS)
            or _has_just_begun(frame)
        ):
            found.add((frame.funcname, frame.filename, opcode or 0))
        called, skipped = True, False
    return frozenset(found)


class Check:
    """Check of the stacks of one thread, read after read."""

    __slots__ = ("_confirmed", "_frames", "_stack", "_suspected")

    def __init__(self) -> None:
        self._stack: list[Read] | None = None
        self._frames: list[Read] = []
        """The last stack, and its frames without marks."""
        self._suspected: Inconsistent = frozenset()
        """Frames that were inconsistent in the last read."""
        self._confirmed: Inconsistent = frozenset()
        """Frames that were so in two reads, one after the other: such a call may take long."""

    def consistent(self, stack: list[Read]) -> list[Read] | None:
        """Return a stack without marks, None if it cannot be, as far as it has been read once."""
        if stack == self._stack:
            return self._frames
        found = inconsistencies(stack)
        suspected, self._suspected = self._suspected, found - self._confirmed
        if self._suspected:
            if self._suspected != suspected:
                return None
            self._confirmed, self._suspected = found, frozenset()
        self._stack, self._frames = stack, without_marks(stack)
        return self._frames


def without_marks(stack: list[Read]) -> list[Read]:
    """Return a stack without marks for skipped frames."""
    return [frame for frame in stack if frame.filename != _SKIPPED]


def _has_just_begun(frame: Read) -> bool:
    return frame.location is not None and frame.location.lineno == _NO_LINE
