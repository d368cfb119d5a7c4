"""What the time of threads is charged to: functions of the program, with the library calls that they make.

Each sample is charged to the innermost frame of the program. Without one, it is charged to
its last frame.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, count
from typing import NamedTuple, TypeVar

from profkit.model.profile import Frame, Profile
from profkit.transforms.origin import OWN_CODE, is_child_file, package_of
from profkit.transforms.trees import Functions, number_functions, picked, sum_parts
from profkit.transforms.waiting import has_ranks, wait_label

_IMPORT = "importlib._bootstrap"
_HALF = 0.5
MODULE = "<module>"
"""Name of the code of a module outside of functions."""


_LAMBDA = "<lambda>"
_INNER = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


class Doing(enum.Enum):
    """What a thread does in a function."""

    WORKING = "working"
    WAITING = "waiting"
    IMPORTING = "importing"


class Place(NamedTuple):
    """A function of the program, or a line of a lambda or outside of functions."""

    name: str
    file: str
    line: int
    """0 for functions with a name."""


@dataclass(frozen=True, eq=False)
class Charge:
    """Weight of a function of the program, for working, waiting or importing there.

    Most charges of a summary are only counted, so what takes time is found out when it is asked for.
    """

    place: Place
    doing: Doing
    is_program: bool
    """Whether it is a function of the program, not a library's."""
    weight: int
    _parts: Mapping[_Charged, int]
    _samples: _Samples

    @property
    def is_work_of_a_function(self) -> bool:
        """Return whether it is work in a function, not of an interpreter that starts or ends."""
        return self.doing is Doing.WORKING and not is_child_file(self.place.file)

    @cached_property
    def line(self) -> int:
        """The line to which most of it is charged, 0 if unknown."""
        return min(self._lines, key=lambda one: (-self._lines[one], one))

    @property
    def of_line(self) -> int:
        """Weight that is charged to that line."""
        return self._lines[self.line]

    @cached_property
    def _lines(self) -> Mapping[int, int]:
        return _sums((part.line, weight) for part, weight in self._parts.items())

    @cached_property
    def total(self) -> int:
        """Weight of all samples with the function on their stack."""
        # One that is not of the program is on no stack that is charged to another place.
        if self.is_program:
            return self._samples.total_of(self.place)
        return sum(weight for _, weight in self._samples.charged_to(self.place))

    @cached_property
    def total_of_line(self) -> int:
        """Weight of all samples with the line on their stack."""
        if self.is_program:
            return self._samples.total_of_line(self.place, self.line)
        return sum(weight for line, weight in self._samples.charged_to(self.place) if line == self.line)

    @cached_property
    def waits_for(self) -> str:
        """Label of most of the waiting, empty if it is not known."""
        if self.doing is not Doing.WAITING:
            return ""
        labels = _sums((part.label, weight) for part, weight in self._parts.items())
        return max(labels, key=lambda one: (labels[one], one))

    @cached_property
    def end(self) -> Frame | None:
        """Library function with more than half of the weight; without a name, the library."""
        return _main_end(
            self.place, self.weight, _sums((part.end, weight) for part, weight in self._parts.items())
        )

    def common_call(self, most: float) -> CommonCall | None:
        """Return the common call of the samples of all charges.

        None if it has `most` weight, or if it is this charge's function.
        """
        return self._samples.common_call(self, most)


@dataclass(frozen=True, slots=True)
class CommonCall:
    """The innermost function of the program that has more than half of a profile below it."""

    place: Place
    line: int
    """The line with most of its total."""
    total: int
    has_top: bool
    """Whether it is on most stacks of the heaviest charge's function."""


