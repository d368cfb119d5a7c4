"""Attribute samples to regions by the marker frames in their stacks."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, count, takewhile
from operator import itemgetter
from typing import NamedTuple

from profkit.model.profile import Frame, Profile, ProfileBuilder
from profkit.model.region import MARKER_PREFIX, Region, RegionKind
from profkit.model.session import Cover
from profkit.transforms.origin import OWN_CODE, OwnCode, is_library_file, is_native_file
from profkit.transforms.simplify import Reindexer, build_like, child_frames

Stack = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """Kinds of frames, by index in the profile; regions, by id."""

    own: frozenset[int]
    """Recording code, markers included."""
    callers: frozenset[int]
    """Recording code that runs the program's functions, including markers."""
    markers: frozenset[int]
    native: frozenset[int]
    library: frozenset[int]
    """Frames of libraries and of profkit: its own work if recording code calls them for itself."""
    held: frozenset[int]
    """Frames of profkit that run nothing of the program's."""
    entries: Mapping[int, tuple[str, ...]]
    """Regions that begin at a frame."""
    loops: frozenset[int]
    """Frames of asyncio that run one round of an event loop."""
    fitting: Mapping[int, frozenset[int]]
    """For each marker with a known function: the frames that may be above it."""

    def begins(self, stack: Stack) -> dict[str, int]:
        """Return the regions that a stack is in, with the position of each one's outermost frame."""
        positions: dict[str, int] = {}
        for position in sorted(map(stack.index, self.entries.keys() & set(stack))):
            for region in self.entries[stack[position]]:
                positions.setdefault(region, position)
        return positions

    def is_torn(self, stack: Stack) -> bool:
        """Return whether a marker anywhere in the stack has a function above it that is not its own."""
        if self.fitting.keys().isdisjoint(stack):
            return False
        return any(
            next(self.program_frames(stack[position:]), None) not in {None, *self.fitting[frame]}
            for position, frame in enumerate(stack)
            if frame in self.fitting
        )

    def program_frames(self, stack: Stack) -> Iterator[int]:
        """Yield the frames of a stack without profkit's frames and its own work.

        Its own work begins at a library frame directly above recording code that does not call for the
        program. Native frames directly above recording code are part of leaving it, unless a marker wraps
        native code.
        """
        below: int | None = None
        for frame in stack:
            if frame in self.own:
                below = frame
            elif below is None:
                yield frame
            elif frame not in self.native:
                if below not in self.callers and frame in self.library:
                    return
                below = None
                yield frame
            elif below in self.markers and below not in self.fitting:
                yield frame

    def is_own_work(self, stack: Stack) -> bool:
        """Return whether a stack is profkit's own: it begins or ends in its code, and has libraries only.

        A stack that was read while it changed may lack its outermost frames.
        """
        if stack and stack[0] in self.held and self.library.issuperset(stack):
            return True
        kept = tuple(self.program_frames(stack))
        ends_there = len(kept) < len(stack) and kept == stack[: len(kept)]
        return ends_there and self.library.issuperset(kept)


def find_marks(frames: Sequence[Frame], regions: Iterable[Region], own: OwnCode) -> Marks:
    """Classify all frames; `regions` are all regions of the session."""
    file_of = list(map(itemgetter(1), frames))
    files = set(file_of)

    def of_files(test: Callable[[str], bool]) -> frozenset[int]:
        passing = set(filter(test, files))
        return frozenset(compress(count(), map(passing.__contains__, file_of)))

    known = tuple(regions)
    recording, held = of_files(own.records), of_files(own.holds)
    named = ((index, frames[index].name) for index in recording)
    markers = {index: name for index, name in named if name.startswith(MARKER_PREFIX)}
    calling = frozenset(index for index in recording if own.calls_for_program(frames[index].file))
    callers = calling | markers.keys()
    return Marks(
        own=recording,
        callers=callers,
        markers=frozenset(markers),
        native=of_files(is_native_file),
        library=held | of_files(is_library_file),
        held=held - callers,
        # Some samplers have the name of its function without its class.
        loops=frozenset(n for n in of_files(_is_loops_file) if frames[n].name.endswith("_run_once")),
        entries=_marker_entries(markers, known) | _block_entries(frames, known),
        fitting=_fitting(frames, known, markers),
    )


def _is_loops_file(file: str) -> bool:
    return file.endswith("/asyncio/base_events.py")


def _marker_entries(markers: Mapping[int, str], regions: Iterable[Region]) -> dict[int, tuple[str, ...]]:
    named = {region.marker: region.id for region in regions if region.is_marked}
    return {index: (named[marker],) for index, marker in markers.items() if marker in named}


def _block_entries(frames: Sequence[Frame], regions: Iterable[Region]) -> dict[int, tuple[str, ...]]:
    bodies: dict[tuple[str, str, int], list[str]] = {}
    for region in regions:
        if region.kind is RegionKind.BLOCK:
            for line in region.body:
                bodies.setdefault((region.key.qualname, region.file, line), []).append(region.id)
    return {index: tuple(bodies[frame]) for index, frame in enumerate(frames) if frame in bodies}


