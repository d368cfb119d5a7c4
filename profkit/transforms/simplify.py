"""Simplify profiles: fold library frames, name native code, prune small calls, pick threads."""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress, groupby, repeat
from operator import itemgetter, ne

from profkit.model.profile import Frame, Profile, ProfileBuilder, Sample, ThreadState
from profkit.transforms.origin import (
    CHILD_PREFIX,
    is_child_file,
    is_library_file,
    is_native_file,
    is_threads_file,
    package_of,
)
from profkit.transforms.trees import (
    Functions,
    SortedStacks,
    Stack,
    number_functions,
    picked,
    sort_stacks,
)


class _FrameNumbers(dict[int, int]):
    """By frame of `source`: its index in `target`, to which it is added when it is first looked up."""

    def __init__(self, source: Profile, target: ProfileBuilder) -> None:
        super().__init__()
        self._source, self._target = source, target

    def __missing__(self, frame: int) -> int:
        number = self[frame] = self._target.frame(self._source.frames[frame])
        return number


class Reindexer:
    """Adapter that adds samples to `target` by indexes of `source`; each stack is mapped once."""

    def __init__(self, source: Profile, target: ProfileBuilder) -> None:
        self._source, self._target = source, target
        self._frames = _FrameNumbers(source, target)
        self._threads: dict[int, int] = {}
        self._stacks: dict[tuple[tuple[int, ...], ThreadState], int] = {}

    def stack(self, stack: tuple[int, ...], state: ThreadState = ThreadState.UNKNOWN) -> int:
        """Return the target's index of a stack, which may be missing from the source's table."""
        return self._target.stack(tuple(map(self._frames.__getitem__, stack)), state)

    def thread(self, thread: int) -> int:
        """Return the target's index of a thread of the source."""
        number = self._threads.get(thread)
        if number is None:
            number = self._threads[thread] = self._target.thread(self._source.threads[thread])
        return number

    def add(
        self,
        stack: tuple[int, ...],
        thread: int,
        weight: int,
        start: int | None = None,
        *,
        state: ThreadState = ThreadState.UNKNOWN,
    ) -> None:
        """Append one sample; `stack` may be missing from the source's table, but not its frames."""
        number = self._stacks.get((stack, state))
        if number is None:
            number = self._stacks[stack, state] = self.stack(stack, state)
        self._target.add_numbered(number, self.thread(thread), weight, start)


def build_like(source: Profile, target: ProfileBuilder, totals: Mapping[Frame, int] | None = None) -> Profile:
    """Return the profile of everything added to `target`, in the unit and period of `source`.

    It states only the given totals: those of the source do not hold for a part of it.
    """
    return target.build(unit=source.unit, period_ns=source.period_ns, ordered=source.ordered, totals=totals)


_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_VERSION = re.compile(r"\.so(?:\.\d+)*$")
_NO_LIBRARY = "[native code]"


def fold_addresses(profile: Profile, *, stated: bool = False) -> Profile:
    """Return the profile without functions named by an address; the same object if it has none.

    A profile with stated totals is returned unchanged, since there are none for whole libraries. With
    `stated`, it is folded too, and only the other functions keep their totals.
    """
    if profile.totals and not stated:
        return profile
    # Profiles can have millions of frames, with few names, and few of these are addresses.
    if not any(map(str.startswith, map(itemgetter(0), profile.frames), repeat("0x"))):
        return profile
    named = {
        n: _library(frame)
        for n, frame in enumerate(profile.frames)
        if not frame.line and _ADDRESS.fullmatch(frame.name)
    }
    if not named:
        return profile
    builder = ProfileBuilder()
    numbers = [builder.frame(named.get(number, frame)) for number, frame in enumerate(profile.frames)]
    folded = {numbers[number] for number in named}
    threads = [builder.thread(thread) for thread in profile.threads]
    stacks = [_fold_address([numbers[frame] for frame in stack], folded) for stack in profile.stacks]
    for (stack, thread, weight), start in zip(profile.samples, profile.known_starts(), strict=False):
        builder.add_indexed(stacks[stack], threads[thread], weight, start, state=profile.state_of(stack))
    totals = {
        frame: total
        for number, (frame, total) in enumerate(zip(profile.frames, profile.totals, strict=False))
        if total is not None and number not in named
    }
    return build_like(profile, builder, totals)


