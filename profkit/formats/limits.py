"""Limits of imports on size, depth and time; too deep stacks are shortened; gunzip within the limits."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import LimitExceeded, UsageError
from profkit.model.profile import Frame, ProfileBuilder, Thread, ThreadState

_CHECK_EVERY = 1 << 12
"""Number of records between two checks of the clock."""


@dataclass(frozen=True, slots=True)
class ImportLimits:
    """Limits of imported files; each field has an option of `profkit import`.

    The defaults have room for a million samples 100 frames deep, and stop a hostile file within minutes and a
    few gigabytes.
    """

    max_bytes: int = 1 << 30
    """Bytes of a file after decompression."""
    max_depth: int = 100_000
    """Frames of one stack."""
    max_records: int = 20_000_000
    """Samples, events, functions, and objects and lists in JSON."""
    max_frames: int = 200_000_000
    """Frames of all distinct stacks together; each takes 8 bytes of memory."""
    max_seconds: float = 600.0
    """Time to read one file."""


SHORTENED_DEPTH = 256
"""Frames of a shortened stack, without the one for those that are left out."""
LEFT_OUT = Frame("<calls left out>", "")
"""Frame between the outermost and the innermost frames of a shortened stack."""
_DEEPEST = 4_000
"""Frames of the deepest stack that is never shortened while there is room."""
_LEAST_ROOM = 1 << 22
"""Frames of deep stacks that are stored of any file: 32 MiB."""
_FRAMES_PER_BYTE = 2
"""Frames of deep stacks that are stored for each byte of a larger file. Stacks written out take less."""

UNLIMITED = ImportLimits(sys.maxsize, sys.maxsize, sys.maxsize, sys.maxsize, float("inf"))
"""Limits for files that profkit itself has just made."""


class Budget:
    """Remaining limits while one file is read; each method raises LimitExceeded."""

    def __init__(
        self, limits: ImportLimits, source: Path = Path("the file"), clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self.limits, self.source = limits, source
        self._clock = clock
        self._deadline_s = clock.monotonic_s() + limits.max_seconds
        self._records = self._frames = 0
        self._size = self._whole_frames = 0
        self.shortened = False
        """Whether stacks were shortened."""

    def left_s(self) -> float:
        """Return the seconds until the deadline."""
        return self._deadline_s - self._clock.monotonic_s()

    def check_time(self) -> None:
        """Check the deadline."""
        if self.left_s() < 0:
            self._refuse(f"takes more than {self.limits.max_seconds:g} s to read", "--max-seconds")

    def check_bytes(self, size: int) -> None:
        """Check the size of the content, of which `size` bytes are known so far."""
        self._size = max(self._size, size)
        if size > self.limits.max_bytes:
            self._refuse(f"has more than {self.limits.max_bytes:,} bytes, uncompressed", "--max-bytes")

    def check_depth(self, depth: int) -> None:
        """Check the depth of one stack."""
        if depth > self.limits.max_depth:
            self._refuse(f"has a stack of more than {self.limits.max_depth:,} frames", "--max-depth")

    def takes_whole(self, depth: int) -> bool:
        """Return whether there is room for one more distinct stack, and take the room.

        A file can share callers between stacks, which are stored with all their frames. So the room for deep
        ones depends on the size of the content: N nested calls would need memory for N²/2 frames.
        """
        if depth <= SHORTENED_DEPTH:
            return True
        room = max(_LEAST_ROOM, _FRAMES_PER_BYTE * self._size)
        if depth > _DEEPEST or self._whole_frames + depth > room:
            return False
        self._whole_frames += depth
        return True

    def count_records(self, count: int) -> None:
        """Add to the number of records, and check the deadline."""
        self._records += count
        if self._records > self.limits.max_records:
            what = f"has more than {self.limits.max_records:,} samples, events, functions or JSON objects"
            self._refuse(what, "--max-records")
        self.check_time()

    def count_stack(self, depth: int) -> None:
        """Count one more distinct stack."""
        self.check_depth(depth)
        self._frames += depth
        if self._frames > self.limits.max_frames:
            what = f"has more than {self.limits.max_frames:,} frames in its distinct stacks"
            self._refuse(what, "--max-frames")

    def _refuse(self, what: str, option: str) -> NoReturn:
        raise LimitExceeded(self.source, what, option)


def shorten(stack: Sequence[int], left_out: int) -> tuple[int, ...]:
    """Return the outermost and the innermost frames of a stack, with the frame `left_out` between them.

    The result is the same for a stack that continues a shortened one.
    """
    half = SHORTENED_DEPTH // 2
    return (*stack[:half], left_out, *stack[-half:])


@contextmanager
def enough_memory(source: Path) -> Iterator[None]:
    """Raise UsageError, naming `source`, if the memory is not enough to read it."""
    try:
        yield
    except MemoryError as error:
        fix = "read it on a machine with more memory, or record a shorter profile"
        raise UsageError(f"{source} needs more memory than is available to this process", fix) from error


def unlimited() -> Budget:
    """Return a budget without limits."""
    return Budget(UNLIMITED)


class BoundedBuilder(ProfileBuilder):
    """A `ProfileBuilder` that stops at a budget's limits."""

    def __init__(self, budget: Budget) -> None:
        super().__init__()
        self.budget = budget
        self._counted_stacks = self._uncounted = 0
        self._longest = 0

    def check_path(self, depth: int) -> None:
        """Check the depth of a path through a call graph, and the deadline."""
        self.budget.check_depth(depth)
        self.budget.check_time()

    def frame(self, frame: Frame) -> int:
        """Return the index of a frame; a new one is a record."""
        before = len(self._frames)
        number = super().frame(frame)
        if number == before:
            self._count_record()
        return number

    def frame_numbers(self, frames: Iterable[Frame]) -> list[int]:
        """See `ProfileBuilder.frame_numbers`; new ones are records."""
        return [self.frame(frame) for frame in frames]

    def thread(self, thread: Thread) -> int:
        """Return the index of a thread; a new one is a record."""
        before = len(self._threads)
        number = super().thread(thread)
        if number == before:
            self._count_record()
        return number

    def fitted(self, stack: Sequence[int]) -> tuple[int, ...]:
        """Return the stack, shortened if there is no room for one of its depth; raise LimitExceeded."""
        depth = len(stack)
        if depth <= SHORTENED_DEPTH + 1:
            return tuple(stack)
        self.budget.check_depth(depth)
        if depth <= self._longest and any((whole := tuple(stack)) in stacks for stacks in self._stacks):
            return whole
        if self.budget.takes_whole(depth):
            self._longest = max(self._longest, depth)
            return tuple(stack)
        self.budget.shortened = True
        return shorten(stack, self.frame(LEFT_OUT))

    def stack(self, stack: tuple[int, ...], state: ThreadState = ThreadState.UNKNOWN) -> int:
        """See `ProfileBuilder.stack`; a deep one may be shortened."""
        return self._fitted(self.fitted(stack), state)

    def add_numbered(self, stack: int, thread: int, weight: int = 1, start: int | None = None) -> None:
        """See `ProfileBuilder.add_numbered`; a sample is a record."""
        super().add_numbered(stack, thread, weight, start)
        self._count_record()

    def add_fitted(
        self, stack: tuple[int, ...], thread: int, weight: int = 1, start: int | None = None
    ) -> None:
        """Append one sample with a stack that `fitted` has returned."""
        self.add_numbered(self._fitted(stack), thread, weight, start)

    def _fitted(self, stack: tuple[int, ...], state: ThreadState = ThreadState.UNKNOWN) -> int:
        number = super().stack(stack, state)
        if len(self._table) != self._counted_stacks:
            self._counted_stacks += 1
            self.budget.count_stack(len(stack))
        return number

    def _count_record(self) -> None:
        self._uncounted += 1
        if self._uncounted == _CHECK_EVERY:
            self._uncounted = 0
            self.budget.count_records(_CHECK_EVERY)