def _fitting(
    frames: Sequence[Frame], regions: Iterable[Region], markers: Mapping[int, str]
) -> dict[int, frozenset[int]]:
    expected = {region.marker: region.expected for region in regions if region.expected is not None}
    frames_of = _frames_of(expected.values(), frames)
    return {index: frames_of[expected[marker]] for index, marker in markers.items() if marker in expected}


def _frames_of(
    functions: Iterable[tuple[str, str]], frames: Sequence[Frame]
) -> Mapping[tuple[str, str], frozenset[int]]:
    """Return the frames of functions; if one has none, those with its last name alone, as before 3.11."""
    last = {(name, file): (name.rpartition(".")[2], file) for name, file in functions}
    found: dict[tuple[str, str], list[int]] = {function: [] for function in (*last, *last.values())}
    for index, function in enumerate(map(itemgetter(0, 1), frames)):
        if function in found:
            found[function].append(index)
    return {function: frozenset(found[function] or found[short]) for function, short in last.items()}


@dataclass(frozen=True, slots=True)
class RegionCut:
    """A region's samples and the weight of all others; together they add up to the recording."""

    profile: Profile
    torn: int = 0
    overhead: int = 0
    outside: int = 0


def cut_regions(
    profile: Profile,
    regions: Iterable[Region],
    covers: Iterable[Cover] = (),
    own: OwnCode = OWN_CODE,
    *,
    may_tear: bool = True,
) -> Mapping[str, RegionCut]:
    """Return the samples of all regions of a session, by region id, in one pass.

    In a stack of one moment (not `may_tear`), another function above a marker does run there: a destructor
    of a variable runs after the function's own frame has gone, and compiled code may have another name.
    """
    known = tuple(regions)
    own_here = own.also_of(profile.frames, (region.marker for region in known))
    marks = find_marks(profile.frames, known, own_here)
    source, stand_ins = _with_stand_ins(profile, known)
    sorter = _Sorter(
        source, {region.id: region for region in known}, tuple(covers), marks, stand_ins, may_tear
    )
    parts = {region.id: _Part(source) for region in known}
    pieces = {pair: sorter.pieces(*pair) for pair in dict.fromkeys(map(itemgetter(0, 1), profile.samples))}
    _add_samples(profile, pieces, parts)
    # Samples of child processes that no region claims belong to each region that was active at all.
    active = tuple(region for region, part in parts.items() if part.seen)
    orphans = [pair for pair, claimed in pieces.items() if not claimed and sorter.is_of_child(pair[0])]
    if orphans:
        _add_samples(profile, {pair: sorter.pieces_of_child(pair[0], active) for pair in orphans}, parts)
    total = profile.total_weight
    return {region: part.finish(total) for region, part in parts.items()}


def _add_samples(
    profile: Profile, pieces: Mapping[tuple[int, int], Iterable[_Piece]], parts: Mapping[str, _Part]
) -> None:
    """Add the samples with these stacks and threads, by index, to the parts of the pieces' regions."""
    places = {
        (stack, thread): [
            parts[piece.region].place(piece, stack, thread, profile.weights_by_thread[thread][stack])
            for piece in own
        ]
        for (stack, thread), own in pieces.items()
    }
    for (stack, thread, weight), start in zip(profile.samples, profile.known_starts(), strict=False):
        for place in places.get((stack, thread), ()):
            if place is not None:
                builder, kept_stack, kept_thread = place
                builder.add_numbered(kept_stack, kept_thread, weight, start)


def _with_stand_ins(profile: Profile, regions: Iterable[Region]) -> tuple[Profile, Mapping[str, int]]:
    """Return the profile with a frame for each wrapped function that has none, and its index by region.

    Samplers see no frame of a function without Python code: its marker is then the leaf.
    """
    bare = [region for region in regions if region.is_frameless]
    frames = [Frame(region.key.qualname, region.file, region.key.line) for region in bare]
    indexes = {region.id: len(profile.frames) + number for number, region in enumerate(bare)}
    return replace(profile, frames=(*profile.frames, *frames), totals=()), indexes


class _Fate(enum.IntEnum):
    KEPT = 0
    TORN = 1
    OVERHEAD = 2


class _Piece(NamedTuple):
    region: str
    fate: _Fate
    stack: Stack


class _Part:
    def __init__(self, source: Profile) -> None:
        self._source, self._builder = source, ProfileBuilder()
        self._reindexer = Reindexer(source, self._builder)
        self._numbers: dict[int, int] = {}
        """By stack of the source: the stack that is kept of it."""
        self._weights = [0] * len(_Fate)

    def place(
        self, piece: _Piece, stack: int, thread: int, weight: int
    ) -> tuple[ProfileBuilder, int, int] | None:
        """Count the weight of all samples of a stack and thread; return where they are kept, if they are."""
        self._weights[piece.fate] += weight
        if piece.fate is not _Fate.KEPT:
            return None
        number = self._numbers.get(stack)
        if number is None:
            state = self._source.state_of(stack)
            number = self._numbers[stack] = self._reindexer.stack(piece.stack, state)
        return self._builder, number, self._reindexer.thread(thread)

    @property
    def seen(self) -> int:
        """Weight of its samples so far, including torn ones and profkit's own work."""
        return sum(self._weights)

    def finish(self, total: int) -> RegionCut:
        return RegionCut(
            profile=build_like(self._source, self._builder),
            torn=self._weights[_Fate.TORN],
            overhead=self._weights[_Fate.OVERHEAD],
            outside=total - self.seen,
        )