def _library(frame: Frame) -> Frame:
    """Return the function that represents all code of the library without symbols."""
    base = posixpath.basename(frame.file.rstrip("/"))
    return Frame(f"[{_VERSION.sub('.so', base)}]" if base else _NO_LIBRARY, frame.file)


def _fold_address(stack: list[int], folded: set[int]) -> tuple[int, ...]:
    """Merge adjacent frames of the same library."""
    if folded.isdisjoint(stack):
        return tuple(stack)
    kept: list[int] = []
    for frame, times in groupby(stack):
        kept += [frame] if frame in folded else list(times)
    return tuple(kept)


_LONGEST = 40
_MODULES = {
    "multiprocessing.spawn": "multiprocessing worker",
    "multiprocessing.forkserver": "multiprocessing fork server",
    "multiprocessing.resource_tracker": "multiprocessing resource tracker",
}
"""Modules in the code after -c of a process's command, and descriptions of that process."""


def child_frame(pid: int, command: str) -> Frame:
    """Return the frame of a child process: `python worker.py [pid 123]`."""
    return Frame(f"{_short(command)} [pid {pid}]", f"{CHILD_PREFIX}{pid}: {command}>")


def child_frames(frames: Sequence[Frame]) -> frozenset[int]:
    """Return the indexes of the frames that represent child processes."""
    return frozenset(number for number, frame in enumerate(frames) if is_child_file(frame.file))


def _short(command: str) -> str:
    """Return the program and its script, module, or first argument that is not an option."""
    program, *arguments = command.split() or [""]
    name = program.rpartition("/")[2] or "process"
    for place, argument in enumerate(arguments):
        if argument == "-c":
            code = " ".join(arguments[place + 1 :])
            return next((known for module, known in _MODULES.items() if module in code), f"{name} -c …")
        if argument == "-m":
            return _cut(" ".join([name, "-m", *arguments[place + 1 : place + 2]]))
        if not argument.startswith("-"):
            return _cut(f"{name} {argument.rpartition('/')[2]}")
    return _cut(name)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


HEAVY = 0.05
"""Share of the whole from which the innermost function of a fold is shown."""
_NATIVE = "native code"
"""Package of machine code: the sources of one library are in many folders."""


def fold_libraries(
    profile: Profile,
    is_library: Callable[[str], bool] = is_library_file,
    functions: Functions | None = None,
) -> Profile:
    """Return the profile with each run of frames of one library in a stack folded into its first one.

    In its call tree, a library frame represents everything reached from it through its own package only. A
    function in which such calls end with at least 5 % of all weight is below it, so that no fold hides where
    most time is spent. `is_library` takes a file. `functions` are those of the profile's frames, if known.
    """
    functions = functions or number_functions(profile.frames)
    of_function = package_numbers(functions, is_library)
    packages = list(map(of_function.__getitem__, functions.of))
    folded = [_folded(stack, packages) for stack in profile.stacks]
    return replace(profile, stacks=tuple(_with_heavy_ends(folded, profile, functions.of)))


_NO_PACKAGE = math.nan
"""Number for functions of the user's: it differs from itself, so none is folded into another."""


def package_numbers(functions: Functions, is_library: Callable[[str], bool]) -> list[float]:
    """Return a number for the package of each function; that of the user's functions equals no number."""
    of_file: dict[str, float] = {}
    numbers: dict[str, int] = {}
    for _, file in functions.keys:
        if file not in of_file:
            of_file[file] = (
                numbers.setdefault(_package(file), len(numbers)) if is_library(file) else _NO_PACKAGE
            )
    return [of_file[file] for _, file in functions.keys]


def _package(file: str) -> str:
    return _NATIVE if is_native_file(file) else package_of(file).partition(".")[0]