class Charging:
    """Rules by which the samples of a profile, and of selections of them, are charged."""

    def __init__(
        self,
        profile: Profile,
        waiting: Collection[int],
        is_library: Callable[[str], bool],
        line_of: Callable[[str, int], str | None],
    ) -> None:
        """Take the stacks that wait, a test of files, and what returns a line's source if it is known."""
        self.frames, self.stacks, self.line_of = profile.frames, profile.stacks, line_of
        self._waiting = frozenset(waiting)
        # Profiles can have millions of frames, in few files.
        functions = number_functions(self.frames)
        files = {file for _, file in functions.keys}
        programs = {
            file: not (is_library(file) or OWN_CODE.holds(file) or is_child_file(file)) for file in files
        }
        are_programs = [programs[file] for _, file in functions.keys]
        self.is_program = list(map(are_programs.__getitem__, functions.of))
        """By frame."""
        self.imports = frozenset[int]()
        """Frames of Python's import system."""
        if imports := {file for file in files if _IMPORT in file}:
            self.imports = frozenset(n for n, frame in enumerate(self.frames) if frame.file in imports)
        self.is_distributed = has_ranks(self.frames)
        self.places, self.place_of = _number_places(self.frames, functions, are_programs)
        self._function_of = functions.of
        self._inner = frozenset(n for n, (name, _) in enumerate(functions.keys) if name.endswith(_INNER))
        """Functions that are comprehensions."""
        self._places_on: dict[int, Sequence[int]] = {}
        self._charged_by_stack: list[_Charged | None] = [None] * len(self.stacks)
        self._working: dict[tuple[int, int], _Charged] = {}
        """What stacks of work are charged to, by their innermost frame of the program and their last one."""

    def charges(self, selection: Profile) -> list[Charge]:
        """Return what a selection of the profile's samples is charged to, the heaviest first."""
        of_stacks = selection.weights_by_stack
        weights: dict[_Charged, int] = {}
        known = self._charged_by_stack
        for stack, weight in of_stacks.items():
            if self.stacks[stack]:
                found = known[stack]
                if found is None:
                    found = known[stack] = self._charged(self.stacks[stack], waits=stack in self._waiting)
                weights[found] = weights.get(found, 0) + weight
        accounts: dict[tuple[Place, Doing], dict[_Charged, int]] = {}
        for found, weight in weights.items():
            accounts.setdefault((found.place, found.doing), {})[found] = weight
        samples = _Samples(self, of_stacks, accounts)
        charges = [
            Charge(*key, next(iter(parts)).is_program, sum(parts.values()), parts, samples)
            for key, parts in accounts.items()
        ]
        return sorted(charges, key=lambda charge: (-charge.weight, charge.place, charge.doing.value))

    def places_on(self, stack: int) -> Sequence[int]:
        """Return the numbers of the places on a stack, each once."""
        found = self._places_on.get(stack)
        if found is None:
            places = set(picked(self.stacks[stack], self.place_of))
            found = self._places_on[stack] = tuple(places.difference(_NOWHERE))
        return found

    def _charged(self, stack: Sequence[int], *, waits: bool) -> _Charged:
        innermost = next(filter(self.is_program.__getitem__, reversed(stack)), -1)
        if waits or (self.imports and not self.imports.isdisjoint(stack)):
            return self._charged_by_position(stack, waits=waits)
        if innermost >= 0 and self._function_of[innermost] in self._inner:
            return self._charged_by_position(stack, waits=False)
        key = innermost, stack[-1]
        found = self._working.get(key)
        if found is None:
            found = self._working[key] = self._charged_by_position(stack, waits=False)
        return found

    def _charged_by_position(self, stack: Sequence[int], *, waits: bool) -> _Charged:
        after = next(compress(count(), map(self.is_program.__getitem__, reversed(stack))), None)
        at, doing = len(stack) - 1 - (after or 0), Doing.WAITING if waits else Doing.WORKING
        if after is not None and (importing := self._importing(stack, at)) is not None:
            at, doing = importing, Doing.IMPORTING
        function = stack[self._function_at(stack, at)]
        return _Charged(
            place=_place(self.frames[function]),
            doing=doing,
            is_program=after is not None,
            line=self.frames[function].line,
            label=self._label(stack, at, function, knows_line=after is not None)
            if doing is Doing.WAITING
            else "",
            end=self._end(stack, at, function, doing),
        )

    def _label(self, stack: Sequence[int], at: int, function: int, *, knows_line: bool) -> str:
        frame, below = self.frames[function], [self.frames[one] for one in stack[at + 1 :]]
        source = self.line_of(frame.file, frame.line) if knows_line and frame.line else None
        return wait_label(below, source, is_distributed=self.is_distributed)

    def _importing(self, stack: Sequence[int], innermost: int) -> int | None:
        """Return the position of the program's outermost import; None if no module is being imported.

        `innermost` is the program's innermost frame. A function of the program that a module calls while it
        is imported counts as itself.
        """
        if self.imports.isdisjoint(stack):
            return None
        own = [n for n, frame in enumerate(stack) if self.is_program[frame]]
        begins = (n for n in range(own[0] + 1, len(stack)) if stack[n] in self.imports)
        begin = next(begins, None)
        if begin is None or (innermost > begin and self.frames[stack[innermost]].name != MODULE):
            return None
        return max(n for n in own if n < begin)

    def _function_at(self, stack: Sequence[int], at: int) -> int:
        """Return the position of the function around comprehensions, which has a name to look for."""
        while at and self.is_program[stack[at - 1]]:
            name, file, _ = self.frames[stack[at]]
            caller = self.frames[stack[at - 1]]
            inner = name.removeprefix(f"{caller.name}.<locals>.")
            if inner not in _INNER or caller.file != file:
                break
            at -= 1
        return at

    def _end(self, stack: Sequence[int], at: int, function: int, doing: Doing) -> tuple[str, str]:
        """Return name and file of the library function in which a charge ends, or of an imported module."""
        if doing is Doing.IMPORTING:
            files = (self.frames[frame].file for frame in stack[at + 1 :])
            return "", next((file for file in files if file and not file.startswith("<frozen importlib")), "")
        return self.frames[stack[-1] if at + 1 < len(stack) else function][:2]


_NOWHERE = (-1,)
"""Number of the place of frames that are not the program's."""


