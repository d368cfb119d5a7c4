"""What the time of threads is charged to: functions of the program, with the library calls that they make.

Each sample is charged to the innermost frame of the program. Without one, it is charged to
its last frame.
"""

from __future__ import annotations

import enum
import itertools
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from profkit.model.profile import Frame, Profile
from profkit.transforms.origin import OWN_CODE, is_child_file, package_of
from profkit.transforms.trees import Functions, by_weight, number_functions, stack_weights, sum_parts
from profkit.transforms.waiting import has_ranks, wait_label

_IMPORT = "importlib._bootstrap"
_HALF = 0.5
_MOST = 0.75
"""Part of all weight in which a function that has more than half of it is searched for first."""
TOTALLED = 10
"""Number of charges with totals: no more have a tenth of all weight."""
MODULE = "<module>"
"""Name of the code of a module outside of functions."""


_LAMBDA = "<lambda>"
_INNER = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})


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


@dataclass(frozen=True, slots=True)
class Charge:
    """Weight of a function of the program, for working, waiting or importing there."""

    place: Place
    doing: Doing
    is_program: bool
    """Whether it is a function of the program, not a library's."""
    weight: int
    line: int
    """The line to which most of it is charged, 0 if unknown."""
    of_line: int
    """Weight that is charged to that line."""
    total: int
    """Weight of all samples with the function on their stack; 0 if many others are heavier."""
    total_of_line: int
    """Weight of all samples with the line on their stack; 0 if many others are heavier."""
    waits_for: str
    """Label of most of the waiting, empty if it is not known."""
    end: Frame | None
    """Library function with more than half of the weight; without a name, the library."""

    @property
    def is_work_of_a_function(self) -> bool:
        """Return whether it is work in a function, not of an interpreter that starts or ends."""
        return self.doing is Doing.WORKING and not is_child_file(self.place.file)


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
    """Rules by which samples with some frames are charged."""

    def __init__(
        self,
        frames: Sequence[Frame],
        is_library: Callable[[str], bool],
        line_of: Callable[[str, int], str | None],
    ) -> None:
        """`is_library` takes a file, and `line_of` returns a line's source if it is known."""
        self.frames, self.line_of = frames, line_of
        # Profiles can have millions of frames, in few files.
        files = [frame.file for frame in frames]
        programs = {
            file: not (is_library(file) or OWN_CODE.holds(file) or is_child_file(file)) for file in set(files)
        }
        self.is_program = list(map(programs.__getitem__, files))
        """By frame."""
        imports = {file for file in programs if _IMPORT in file}
        self.imports = frozenset(n for n, file in enumerate(files) if file in imports) if imports else imports
        """Frames of Python's import system."""
        self.is_distributed = has_ranks(frames)
        self._stacks: Sequence[Sequence[int]] = ()
        self._found: dict[tuple[int, bool], _Charged] = {}
        """What these stacks are charged to, by number and whether they wait: selections share stacks."""
        self._working: dict[tuple[int, int], _Charged] = {}
        """What stacks of work are charged to, by their innermost frame of the program and their last one."""

    def charges(self, profile: Profile, waiting: Collection[int]) -> list[Charge]:
        """Return what a profile's samples are charged to, the heaviest first; `waiting` has stacks that wait.

        The profile has the frames of these rules. Only the `TOTALLED` heaviest charges have totals.
        """
        if profile.stacks is not self._stacks:
            self._stacks, self._found = profile.stacks, {}
        weights: dict[_Charged, int] = {}
        for stack, weight in stack_weights(profile).items():
            if profile.stacks[stack]:
                key = stack, stack in waiting
                found = self._found.get(key)
                if found is None:
                    found = self._found[key] = self._charged(profile.stacks[stack], waits=key[1])
                weights[found] = weights.get(found, 0) + weight
        accounts = _accounts(weights)
        charges = sorted(
            itertools.starmap(_charge, accounts.items()),
            key=lambda charge: (-charge.weight, charge.place, charge.doing.value),
        )
        return [*self._totalled(charges[:TOTALLED], accounts, profile), *charges[TOTALLED:]]

    def _totalled(
        self, charges: Sequence[Charge], accounts: Mapping[_Key, _Account], profile: Profile
    ) -> Iterator[Charge]:
        """Yield charges with their totals."""
        places = {charge.place for charge in charges if charge.is_program}
        names = {place[:2] for place in places}
        places_of = {
            number: place
            for number, frame in enumerate(self.frames)
            if frame[:2] in names and (place := _place(frame)) in places
        }
        among, totals = frozenset(places_of), Counter[frozenset[int]]()
        for stack, weight in stack_weights(profile).items() if among else ():
            totals[among.intersection(profile.stacks[stack])] += weight
        of_places: Counter[Place] = Counter()
        of_lines: Counter[tuple[Place, int]] = Counter()
        for frames, weight in totals.items():
            for place in {places_of[frame] for frame in frames}:
                of_places[place] += weight
            for line in {(places_of[frame], self.frames[frame].line) for frame in frames}:
                of_lines[line] += weight
        for (place, _), account in accounts.items():
            if not account.is_program:  # on no stack that is charged to another place
                of_places[place] += account.weight
                for number, weight in account.lines.items():
                    of_lines[place, number] += weight
        for charge in charges:
            total_of_line = of_lines[charge.place, charge.line]
            yield replace(charge, total=of_places[charge.place], total_of_line=total_of_line)

    def common_call(self, profile: Profile, top: Charge, most: float) -> CommonCall | None:
        """Return the common call if it has less than `most` weight and is not the function of `top`."""
        weights, totals = stack_weights(profile), self._totals_of_callers(profile)
        functions, names = self._functions.of, self._functions.keys
        half = _HALF * sum(weights.values())
        found = {n for n, total in totals.items() if half < total < most and Place(*names[n], 0) != top.place}
        if not found:
            return None
        depths, with_top = Counter[int](), Counter[int]()
        lines: dict[int, Counter[int]] = {number: Counter() for number in found}
        of_top = frozenset(n for n, frame in enumerate(self.frames) if _place(frame) == top.place)
        for stack, weight in weights.items():
            frames = profile.stacks[stack]
            on_stack = {functions[frame]: self.frames[frame].line for frame in frames}
            has_top = not of_top.isdisjoint(frames)
            for depth, number in enumerate(number for number in on_stack if number in found):
                depths[number] += weight * depth
                with_top[number] += weight * has_top
                lines[number][on_stack[number]] += weight
        inner = min(found, key=lambda number: (totals[number], -depths[number], names[number]))
        line = min(lines[inner], key=lambda one: (-lines[inner][one], one))
        return CommonCall(Place(*names[inner], 0), line, totals[inner], with_top[inner] > _HALF * top.total)

    @cached_property
    def _functions(self) -> Functions:
        return number_functions(self.frames)

    def _charged(self, stack: Sequence[int], *, waits: bool) -> _Charged:
        innermost = next(filter(self.is_program.__getitem__, reversed(stack)), -1)
        if waits or not self.imports.isdisjoint(stack) or self._is_inner(innermost):
            return self._charged_by_position(stack, waits=waits)
        key = innermost, stack[-1]
        if key not in self._working:
            self._working[key] = self._charged_by_position(stack, waits=False)
        return self._working[key]

    def _is_named(self, frame: int) -> bool:
        return self.is_program[frame] and not self.frames[frame].name.endswith(">")

    def _is_inner(self, frame: int) -> bool:
        return frame >= 0 and self.frames[frame].name.endswith(tuple(_INNER))

    def _charged_by_position(self, stack: Sequence[int], *, waits: bool) -> _Charged:
        after = next(
            itertools.compress(itertools.count(), map(self.is_program.__getitem__, reversed(stack))), None
        )
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

    def _totals_of_callers(self, profile: Profile) -> Mapping[int, int]:
        """Return the weight below each named function of the program that can have more than half of it."""
        weights = sorted(stack_weights(profile).items(), key=itemgetter(1), reverse=True)
        least = (1 - _HALF) * sum(weight for _, weight in weights)
        # Few stacks have most weight, and a function that is on few of these cannot have half of all.
        before = [0, *itertools.accumulate(weight for _, weight in weights)]
        heavy = bisect_left(before, _MOST * before[-1])
        named = map(self._is_named, range(len(self.frames)))
        numbers = [n if is_named else -1 for n, is_named in zip(self._functions.of, named, strict=True)]
        stacks = profile.stacks
        totals = sum_parts(
            by_weight((stacks[stack], weight) for stack, weight in weights[:heavy]),
            lambda stack: {numbers[frame] for frame in stack},
        )
        left = before[-1] - before[heavy]
        kept = {n: total for n, total in totals.items() if n >= 0 and total + left > least}
        frames = frozenset(frame for frame, number in enumerate(numbers) if number in kept)
        for stack, weight in weights[heavy:] if kept else ():
            for number in {numbers[frame] for frame in frames.intersection(stacks[stack])}:
                kept[number] += weight
        return kept