def _folded(stack: Stack, packages: Sequence[float]) -> Stack:
    of_frames = picked(stack, packages)
    return tuple(compress(stack, map(ne, of_frames, (_NO_PACKAGE, *of_frames))))


def _with_heavy_ends(folded: Sequence[Stack], profile: Profile, functions: Sequence[int]) -> Iterator[Stack]:
    """Yield folded stacks, those that end heavily in a function inside a fold with its frame."""
    ends: dict[int, tuple[Stack, int]] = {}
    weights: Counter[tuple[Stack, int]] = Counter()
    for number, weight in profile.weights_by_stack.items():
        stack, short = profile.stacks[number], folded[number]
        if short and functions[stack[-1]] != functions[short[-1]]:
            end = ends[number] = picked(short, functions), functions[stack[-1]]
            weights[end] += weight
    least = HEAVY * profile.total_weight
    for number, short in enumerate(folded):
        is_heavy = number in ends and weights[ends[number]] >= least
        yield (*short, profile.stacks[number][-1]) if is_heavy else short


def leave_out_libraries(
    profile: Profile,
    is_library: Callable[[str], bool] = is_library_file,
    functions: Functions | None = None,
) -> Profile:
    """Return the profile without library frames; stacks of library frames only are unchanged.

    `functions` are those of the profile's frames, if known.
    """
    functions = functions or number_functions(profile.frames)
    of_users = [not is_library(file) for _, file in functions.keys]
    users = list(map(of_users.__getitem__, functions.of))
    stacks = [tuple([frame for frame in stack if users[frame]]) or stack for stack in profile.stacks]
    return replace(profile, stacks=tuple(stacks), totals=_totals_of(stacks, profile))


def only_users_code(
    profile: Profile, is_library: Callable[[str], bool] = is_library_file
) -> tuple[Profile, int]:
    """Return a profile without stacks that end in a library, and their weight; all if each of them does.

    Apply it to what `leave_out_libraries` returns: these are then stacks of library frames only.
    """
    foreign = [bool(stack) and is_library(profile.frames[stack[-1]].file) for stack in profile.stacks]
    weight = sum(sample.weight for sample in profile.samples if foreign[sample.stack])
    if all(foreign[sample.stack] or not profile.stacks[sample.stack] for sample in profile.samples):
        return profile, 0
    stacks = [() if other else stack for stack, other in zip(profile.stacks, foreign, strict=True)]
    return replace(profile, stacks=tuple(stacks), totals=_totals_of(stacks, profile)), weight


def _totals_of(stacks: Iterable[Stack], profile: Profile) -> tuple[int | None, ...]:
    left: set[int] = set().union(*stacks) if profile.totals else set()
    return tuple(total if frame in left else None for frame, total in enumerate(profile.totals))


SMALLER_CALLS = Frame("smaller calls", "")
"""Represents all calls of a caller that are left out."""


def prune(profile: Profile, min_share: float) -> Profile:
    """Return the profile with only the calls that weigh at least that part of the whole.

    The others' weight is that of `SMALLER_CALLS` under the same caller. Samples keep their order; equal
    neighbours of a thread become one. Stated totals stay, since they are of functions.
    """
    functions: dict[tuple[str, str], int] = {}
    keys = [functions.setdefault((frame.name, frame.file), len(functions)) for frame in profile.frames]
    ordered = sort_stacks(profile, keys)
    depths = _kept_depths(ordered, min_share * profile.total_weight)
    smaller = len(profile.frames)
    stacks: dict[tuple[Stack, ThreadState], int] = {}
    places = []
    for number, (stack, place) in enumerate(zip(profile.stacks, ordered.places, strict=True)):
        depth = depths[place] if place >= 0 else len(stack)
        cut = stack if depth == len(stack) else (*stack[:depth], smaller)
        places.append(stacks.setdefault((cut, profile.state_of(number)), len(stacks)))
    return Profile(
        unit=profile.unit,
        period_ns=profile.period_ns,
        frames=(*profile.frames, SMALLER_CALLS),
        stacks=tuple(stack for stack, _ in stacks),
        threads=profile.threads,
        samples=_moved(profile, places),
        ordered=profile.ordered,
        totals=(*profile.totals, None) if profile.totals else (),
        states=tuple(state for _, state in stacks) if profile.states else (),
    )