class NodeStacks:
    """Stacks by their innermost node, from nodes that name their callers.

    Stacks of nodes in between are not kept: that would be quadratic.
    """

    def __init__(
        self,
        builder: BoundedBuilder,
        nodes: Collection[object],
        callers: Mapping[object, object],
        frame_of: Callable[[object], int | None],
    ) -> None:
        """`callers` lacks roots. `frame_of` takes a node and returns None for a root that is no call."""
        self._builder, self._nodes, self._callers, self._frame_of = builder, nodes, callers, frame_of
        self._known: dict[object, tuple[int, ...]] = {}
        self._depths: dict[object, int] = {}
        """Depths of these stacks, which may be shortened."""

    def stack(self, leaf: object, where: str) -> tuple[int, ...]:
        """Return the frames from the root to a node; raises ValueError, naming `where`."""
        known = self._known.get(leaf)
        if known is not None:
            return known
        path: list[object] = []
        callers: tuple[int, ...] = ()
        node, depth = leaf, 0
        while True:
            if node not in self._nodes:
                below = "" if node == leaf else f" below a node {node!r}"
                problem = f"{where} has a node {leaf!r}{below} that does not exist"
                raise ValueError(f"{problem}: a part of the profile is missing")
            depth += 1
            if depth > len(self._nodes):
                raise ValueError(f"{where} has a node {leaf!r} that contains itself")
            self._builder.budget.check_depth(depth)
            path.append(node)
            if node not in self._callers:
                break
            node = self._callers[node]
            if callers := self._known.get(node, ()):
                depth += self._depths[node]
                break
        self._depths[leaf] = depth
        self._builder.budget.check_depth(depth)
        frames = [frame for frame in map(self._frame_of, reversed(path)) if frame is not None]
        known = self._known[leaf] = self._builder.fitted((*callers, *frames))
        return known


