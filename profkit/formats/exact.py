"""profkit's addition to files of other formats, so that its own profiles read back exactly.

It is one JSON member, which other readers ignore: the unit and period of profkit, whether the order of
samples matters, the threads, the `turns` in which their samples alternate, since those formats separate the
threads, the `starts` of samples and the `states` of their threads, if they are known. Strings are escaped by
`escape_text`, since JSON's readers differ on lone surrogates (RFC 8259, section 8.2), and UTF-8 has none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice, repeat
from typing import NamedTuple

from profkit.formats.json_members import member, number
from profkit.formats.limits import Budget
from profkit.model.profile import Frame, Profile, Sample, Thread, ThreadState
from profkit.units import Unit

MEMBER = "profkit"
"""The name of the member."""

Stack = tuple[int, ...]


class Exact(NamedTuple):
    """The contents of the member."""

    unit: Unit
    period_ns: float
    ordered: bool
    threads: tuple[Thread, ...]
    turns: Sequence[tuple[int, int]]
    """(index of a thread, number of its samples that follow)."""
    starts: Sequence[int]
    states: Sequence[tuple[ThreadState, int]]
    """(state, number of samples in a row); empty if no state is known."""


class StackWeight(NamedTuple):
    """A sample of a known thread, with its stack written out."""

    stack: Stack
    weight: int


def describe(profile: Profile) -> Mapping[str, object]:
    """Return the member's value, for `json.dumps`."""
    turns: list[int] = []
    for thread, samples in groupby(profile.samples, key=lambda sample: sample.thread):
        turns += thread, sum(1 for _ in samples)
    starts = {"starts": profile.starts} if profile.starts else {}
    states = {"states": _runs(profile)} if profile.states else {}
    return {
        "unit": profile.unit.value,
        "period_ns": profile.period_ns,
        "ordered": profile.ordered,
        "threads": [[thread.pid, thread.tid, escape_text(thread.name)] for thread in profile.threads],
        "turns": turns,
        **starts,
        **states,
    }


def _runs(profile: Profile) -> list[int]:
    """Return each state in order, followed by the number of samples in a row that have it."""
    runs: list[int] = []
    for state, samples in groupby(profile.samples, key=lambda sample: profile.state_of(sample.stack)):
        runs += int(state), sum(1 for _ in samples)
    return runs


def read_description(holder: object, where: str) -> Exact:
    """Parse what `describe` wrote, from the member of this object; raises ValueError for anything else."""
    about = member(holder, where, MEMBER, dict)
    place = f"{MEMBER}.period_ns"
    turns = member(about, MEMBER, "turns", list)
    flat = [int(number(turn, f"{MEMBER}.turns")) for turn in turns]
    listed = member(about, MEMBER, "threads", list)
    return Exact(
        unit=Unit(member(about, MEMBER, "unit", str)),
        period_ns=period_of(number(about.get("period_ns"), place), place),
        ordered=member(about, MEMBER, "ordered", bool),
        threads=tuple(_thread(entry, f"{MEMBER}.threads[{n}]") for n, entry in enumerate(listed)),
        turns=list(zip(flat[::2], flat[1::2], strict=True)),
        starts=_counts(about, "starts"),
        states=_states(about),
    )


def _states(about: object) -> list[tuple[ThreadState, int]]:
    runs = _counts(about, "states")
    if runs:
        return [(ThreadState(state), length) for state, length in zip(runs[::2], runs[1::2], strict=True)]
    # Earlier versions wrote only the numbers of samples that were not idle, that were, and so on.
    idle = _counts(about, "idle")
    return [(ThreadState.WAITING if place % 2 else ThreadState.UNKNOWN, n) for place, n in enumerate(idle)]


def _counts(about: object, name: str) -> list[int]:
    """Return a list of numbers that are not negative; an empty one if the file has none of this name."""
    if not isinstance(about, dict) or name not in about:
        return []
    counts = [int(number(count, f"{MEMBER}.{name}")) for count in member(about, MEMBER, name, list)]
    if min(counts, default=0) < 0:
        raise ValueError(f"{MEMBER}.{name} has a negative number")
    return counts


def samples_by_thread(profile: Profile) -> list[list[Sample]]:
    """Return the samples of each of the profile's threads, in order."""
    samples: list[list[Sample]] = [[] for _ in profile.threads]
    for sample in profile.samples:
        samples[sample.thread].append(sample)
    return samples