def _kept_depths(sorted_stacks: SortedStacks, least: float) -> list[int]:
    """Return how many frames of each stack belong to calls of at least that weight."""
    opened: list[tuple[int, int]] = []  # per call: the first stack with it, the weight before it
    heavy = [0] * len(sorted_stacks.stacks)  # number of calls that begin with a stack and weigh enough
    before = 0

    def close(depth: int) -> None:
        while len(opened) > depth:
            first, since = opened.pop()
            heavy[first] += before - since >= least

    for number, (stack, shared) in enumerate(zip(sorted_stacks.stacks, sorted_stacks.shared, strict=True)):
        close(shared)
        opened += [(number, before)] * (len(stack) - shared)
        before += sorted_stacks.weights[number]
    close(0)
    return _depths(heavy, sorted_stacks.shared)


def _depths(heavy: Sequence[int], shared: Sequence[int]) -> list[int]:
    depths: list[int] = []
    for more, common in zip(heavy, shared, strict=True):
        previous = depths[-1] if depths else 0
        # A call weighs no more than its caller: nothing is kept below an omitted one.
        depths.append(previous if previous < common else common + more)
    return depths


def _moved(profile: Profile, places: Sequence[int]) -> tuple[Sample, ...]:
    """Return the samples with other stacks; equal neighbours of a thread are merged."""
    moved: list[Sample] = []
    newest: dict[int, int] = {}
    for stack, thread, weight in profile.samples:
        at = newest.get(thread, -1)
        if at >= 0 and moved[at].stack == places[stack]:
            moved[at] = Sample(places[stack], thread, moved[at].weight + weight)
        else:
            newest[thread] = len(moved)
            moved.append(Sample(places[stack], thread, weight))
    return tuple(moved)


def keep_leaf_end(profile: Profile, frames: int) -> Profile:
    """Return the profile with at most `frames` frames per stack, nearest the leaf; 0 keeps all."""
    if frames < 0:
        raise ValueError(f"a stack cannot keep {frames} frames")
    if frames == 0 or all(len(stack) <= frames for stack in profile.stacks):
        return profile
    return _kept(profile, lambda sample: profile.stacks[sample.stack][-frames:])


def keep_threads(profile: Profile, tids: Collection[int]) -> Profile:
    """Return the profile of the threads with these system ids."""
    threads = {n for n, thread in enumerate(profile.threads) if thread.tid in tids}
    return _kept(profile, lambda one: profile.stacks[one.stack] if one.thread in threads else None)


def _kept(profile: Profile, stack_of: Callable[[Sample], Stack | None]) -> Profile:
    """Return the profile with the stacks that a function returns, and without samples of which it is None."""
    builder = ProfileBuilder()
    reindexer = Reindexer(profile, builder)
    for sample, start in zip(profile.samples, profile.known_starts(), strict=False):
        if (stack := stack_of(sample)) is not None:
            state = profile.state_of(sample.stack)
            reindexer.add(stack, sample.thread, sample.weight, start, state=state)
    return build_like(profile, builder)


def without_own_threads(profile: Profile) -> Profile:
    """Return the profile without profkit's own threads.

    Most samples of such a thread begin in profkit. A torn stack of any other thread can begin there, too.
    """
    files = set(filter(is_threads_file, {frame.file for frame in profile.frames}))
    roots = {number for number, frame in enumerate(profile.frames) if frame.file in files}
    if not roots:
        return profile
    balances: Counter[int] = Counter()
    for sample in profile.samples:
        begins_there = not roots.isdisjoint(profile.stacks[sample.stack][:1])
        balances[profile.threads[sample.thread].tid] += sample.weight if begins_there else -sample.weight
    own = {tid for tid, balance in balances.items() if balance > 0}
    if not own:
        return profile
    return keep_threads(profile, {thread.tid for thread in profile.threads} - own)