class _Sorter:
    """Attribution of stacks to regions."""

    def __init__(
        self,
        profile: Profile,
        regions: Mapping[str, Region],
        covers: Sequence[Cover],
        marks: Marks,
        stand_ins: Mapping[str, int],
        may_tear: bool,
    ) -> None:
        self._profile, self._regions, self._covers, self._marks = profile, regions, covers, marks
        self._stand_ins, self._may_tear = stand_ins, may_tear
        self._children = child_frames(profile.frames)
        self._within: dict[int, tuple[_Piece, ...]] = {}

    @cached_property
    def _tests(self) -> Mapping[str, frozenset[int]]:
        """Frames of the functions of tests, by region."""
        tests = {
            region.id: (region.key.qualname, region.file)
            for region in self._regions.values() if region.kind is RegionKind.TEST
        }  # fmt: skip
        frames_of = _frames_of(tests.values(), self._profile.frames)
        return {region: frames_of[function] for region, function in tests.items()}

    def pieces(self, stack: int, thread: int) -> tuple[_Piece, ...]:
        """Return the pieces of a stack for all regions that get one; stack and thread are indexes."""
        within = self._within.get(stack)
        if within is None:
            within = self._within[stack] = self._pieces_within(self._profile.stacks[stack])
        if not self._covers:
            return within
        return (*within, *self._whole_pieces(stack, thread, {piece.region for piece in within}))

    def is_of_child(self, stack: int) -> bool:
        return not self._children.isdisjoint(self._profile.stacks[stack][:1])

    def pieces_of_child(self, stack: int, regions: Iterable[str]) -> tuple[_Piece, ...]:
        return self._whole(self._profile.stacks[stack], regions)

    def _pieces_within(self, stack: Stack) -> tuple[_Piece, ...]:
        begins = self._marks.begins(stack)
        torn = bool(begins) and self._is_torn(stack)
        processes = tuple(takewhile(self._children.__contains__, stack))
        pieces = []
        for region, at in begins.items():
            kept = self._frames_to_keep(region, stack[at:])
            pieces.append(self._judge(region, (*processes, *kept) if kept else (), torn))
        return tuple(pieces)

    def _whole_pieces(self, stack: int, thread: int, done: set[str]) -> tuple[_Piece, ...]:
        tids = (None, self._profile.threads[thread].tid)
        everyone = self.is_of_child(stack)
        covered = dict.fromkeys(cover.region for cover in self._covers if everyone or cover.tid in tids)
        regions = [region for region in covered if region in self._regions and region not in done]
        return self._whole(self._profile.stacks[stack], regions) if regions else ()

    def _whole(self, frames: Stack, regions: Iterable[str]) -> tuple[_Piece, ...]:
        kept = () if self._marks.is_own_work(frames) else tuple(self._marks.program_frames(frames))
        torn = self._is_torn(frames)
        return tuple(self._judge(region, self._from_loop(region, kept), torn) for region in regions)

    def _from_loop(self, region: str, stack: Stack) -> Stack:
        """Return the frames of a task without those that run its event loop, if the region waits in one.

        Such a region is a notebook's cell with `await`: below the loop are frames of IPython and the kernel.
        """
        waits = self._regions[region].detached and self._regions[region].body
        steps = [at for at, frame in enumerate(stack) if waits and frame in self._marks.loops]
        return stack[steps[-1] :] if steps else stack

    def _is_torn(self, stack: Stack) -> bool:
        return self._may_tear and self._marks.is_torn(stack)

    def _frames_to_keep(self, region: str, stack: Stack) -> Stack:
        """Return the frames to keep of a stack that begins at its region; none if profkit is at work."""
        kept = tuple(self._marks.program_frames(stack))
        if region in self._stand_ins:
            return (self._stand_ins[region], *kept) if kept or len(stack) == 1 else ()
        if self._regions[region].kind is RegionKind.TEST:
            return self._from_test(region, kept)
        is_block = self._regions[region].kind is RegionKind.BLOCK
        entering_or_leaving = is_block and len(kept) == 1 and len(stack) > 1 and stack[1] in self._marks.own
        return () if entering_or_leaving else kept

    def _from_test(self, region: str, kept: Stack) -> Stack:
        """Return the frames from the test's function on; all if a stack of its test runner lacks that."""
        start = next((place for place, frame in enumerate(kept) if frame in self._tests[region]), 0)
        return kept[start:]

    def _judge(self, region: str, kept: Stack, torn: bool) -> _Piece:
        fate = _Fate.OVERHEAD if not kept else _Fate.TORN if torn else _Fate.KEPT
        return _Piece(region, fate, kept)
