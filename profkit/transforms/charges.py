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
        self.is_distributed = has_ranks(frames)

    def charges(self, profile: Profile, waiting: Collection[int]) -> list[Charge]:
        """Return what a profile's samples are charged to, the heaviest first; `waiting` has stacks that wait.

        The profile has the frames of these rules.
        """
        book = _Book(self)
        for stack, weight in stack_weights(profile).items():
            if profile.stacks[stack]:
                book.add(profile.stacks[stack], weight, waits=stack in waiting)
        return sorted(book.charges(), key=lambda charge: (-charge.weight, charge.place, charge.doing.value))

    def common_call(self, profile: Profile, top: Charge, most: float) -> CommonCall | None:
        """Return the common call if it has less than `most` weight and is not the function of `top`."""
        totals, depths, with_top = Counter[Place](), Counter[Place](), Counter[Place]()
        lines: dict[Place, Counter[int]] = {}
        weights = stack_weights(profile)
        for stack, weight in weights.items():
            own = [self.frames[frame] for frame in profile.stacks[stack] if self.is_program[frame]]
            places = {_place(frame): frame.line for frame in own if not frame.name.endswith(">")}
            for depth, (place, line) in enumerate(places.items()):
                totals[place] += weight
                depths[place] += weight * depth
                with_top[place] += weight * (top.place in places)
                lines.setdefault(place, Counter())[line] += weight
        half = _HALF * sum(weights.values())
        found = [place for place, total in totals.items() if half < total < most and place != top.place]
        if not found:
            return None
        inner = min(found, key=lambda place: (totals[place], -depths[place], place))
        line = min(lines[inner], key=lambda one: (-lines[inner][one], one))
        return CommonCall(inner, line, totals[inner], with_top[inner] > _HALF * top.total)


@dataclass(slots=True)
class _Account:
    is_program: bool
    weight: int = 0
    lines: Counter[int] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)


class _Book:
    """Weights by place, as samples are added."""

    def __init__(self, rules: Charging) -> None:
        self._rules, self._frames, self._is_program = rules, rules.frames, rules.is_program
        self._accounts: dict[tuple[Place, Doing], _Account] = {}
        self._totals: Counter[Place] = Counter()
        self._totals_of_lines: Counter[tuple[str, str, int]] = Counter()

    def add(self, stack: Sequence[int], weight: int, *, waits: bool) -> None:
        own = [n for n, frame in enumerate(stack) if self._is_program[frame]]
        at, doing = own[-1] if own else len(stack) - 1, Doing.WAITING if waits else Doing.WORKING
        if (importing := self._importing(stack, own)) is not None:
            at, doing = importing, Doing.IMPORTING
        below = [self._frames[frame] for frame in stack[at + 1 :]]
        frame = self._frames[stack[self._function_at(stack, at)]]
        place = _place(frame)
        account = self._accounts.setdefault((place, doing), _Account(bool(own)))
        account.weight += weight
        account.lines[frame.line] += weight
        if doing is Doing.WAITING:
            source = self._rules.line_of(frame.file, frame.line) if own and frame.line else None
            account.labels[wait_label(below, source, is_distributed=self._rules.is_distributed)] += weight
        account.ends[_end_of(frame, below, doing)] += weight
        self._add_totals([self._frames[stack[n]] for n in own] or [frame], weight)

    def charges(self) -> Iterator[Charge]:
        for (place, doing), account in self._accounts.items():
            line = min(account.lines, key=lambda one: (-account.lines[one], one))
            yield Charge(
                place=place,
                doing=doing,
                is_program=account.is_program,
                weight=account.weight,
                line=line,
                of_line=account.lines[line],
                total=self._totals[place],
                total_of_line=self._totals_of_lines[place.name, place.file, line],
                waits_for=max(account.labels, key=lambda one: (account.labels[one], one), default=""),
                end=_main_end(place, account),
            )

    def _importing(self, stack: Sequence[int], own: Sequence[int]) -> int | None:
        """Return the position of the program's outermost import; None if no module is being imported.

        A function of the program that a module calls while it is imported counts as itself.
        """
        if not own:
            return None
        begins = (n for n in range(own[0] + 1, len(stack)) if _IMPORT in self._frames[stack[n]].file)
        begin = next(begins, None)
        if begin is None or (own[-1] > begin and self._frames[stack[own[-1]]].name != MODULE):
            return None
        return max(n for n in own if n < begin)

    def _function_at(self, stack: Sequence[int], at: int) -> int:
        """Return the position of the function around comprehensions, which has a name to look for."""
        while at and self._is_program[stack[at - 1]]:
            name, file, _ = self._frames[stack[at]]
            caller = self._frames[stack[at - 1]]
            inner = name.removeprefix(f"{caller.name}.<locals>.")
            if inner not in _INNER or caller.file != file:
                break
            at -= 1
        return at

    def _add_totals(self, frames: Sequence[Frame], weight: int) -> None:
        for place in {_place(frame) for frame in frames}:
            self._totals[place] += weight
        for line in {(frame.name, frame.file, frame.line) for frame in frames}:
            self._totals_of_lines[line] += weight


def _place(frame: Frame) -> Place:
    is_named = frame.name != MODULE and not frame.name.endswith(_LAMBDA)
    return Place(frame.name, frame.file, 0 if is_named else frame.line)


def _end_of(frame: Frame, below: Sequence[Frame], doing: Doing) -> tuple[str, str]:
    """Return the name and file of the library function in which a charge ends; of an import, its module."""
    if doing is Doing.IMPORTING:
        imported = [one for one in below if not one.file.startswith("<frozen importlib") and one.file]
        return ("", imported[0].file) if imported else ("", "")
    return below[-1][:2] if below else frame[:2]


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
