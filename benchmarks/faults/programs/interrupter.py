"""Raise where a signal handler may.

CPython runs signal handlers after calls, at the beginning of functions and at the ends of loops.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from profkit import torch_tracing

if TYPE_CHECKING:
    from _typeshed import TraceFunction

BEFORE = frozenset(
    number for name, number in opcode.opmap.items() if name.startswith(("CALL", "JUMP_BACKWARD", "RESUME"))
)
RETURN = opcode.opmap["RETURN_VALUE"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def see_own_work() -> None:
    """Let tracers see what profkit hides from them."""

    def seen(function: Callable[_P, _R], /, *arguments: _P.args, **options: _P.kwargs) -> _R:
        return function(*arguments, **options)

    torch_tracing.unseen = seen


class Interrupter:
    """Tracer that raises KeyboardInterrupt at one place of files whose paths begin with one of `own`."""

    def __init__(self, place: int, own: tuple[str, ...]) -> None:
        self.where = ""
        """Where it was raised; empty if it was not."""
        self._left, self._own = place, own
        self._last: dict[FrameType, int] = {}

    def trace(self, frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        """Trace one event."""
        if not frame.f_code.co_filename.startswith(self._own):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "return":
            self._last.pop(frame, None)
        elif event == "opcode":
            self._maybe_raise(frame)
        return self.trace

    def _maybe_raise(self, frame: FrameType) -> None:
        before, now = self._last.get(frame, -1), frame.f_code.co_code[frame.f_lasti]
        self._last[frame] = now
        # A handler runs at the end of the call, which a `try` around `return` still includes.
        if before in BEFORE and now != RETURN:
            self._left -= 1
            if self._left == -1:
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                raise KeyboardInterrupt