MAGIC = b"\x1f\x8b"
"""First bytes of gzip."""

GZIP = 31
"""zlib's `wbits` for a gzip header, which then has no time."""
_PACKED, _UNPACKED = 1 << 14, 1 << 20
"""Sizes of zlib's input and output pieces, in bytes."""


def gunzipped(data: bytes, budget: Budget) -> bytes:
    """Return content without gzip around it, with all its members; unchanged if there is none.

    Raises ValueError for damaged gzip, and LimitExceeded.
    """
    return b"".join(unpacked([data], budget)) if data.startswith(MAGIC) else data


def unpacked(pieces: Iterable[bytes], budget: Budget) -> Iterator[bytes]:
    """Yield the content of gzip, which comes in pieces; data after its members is omitted.

    Raises as `gunzipped` does, also if the whole content exceeds the budget.
    """
    size, packed = 0, _split(pieces)
    left = next(packed, b"")
    while left.startswith(MAGIC):
        unpacker = zlib.decompressobj(GZIP)
        while not unpacker.eof:
            # zlib copies unconsumed input each time, so the pieces are small.
            left = left or next(packed, b"")
            if not left:
                raise ValueError("its gzip is cut short")
            piece = _decompressed(unpacker, left)
            size += len(piece)
            budget.check_bytes(size)
            budget.check_time()
            yield piece
            left = unpacker.unconsumed_tail
        left = unpacker.unused_data
        if len(left) < len(MAGIC):
            left += next(packed, b"")


def _split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), _PACKED):
            yield piece[start : start + _PACKED]


def _decompressed(unpacker: zlib._Decompress, data: bytes) -> bytes:
    try:
        return unpacker.decompress(data, _UNPACKED)
    except zlib.error as error:
        raise ValueError(f"its gzip is damaged: {error}") from error
