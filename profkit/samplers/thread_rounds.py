"""Read the journal of rounds, with states and times of threads, that `samplers.helper.rounds` writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from profkit.samplers.helper.rounds import HEADER
from profkit.samplers.helper.thread_lookups import PAUSED, WAITS, WANTS_GIL, WORKS

_RUN = f"([{WORKS}{WAITS}{WANTS_GIL}{PAUSED}])([0-9]+)"
_IS_RUNS = re.compile(f"({_RUN})*").fullmatch
_LARGEST, _MOST_STATES = 2**53, 10**9
"""Largest number, and most states of all threads; more would be damage, and would take much memory."""


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a thread since it started, at a round."""

    round: int
    cpu_s: float
    """On a processor."""
    late_s: float
    """Ready, but waiting for a processor."""
    slices: int
    """How often it was put on a processor."""


@dataclass(slots=True)
class ThreadRounds:
    """A thread in the rounds of its process."""

    first: int
    """Number of the process's rounds before its first one."""
    letters: bytearray = field(default_factory=bytearray)
    """By round since then: the letter of its state."""
    times: list[Times] = field(default_factory=list)


@dataclass(slots=True)
class ProcessRounds:
    """Rounds in which a process was read."""

    rounds: int = 0
    trials: int = 1
    """The most rounds that came before the sampler said that it samples."""
    failed: list[int] = field(default_factory=list)
    """For each failed round, the number of rounds when that was seen: it is one of the last before."""
    clock: list[tuple[int, int]] = field(default_factory=list)
    """(round, time in ms), ascending."""
    threads: dict[int, list[ThreadRounds]] = field(default_factory=dict)
    """By thread id, which may be used again."""


def read_rounds(data: bytes) -> Mapping[int, ProcessRounds]:
    """Return the rounds of each process by its pid, the first one first, up to the first damage.

    Empty for other data than a journal.
    """
    header, *lines = data.decode("ascii", "replace").split("\n")[:-1] or [""]
    parsed = _Parsed()
    if header != HEADER:
        return {}
    for line in lines:
        kind, *words = line.split(" ")
        try:
            _PARSERS[kind](parsed, words)
        except (KeyError, ValueError, IndexError):
            break  # later lines may refer to threads whose lines are missing
    return dict(zip(parsed.pids, parsed.processes, strict=True))


@dataclass(slots=True)
class _Parsed:
    pids: list[int] = field(default_factory=list)
    processes: list[ProcessRounds] = field(default_factory=list)
    threads: list[ThreadRounds] = field(default_factory=list)
    states: int = 0
    """Number of states of all threads."""


def _numbers(words: Sequence[str]) -> list[int]:
    numbers = list(map(int, words))
    if not all(0 <= number <= _LARGEST for number in numbers):
        raise ValueError(numbers)
    return numbers


def _process(parsed: _Parsed, words: Sequence[str]) -> None:
    _, pid = _numbers(words)
    parsed.pids.append(pid)
    parsed.processes.append(ProcessRounds())


def _thread(parsed: _Parsed, words: Sequence[str]) -> None:
    _, process, tid, first = _numbers(words)
    found = parsed.processes[process]
    parsed.threads.append(ThreadRounds(first))
    found.threads.setdefault(tid, []).append(parsed.threads[-1])


def _states(parsed: _Parsed, words: Sequence[str]) -> None:
    thread, runs = words
    found = parsed.threads[_numbers([thread])[0]]
    known = [(letter.encode(), int(rounds)) for letter, rounds in re.findall(_RUN, runs)]
    parsed.states += sum(rounds for _, rounds in known)
    if _IS_RUNS(runs) is None or parsed.states > _MOST_STATES:
        raise ValueError(runs)
    for letter, rounds in known:
        found.letters += letter * rounds


def _times(parsed: _Parsed, words: Sequence[str]) -> None:
    thread, number, cpu_us, late_us, slices = _numbers(words)
    parsed.threads[thread].times.append(Times(number, cpu_us / 1e6, late_us / 1e6, slices))


def _rounds(parsed: _Parsed, words: Sequence[str]) -> None:
    process, number, ms = _numbers(words)
    found = parsed.processes[process]
    found.rounds = max(found.rounds, number)
    last = found.clock[-1] if found.clock else (0, 0)
    if last != (number, ms) and last[0] <= number and last[1] <= ms:
        found.clock.append((number, ms))


def _failed(parsed: _Parsed, words: Sequence[str]) -> None:
    process, number = _numbers(words)
    parsed.processes[process].failed.append(number)


def _samples(parsed: _Parsed, words: Sequence[str]) -> None:
    process, number = _numbers(words)
    parsed.processes[process].trials = max(1, number - 1)


_PARSERS: Mapping[str, Callable[[_Parsed, Sequence[str]], None]] = {
    "p": _process, "t": _thread, "s": _states, "c": _times, "r": _rounds, "x": _failed, "b": _samples,
}  # fmt: skip