def _number_places(
    frames: Sequence[Frame], functions: Functions, are_programs: Sequence[bool]
) -> tuple[dict[Place, int], list[int]]:
    """Return the numbers of the program's places, and by frame the number of its place."""
    places: dict[Place, int] = {}
    of_functions: list[int] = []
    unnamed: set[int] = set()
    for number, (function, is_program) in enumerate(zip(functions.keys, are_programs, strict=True)):
        place = _place(Frame(*function))
        of_functions.append(places.setdefault(place, len(places)) if is_program else -1)
        if is_program and not _is_named(function[0]):
            unnamed.add(number)
    of_frames = list(map(of_functions.__getitem__, functions.of))
    if unnamed:
        for frame, number in enumerate(functions.of):
            if number in unnamed:
                of_frames[frame] = places.setdefault(_place(frames[frame]), len(places))
    return places, of_frames


class _Samples:
    """Selected samples, and what they are charged to."""

    def __init__(
        self,
        rules: Charging,
        weights: Mapping[int, int],
        accounts: Mapping[tuple[Place, Doing], Mapping[_Charged, int]],
    ) -> None:
        """`weights` are those of stacks."""
        self._rules, self._weights, self._accounts = rules, weights, accounts

    def charged_to(self, place: Place) -> Iterator[tuple[int, int]]:
        """Yield lines and weights that are charged to a place."""
        for doing in Doing:
            for part, weight in self._accounts.get((place, doing), {}).items():
                yield part.line, weight

    def total_of(self, place: Place) -> int:
        """Return the weight of the samples with a place of the program on their stack."""
        return self._totals[self._rules.places[place]]

    @cached_property
    def _totals(self) -> list[int]:
        return sum_parts(self._weights.items(), self._rules.places_on, len(self._rules.places))

    def total_of_line(self, place: Place, line: int) -> int:
        """Return the weight of the samples with a line of a place of the program on their stack."""
        rules, wanted = self._rules, self._rules.places[place]
        frames = frozenset(
            n for n, number in enumerate(rules.place_of) if number == wanted and rules.frames[n].line == line
        )
        return sum(
            weight
            for stack, weight in self._weights.items()
            if wanted in rules.places_on(stack) and not frames.isdisjoint(rules.stacks[stack])
        )

    def common_call(self, top: Charge, most: float) -> CommonCall | None:
        """Return the common call if it has less than `most` weight and is not the function of `top`."""
        rules, totals = self._rules, self._totals
        half = _HALF * sum(self._weights.values())
        found = {
            number: place
            for place, number in rules.places.items()
            if half < totals[number] < most and not place.name.endswith(">") and place != top.place
        }
        if not found:
            return None
        depths, with_top = Counter[int](), Counter[int]()
        lines: dict[int, Counter[int]] = {number: Counter() for number in found}
        alike = compress(count(), map(rules.places.get(top.place, -1).__eq__, rules.place_of))
        of_top = frozenset(n for n in alike if _place(rules.frames[n]) == top.place)
        for stack, weight in self._weights.items():
            frames = rules.stacks[stack]
            on_stack = {rules.place_of[frame]: rules.frames[frame].line for frame in frames}
            has_top = not of_top.isdisjoint(frames)
            for depth, number in enumerate(number for number in on_stack if number in found):
                depths[number] += weight * depth
                with_top[number] += weight * has_top
                lines[number][on_stack[number]] += weight
        inner = min(found, key=lambda number: (totals[number], -depths[number], found[number]))
        line = min(lines[inner], key=lambda one: (-lines[inner][one], one))
        return CommonCall(found[inner], line, totals[inner], with_top[inner] > _HALF * top.total)


@dataclass(frozen=True, slots=True, eq=False)
class _Charged:
    """What stacks are charged to; equal ones are counted apart, since they are compared by identity."""

    place: Place
    doing: Doing
    is_program: bool
    line: int
    label: str
    end: tuple[str, str]


_T = TypeVar("_T", bound=Hashable)


def _sums(weighted: Iterable[tuple[_T, int]]) -> dict[_T, int]:
    sums: dict[_T, int] = {}
    for one, weight in weighted:
        sums[one] = sums.get(one, 0) + weight
    return sums


def _place(frame: Frame) -> Place:
    return Place(frame.name, frame.file, 0 if _is_named(frame.name) else frame.line)


def _is_named(name: str) -> bool:
    return name != MODULE and not name.endswith(_LAMBDA)


def _main_end(place: Place, weight: int, ends: Mapping[tuple[str, str], int]) -> Frame | None:
    """Return the function, or else the library, in which more than half of a charge is."""
    own = (place.name, place.file)
    end = max(ends, key=lambda one: (ends[one], one))
    if ends[end] > _HALF * weight:
        return Frame(*end) if end != own and end[1] else None
    packages: Counter[str] = Counter()
    file_of = {}
    for other, of_end in ends.items():
        if other != own and other[1]:
            package = package_of(other[1])
            packages[package] += of_end
            file_of[package] = other[1]
    most = max(packages, key=lambda one: (packages[one], one), default="")
    return Frame("", file_of[most]) if packages[most] > _HALF * weight else None
