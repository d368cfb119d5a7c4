"""Stacks that cannot be: the reader copies a stack while the program runs, so parts may be of two moments.

Since CPython 3.15 it also returns the instruction of each frame, and a mark where it skipped frames: at calls
from C code, and where a frame began or ended meanwhile. A specialised instruction can still do something else
now and then. So an inconsistent stack is read again, and accepted if the same frames are inconsistent then.
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
    Inconsistent: TypeAlias = tuple[tuple[str, str, int], ...]
    """Inconsistent frames of a stack: function, file and instruction of each, leaf first."""

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
    if name.endswith(("_GETITEM", "_GEN", "_PROPERTY", "_PY"))
    or name.startswith(("CALL_BOUND_METHOD", "CALL_KW_BOUND_METHOD", "CALL_PY"))
)
"""Instructions that run Python code without C code between."""


def inconsistencies(stack: list[Read]) -> Inconsistent:
    """Return the frames of a stack, leaf first, that cannot be as they were read."""
    found = []
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
            found.append((frame.funcname, frame.filename, opcode or 0))
        called, skipped = True, False
    return tuple(found)


def without_marks(stack: list[Read]) -> list[Read]:
    """Return a stack without marks for skipped frames."""
    return [frame for frame in stack if frame.filename != _SKIPPED]


def _has_just_begun(frame: Read) -> bool:
    return frame.location is not None and frame.location.lineno == _NO_LINE
