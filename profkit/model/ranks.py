"""Times of a job's ranks, such as torch.distributed's, and the late ones that made the others wait."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.profile import Frame


@dataclass(frozen=True, slots=True)
class RankFunction:
    """A function of the program, with the library calls that it makes, in each rank."""

    name: str
    file: str
    line: int
    """The line with most of its time, 0 if it is not known."""
    seconds: tuple[float, ...]
    """By rank: its time without waiting for other ranks."""


@dataclass(frozen=True, slots=True)
class LateRanks:
    """Ranks that made the others wait."""

    ranks: tuple[int, ...]
    """Their places among the processes of the merged run, in order of rank."""
    waited_s: float
    """Time by which the median of the others waited longer than these."""
    error_s: float
    """Half of the 95 % interval of this time."""
    of_s: float
    """Median of the ranks' times."""
    function: Frame | None = None
    """The innermost function that has more than half of the difference; None if there is no such function."""
    waits_for: str | None = None
    """What these ranks wait for in that function: None if they mostly work there, empty if unknown."""
    of_children: Frame | None = None
    """If they wait for their child processes, the function that has most of the time of these, if known."""
    collectives: tuple[str, ...] = ()
    """Names of the collectives whose arrivals say it; empty if it is known from stacks."""
    last: int = 0
    """In how many of these collectives one of the ranks arrived last."""
    of: int = 0
    """Number of these collectives."""


@dataclass(frozen=True, slots=True)
class RankTimes:
    """Times of the main threads of ranks that wait for one another, in the order of the processes."""

    total_s: tuple[float, ...]
    waited_s: tuple[float, ...]
    """Time in which each waited for other ranks."""
    functions: tuple[RankFunction, ...]
    """Functions that have the rest of the time; those that differ most between ranks first."""
    late: LateRanks | None
    """None if no rank surely made the others wait."""
    parts_waited_s: tuple[tuple[float, ...], ...] = ()
    """Of each, the same as `waited_s` in equal parts of its time, in their order."""
