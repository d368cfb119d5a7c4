"""Calls of regions that are in progress in this process, and those on the caller's stack.

`Account.callers` has the thread of each outermost call of a function, `Account.open_runs` an entry for each
run of a coroutine or generator. Blocks are in `OPEN_BLOCKS`.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Protocol
from weakref import ref

from profkit.originals import REAL

if TYPE_CHECKING:
    from profkit.session.counters import Account

Caller = object
"""Identity of a thread, or of a greenlet in programs that have them."""


class OpenBlock(Protocol):
    """A block between its start and its end."""

    account: Account | None
    frame_id: int
    """Identity of the frame that contains the block."""


OPEN_BLOCKS: dict[OpenBlock, None] = {}
"""All blocks that are open in this process."""

_ACCOUNTS: dict[int, ref[Account]] = {}
"""All live accounts by identity, as weak references."""

_MARKERS: dict[int, tuple[CodeType, ref[Account]]] = {}
"""Code objects of all markers by identity, with their accounts. They live as long as these, so that no
identity is reused."""

_FIRST_PID = os.getpid()

current_caller: Callable[[], Caller] = REAL.get_ident
"""Function that identifies the caller; `greenlet.getcurrent` once that is imported."""


def remember_account(account: Account) -> None:
    """Register an account, so that its calls are counted."""
    key = id(account)
    # A C callback: a signal handler can run in a Python one, and an exception that it raises there is lost.
    _ACCOUNTS[key] = ref(account, partial(_ACCOUNTS.pop, key))


def remember_marker(code: CodeType, account: Account) -> None:
    """Register a code object as an account's marker."""
    key = id(code)
    _MARKERS[key] = code, ref(account, partial(_MARKERS.pop, key))


def calls_under_way() -> int:
    """Return the number of calls, runs and blocks in progress, in this and all other threads."""
    return len(OPEN_BLOCKS) + sum(len(account.callers) + len(account.open_runs) for account in _accounts())


def own_calls(frame: FrameType | None) -> int:
    """Return how many of `calls_under_way` are on the stack that ends with `frame`."""
    return sum(_own_calls(frame).values()) + len(_own_blocks(frame))


def _own_calls(frame: FrameType | None) -> Counter[Account]:
    """Count the calls on a stack by account, without blocks; a function's nested calls count as one."""
    counts: Counter[Account] = Counter()
    while frame is not None:
        known = _MARKERS.get(id(frame.f_code))
        account = known[1]() if known is not None else None
        if account is not None:
            counts[account] = 1 if account.callers else counts[account] + 1
        frame = frame.f_back
    return counts


def _own_blocks(frame: FrameType | None) -> list[OpenBlock]:
    """Return the blocks that are open on a stack."""
    opened = list(OPEN_BLOCKS)
    if not opened:
        return []
    frames: set[int] = set()
    while frame is not None:
        frames.add(id(frame))
        frame = frame.f_back
    return [block for block in opened if block.frame_id in frames]


def is_within(code: CodeType, frame: FrameType | None) -> bool:
    """Return whether the stack that ends with `frame` runs this code."""
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def is_open_in(account: Account, frame: FrameType | None) -> bool:
    """Return whether a block of this account is open on the stack that ends with `frame`."""
    return any(block.account is account for block in _own_blocks(frame))


def keep_own(frame: FrameType | None) -> None:
    """Forget the calls of threads that do not exist after a fork."""
    own, caller = _own_calls(frame), current_caller()
    own_blocks = _own_blocks(frame)
    for block in list(OPEN_BLOCKS):
        if block not in own_blocks:
            OPEN_BLOCKS.pop(block, None)
    for account in _accounts():
        del account.open_runs[own[account] :]
        for other in list(account.callers):
            if isinstance(other, int) and other != caller:  # this thread's greenlets still exist
                account.callers.pop(other, None)


def live_stacks() -> tuple[int, int]:
    """Return the current number of threads, and of the frames of all threads."""
    frames = sys._current_frames()
    threads, depth = len(frames), 0
    while frames:  # keep no frame: one that refers to itself would keep all callers' arguments
        walker: FrameType | None = frames.popitem()[1]
        while walker is not None:
            depth += 1
            walker = walker.f_back
    return threads, depth


def is_child() -> bool:
    """Return whether this process was forked since profkit was imported, or started by multiprocessing."""
    return os.getpid() != _FIRST_PID or is_spawned()


def is_spawned() -> bool:
    """Return whether multiprocessing started this process."""
    process = sys.modules.get("multiprocessing.process")
    if process is None:
        return False
    # The parent is known once the child's work begins; while the main module is imported, _inheriting is set.
    inheriting = getattr(process.current_process(), "_inheriting", False)
    return inheriting or process.parent_process() is not None


def _accounts() -> Iterator[Account]:
    for known in list(_ACCOUNTS.values()):
        account = known()
        if account is not None:
            yield account