def rebuild(
    exact: Exact,
    frames: Sequence[Frame],
    by_thread: Sequence[Sequence[StackWeight]],
    where: str,
    budget: Budget,
) -> Profile:
    """Return the described profile, with stacks numbered by their first use.

    Raises LimitExceeded, and ValueError if the samples of the threads do not match the counts of the turns.
    """
    counts = [0] * len(exact.threads)
    for thread, count in exact.turns:
        if not 0 <= thread < len(counts):
            raise ValueError(f"{MEMBER}.turns has a thread {thread} that does not exist")
        counts[thread] += count
    found = [len(samples) for samples in by_thread]
    if found != counts:
        raise ValueError(f"{where} has {found} samples of its threads, {MEMBER}.turns counts {counts}")
    left = [iter(samples) for samples in by_thread]
    stacks: dict[tuple[Stack, ThreadState], int] = {}
    states = _state_of_each(exact.states, sum(counts))
    samples = tuple(
        Sample(stacks.setdefault((stack, next(states)), len(stacks)), thread, weight)
        for thread, count in exact.turns
        for stack, weight in islice(left[thread], count)
    )
    for stack, _ in stacks:
        budget.count_stack(len(stack))
    budget.count_records(len(samples))
    return Profile(
        unit=exact.unit,
        period_ns=exact.period_ns,
        frames=tuple(frames),
        stacks=tuple(stack for stack, _ in stacks),
        threads=exact.threads,
        samples=samples,
        ordered=exact.ordered,
        starts=tuple(exact.starts) if len(exact.starts) == len(samples) else (),
        states=tuple(state for _, state in stacks) if any(state for _, state in stacks) else (),
    )


def _state_of_each(runs: Sequence[tuple[ThreadState, int]], count: int) -> Iterator[ThreadState]:
    """Return the state of each sample; unknown if the runs are of another number of samples."""
    if sum(length for _, length in runs) != count:
        return repeat(ThreadState.UNKNOWN)
    return chain.from_iterable(repeat(state, length) for state, length in runs)


def _thread(entry: object, where: str) -> Thread:
    if isinstance(entry, list) and len(entry) == 3:
        pid, tid, name = entry
        if isinstance(pid, int) and isinstance(tid, int) and isinstance(name, str):
            return Thread(pid, tid, unescape_text(name))
    raise ValueError(f"{where} is not [pid, tid, name]")


def distinct_threads(threads: Iterable[Thread]) -> Iterator[Thread]:
    """Yield each thread with the first free id that is not below its own."""
    following: dict[Thread, Thread] = {}
    for thread in threads:
        free, passed = thread, []
        while (after := following.get(free)) is not None:
            passed.append(free)
            free = after
        after = free._replace(tid=free.tid + 1)
        # The next thread of this name starts here: n equal names take n steps, not n².
        following.update(dict.fromkeys((*passed, free), after))
        yield free


def sample_time_ns(profile: Profile) -> int | float | None:
    """Return the nanoseconds of a weight of 1; None if unknown, or if times would not give weights back."""
    if profile.unit is Unit.NANOSECONDS:
        return 1
    if profile.unit is not Unit.SAMPLES or profile.period_ns <= 0:
        return None
    period = int(profile.period_ns) if profile.period_ns.is_integer() else profile.period_ns
    weights = {sample.weight for sample in profile.samples}
    return period if all(_is_multiple(weight, period) for weight in weights) else None


def period_of(value: float, where: str) -> float:
    """Return the time that a sample represents, in nanoseconds; raises ValueError if it cannot be one."""
    if not 0 <= value < math.inf:
        raise ValueError(f"{where} is {value}, not a time")
    return float(value)


def weight_of(time_ns: float, period_ns: float) -> int:
    """Return the weight of samples with this total time; raises ValueError if the period is 0."""
    if not period_ns:
        raise ValueError("its samples have times, but its period_ns is 0")
    if isinstance(time_ns, int) and period_ns == int(period_ns):
        return time_ns // int(period_ns)
    return round(time_ns / period_ns)


def _is_multiple(weight: int, period_ns: float) -> bool:
    try:
        return weight_of(weight * period_ns, period_ns) == weight
    except (OverflowError, ValueError):  # infinite, or not a number
        return False


# Match a run of backslashes from its beginning only: matching from each position would be quadratic.
_TO_ESCAPE = re.compile(r"(?<!\\)(\\*)([\ud800-\udfff])|(?<!\\)(\\+)(?=ud[89a-f][0-9a-f]{2})")
_ESCAPED = re.compile(r"(?<!\\)(\\+)u(d[89a-f][0-9a-f]{2})")


def escape_text(text: str) -> str:
    """Return `text` with its lone surrogates escaped."""
    return text if _is_plain(text) else _TO_ESCAPE.sub(_escaped, text)


def _is_plain(text: str) -> bool:
    return text.isprintable() and "\\" not in text


def escape_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts with their lone surrogates escaped."""
    given = tuple(texts)
    return given if _is_plain("".join(given)) else tuple(map(escape_text, given))


def unescape_texts(texts: Sequence[str]) -> Sequence[str]:
    """Return the strings that `escape_texts` was given."""
    return tuple(map(unescape_text, texts)) if "\\ud" in "\n".join(texts) else texts


def unescape_text(text: str) -> str:
    """Return the string that `escape_text` was given."""
    return _ESCAPED.sub(_unescaped, text) if "\\ud" in text else text


def _escaped(match: re.Match[str]) -> str:
    before, surrogate, backslashes = match.groups()
    return f"{before * 2}\\u{ord(surrogate):x}" if surrogate else backslashes * 2


def _unescaped(match: re.Match[str]) -> str:
    backslashes, digits = match.groups()
    before = backslashes[: len(backslashes) // 2]
    return before + (chr(int(digits, 16)) if len(backslashes) % 2 else f"u{digits}")
