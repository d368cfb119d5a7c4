"""What the frames of one profile are to its regions: where these begin, and which stacks cannot have been.

A region's wrapper is a frame that bears the region's marker as its name, in a file of profkit's
recording code. A block has no wrapper: it begins at its own frame, where that stands in the block's
body. In both cases the outermost such frame counts, so recursion stays within the region.

A sampler that reads a running process can return stacks that never existed. They show where the
frame above a marker is not the function that the marker wraps; such a stack is torn as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from profkit.model.frame import Frame
from profkit.model.region import MARKER_PREFIX, Region, RegionKind
from profkit.transforms.origin import OwnCode, is_library_file, is_native_file

Stack = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """Kinds of frames, by their index in the profile; regions by their id."""

    own: frozenset[int]
    """Recording code, markers included."""
    callers: frozenset[int]
    """Recording code that runs the program's functions, markers among it."""
    markers: frozenset[int]
    native: frozenset[int]
    library: frozenset[int]
    """What the recording code calls for itself and not for the program, other parts of profkit included."""
    entries: Mapping[int, tuple[str, ...]]
    """The regions that begin at a frame."""
    fitting: Mapping[int, frozenset[int]]
    """For each marker that knows its function: the frames that may stand above it."""

    def begins(self, stack: Stack) -> dict[str, int]:
        """The regions that a stack is in, with the position of each one's outermost frame."""
        found: dict[str, int] = {}
        if not self.entries.keys().isdisjoint(stack):
            for position, frame in enumerate(stack):
                for region in self.entries.get(frame, ()):
                    found.setdefault(region, position)
        return found

    def is_torn(self, stack: Stack) -> bool:
        """Whether a marker anywhere in the stack has another function above it than its own."""
        if self.fitting.keys().isdisjoint(stack):
            return False
        return any(
            next(self.program_frames(stack[position:]), None) not in {None, *self.fitting[frame]}
            for position, frame in enumerate(stack)
            if frame in self.fitting
        )

    def program_frames(self, stack: Stack) -> Iterator[int]:
        """The frames of a stack without profkit's, and without what profkit called for itself.

        That is a library frame directly above recording code that does not call for the program.
        Native frames directly above recording code are how it is left, unless a marker wraps native
        code.
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
        """Whether a whole stack is a thread of profkit's: it ends there, with only libraries below."""
        kept = tuple(self.program_frames(stack))
        ends_there = len(kept) < len(stack) and kept == stack[: len(kept)]
        return ends_there and self.library.issuperset(kept)


def find_marks(frames: Sequence[Frame], regions: Iterable[Region], own: OwnCode) -> Marks:
    """Look at every frame; `regions` are all regions of the session."""
    known = tuple(regions)
    recording = frozenset(index for index, frame in enumerate(frames) if own.records(frame.file))
    markers = {index: frames[index].name for index in recording if _is_marker(frames[index])}
    return Marks(
        own=recording,
        callers=frozenset(
            index for index in recording if index in markers or own.calls_for_program(frames[index].file)
        ),
        markers=frozenset(markers),
        native=frozenset(index for index, frame in enumerate(frames) if is_native_file(frame.file)),
        library=frozenset(
            index
            for index, frame in enumerate(frames)
            if is_library_file(frame.file) or own.holds(frame.file)
        ),
        entries=_marker_entries(markers, known) | _block_entries(frames, known),
        fitting=_fitting(frames, known, markers),
    )


def _is_marker(frame: Frame) -> bool:
    return frame.name.startswith(MARKER_PREFIX)


def _marker_entries(markers: Mapping[int, str], regions: Iterable[Region]) -> dict[int, tuple[str, ...]]:
    named = {region.marker: region.id for region in regions if region.kind is not RegionKind.BLOCK}
    return {index: (named[marker],) for index, marker in markers.items() if marker in named}


def _block_entries(frames: Sequence[Frame], regions: Iterable[Region]) -> dict[int, tuple[str, ...]]:
    bodies: dict[tuple[str, str, int], list[str]] = {}
    for region in regions:
        if region.kind is RegionKind.BLOCK and not region.detached:
            for line in region.body:
                bodies.setdefault((region.key.qualname, region.file, line), []).append(region.id)
    return {index: tuple(bodies[frame]) for index, frame in enumerate(frames) if frame in bodies}


def _fitting(
    frames: Sequence[Frame], regions: Iterable[Region], markers: Mapping[int, str]
) -> dict[int, frozenset[int]]:
    expected = {region.marker: region.expected for region in regions if region.expected is not None}
    functions: dict[tuple[str, str], set[int]] = {}
    for index, frame in enumerate(frames):
        functions.setdefault((frame.name, frame.file), set()).add(index)
    return {
        index: frozenset(_frames_of(expected[marker], functions))
        for index, marker in markers.items()
        if marker in expected
    }


def _frames_of(function: tuple[str, str], functions: Mapping[tuple[str, str], set[int]]) -> set[int]:
    """The frames of a function; where there are none, those that bear its last name alone, as before 3.11."""
    name, file = function
    return functions.get(function) or functions.get((name.rpartition(".")[2], file), set())