@dataclass(frozen=True, slots=True, eq=False)
class _Charged:
    """What stacks are charged to; equal ones are counted apart, since they are compared by identity."""

    place: Place
    doing: Doing
    is_program: bool
    line: int
    label: str
    end: tuple[str, str]


@dataclass(slots=True)
class _Account:
    """Weights of one place and kind."""

    is_program: bool
    weight: int = 0
    lines: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)


_Key = tuple[Place, Doing]


def _accounts(weights: Mapping[_Charged, int]) -> dict[_Key, _Account]:
    accounts: dict[_Key, _Account] = {}
    for found, weight in weights.items():
        account = accounts.setdefault((found.place, found.doing), _Account(found.is_program))
        account.weight += weight
        account.lines[found.line] += weight
        account.ends[found.end] += weight
        if found.doing is Doing.WAITING:
            account.labels[found.label] += weight
    return accounts


def _charge(key: _Key, account: _Account) -> Charge:
    """Return the charge of an account, without totals."""
    line = min(account.lines, key=lambda one: (-account.lines[one], one))
    return Charge(
        place=key[0],
        doing=key[1],
        is_program=account.is_program,
        weight=account.weight,
        line=line,
        of_line=account.lines[line],
        total=0,
        total_of_line=0,
        waits_for=max(account.labels, key=lambda one: (account.labels[one], one), default=""),
        end=_main_end(key[0], account),
    )


def _place(frame: Frame) -> Place:
    is_named = frame.name != MODULE and not frame.name.endswith(_LAMBDA)
    return Place(frame.name, frame.file, 0 if is_named else frame.line)


def _main_end(place: Place, account: _Account) -> Frame | None:
    """Return the function, or else the library, in which more than half of a charge is."""
    own = (place.name, place.file)
    end = max(account.ends, key=lambda one: (account.ends[one], one))
    if account.ends[end] > _HALF * account.weight:
        return Frame(*end) if end != own and end[1] else None
    packages: Counter[str] = Counter()
    file_of = {}
    for other, weight in account.ends.items():
        if other != own and other[1]:
            package = package_of(other[1])
            packages[package] += weight
            file_of[package] = other[1]
    most = max(packages, key=lambda one: (packages[one], one), default="")
    return Frame("", file_of[most]) if packages[most] > _HALF * account.weight else None
