"""What the time of threads is charged to: functions of the program, with the library calls that they make.

Each sample is charged to the innermost frame of the program. Without one, it is charged to
its last frame.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from profkit.model.profile import Frame, Profile
from profkit.transforms.origin import OWN_CODE, is_child_file, package_of
from profkit.transforms.trees import stack_weights
from profkit.transforms.waiting import has_ranks, wait_label

_IMPORT = "importlib._bootstrap"
_HALF = 0.5
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
    """Weight of all samples with the function on their stack."""
    total_of_line: int
    """Weight of all samples with the line on their stack."""
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
        self.is_program = [
            not (is_library(frame.file) or OWN_CODE.holds(frame.file) or is_child_file(frame.file))
            for frame in frames
        ]
        """By frame."""
        self.place_of = [_place(frame) for frame in frames]
        """By frame: the function of the program, if it is one."""
        numbers: dict[Place, int] = {}
        self.number_of = [numbers.setdefault(place, len(numbers)) for place in self.place_of]
        """By frame: a number for each place, which is faster to count than the place."""
        self.places = list(numbers)
        lines: dict[Frame, int] = {}
        self.line_number_of = [lines.setdefault(frame, len(lines)) for frame in frames]
        self.lines = lines
        self.imports = [_IMPORT in frame.file for frame in frames]
        """By frame: whether it is of Python's import system."""
        self.is_distributed = has_ranks(frames)
        self._stacks: Sequence[Sequence[int]] = ()
        self._found: dict[tuple[int, bool], _Charged] = {}
        """What these stacks are charged to, by number and whether they wait: selections share stacks."""

    def charges(self, profile: Profile, waiting: Collection[int]) -> list[Charge]:
        """Return what a profile's samples are charged to, the heaviest first; `waiting` has stacks that wait.

        The profile has the frames of these rules.
        """
        if profile.stacks is not self._stacks:
            self._stacks, self._found = profile.stacks, {}
        book = _Book(self)
        for stack, weight in stack_weights(profile).items():
            if profile.stacks[stack]:
                key = stack, stack in waiting
                found = self._found.get(key)
                if found is None:
                    found = self._found[key] = self._charged(profile.stacks[stack], waits=key[1])
                book.add(found, weight)
        return sorted(book.charges(), key=lambda charge: (-charge.weight, charge.place, charge.doing.value))

    def common_call(self, profile: Profile, top: Charge, most: float) -> CommonCall | None:
        """Return the common call if it has less than `most` weight and is not the function of `top`."""
        weights, totals = stack_weights(profile), self._totals_of_callers(profile)
        half = _HALF * sum(weights.values())
        found = {n for n, total in totals.items() if half < total < most and self.places[n] != top.place}
        if not found:
            return None
        depths, with_top = Counter[int](), Counter[int]()
        lines: dict[int, Counter[int]] = {number: Counter() for number in found}
        for stack, weight in weights.items():
            frames = profile.stacks[stack]
            on_stack = {self.number_of[frame]: self.frames[frame].line for frame in frames}
            has_top = any(self.place_of[frame] == top.place for frame in frames)
            for depth, number in enumerate(number for number in on_stack if number in found):
                depths[number] += weight * depth
                with_top[number] += weight * has_top
                lines[number][on_stack[number]] += weight
        inner = min(found, key=lambda number: (totals[number], -depths[number], self.places[number]))
        line = min(lines[inner], key=lambda one: (-lines[inner][one], one))
        return CommonCall(self.places[inner], line, totals[inner], with_top[inner] > _HALF * top.total)

    def _charged(self, stack: Sequence[int], *, waits: bool) -> _Charged:
        own = [n for n, frame in enumerate(stack) if self.is_program[frame]]
        at, doing = own[-1] if own else len(stack) - 1, Doing.WAITING if waits else Doing.WORKING
        if (importing := self._importing(stack, own)) is not None:
            at, doing = importing, Doing.IMPORTING
        function = stack[self._function_at(stack, at)]
        frames = [stack[n] for n in own] or [function]
        return _Charged(
            account=(self.number_of[function], doing),
            is_program=bool(own),
            line=self.frames[function].line,
            label=self._label(stack, at, function, knows_line=bool(own)) if doing is Doing.WAITING else "",
            end=self._end(stack, at, function, doing),
            places=tuple({self.number_of[frame] for frame in frames}),
            lines=tuple({self.line_number_of[frame] for frame in frames}),
        )

    def _label(self, stack: Sequence[int], at: int, function: int, *, knows_line: bool) -> str:
        frame, below = self.frames[function], [self.frames[one] for one in stack[at + 1 :]]
        source = self.line_of(frame.file, frame.line) if knows_line and frame.line else None
        return wait_label(below, source, is_distributed=self.is_distributed)

    def _importing(self, stack: Sequence[int], own: Sequence[int]) -> int | None:
        """Return the position of the program's outermost import; None if no module is being imported.

        A function of the program that a module calls while it is imported counts as itself.
        """
        if not own or not any(map(self.imports.__getitem__, stack)):
            return None
        begins = (n for n in range(own[0] + 1, len(stack)) if self.imports[stack[n]])
        begin = next(begins, None)
        if begin is None or (own[-1] > begin and self.frames[stack[own[-1]]].name != MODULE):
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

    def _totals_of_callers(self, profile: Profile) -> Counter[int]:
        """Return the weight below each named function of the program, by its number."""
        numbers = [
            number if is_program and not frame.name.endswith(">") else -1
            for number, is_program, frame in zip(self.number_of, self.is_program, self.frames, strict=True)
        ]
        totals: Counter[int] = Counter()
        for stack, weight in stack_weights(profile).items():
            for number in {numbers[frame] for frame in profile.stacks[stack]}:
                totals[number] += weight
        del totals[-1]
        return totals


class _Charged(NamedTuple):
    """What a stack is charged to: numbers of places and lines are those of the rules."""

    account: tuple[int, Doing]
    is_program: bool
    line: int
    label: str
    end: tuple[str, str]
    places: tuple[int, ...]
    lines: tuple[int, ...]


@dataclass(slots=True)
class _Account:
    """Weights of one place and kind."""

    is_program: bool
    weight: int = 0
    lines: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)


class _Book:
    """Weights by place, as samples are added."""

    def __init__(self, rules: Charging) -> None:
        self._rules = rules
        self._accounts: dict[tuple[int, Doing], _Account] = {}
        self._totals: Counter[int] = Counter()
        self._totals_of_lines: Counter[int] = Counter()
        """By number of place, and of line."""

    def add(self, found: _Charged, weight: int) -> None:
        account = self._accounts.get(found.account)
        if account is None:
            account = self._accounts[found.account] = _Account(found.is_program)
        account.weight += weight
        account.lines[found.line] += weight
        account.ends[found.end] += weight
        if found.account[1] is Doing.WAITING:
            account.labels[found.label] += weight
        for number in found.places:
            self._totals[number] += weight
        for number in found.lines:
            self._totals_of_lines[number] += weight

    def charges(self) -> Iterator[Charge]:
        for (number, doing), account in self._accounts.items():
            place = self._rules.places[number]
            line = min(account.lines, key=lambda one: (-account.lines[one], one))
            yield Charge(
                place=place,
                doing=doing,
                is_program=account.is_program,
                weight=account.weight,
                line=line,
                of_line=account.lines[line],
                total=self._totals[number],
                total_of_line=self._totals_of_lines[
                    self._rules.lines.get(Frame(place.name, place.file, line), -1)
                ],
                waits_for=max(account.labels, key=lambda one: (account.labels[one], one), default=""),
                end=_main_end(place, account),
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
