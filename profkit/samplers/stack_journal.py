"""Read the journal of stacks that `samplers.helper.journal` writes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from profkit.errors import DamagedFile
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.samplers.base import LARGEST_OUTPUT_BYTES, Recording, SegmentFiles
from profkit.samplers.helper.journal import ASKED, DURATION, ENDED, LETTERS, VERSION

_HEADER = "profkit-stacks"
_NORMAL_ENDS = tuple(f'\ne "{reason}"\n'.encode() for reason in (ASKED, ENDED, DURATION))

FEWEST_ROUNDS = 100
"""Rounds from which a share of them says something."""
_NOTABLY_PARTIAL = 0.01


class DamagedJournal(ValueError):
    """A line is not as its format demands; the message says which."""


@dataclass(frozen=True, slots=True)
class Inside:
    """How a sampler in the sampled process itself read the stacks."""

    kind: str
    gil: bool = True
    """False if the interpreter ran without a GIL."""
    left: tuple[tuple[str, str], ...] = ()
    """Better ways that could not be used, and why."""


@dataclass(frozen=True, slots=True)
class StackJournal:
    """Content of a journal."""

    pid: int
    profile: Profile
    rounds: int
    repeated: int
    """Rounds in which a stack changed while it was read, and was read again."""
    skipped: int
    """Rounds that were due but late."""
    end: str | None
    """Reason of the end, None if the sampler was killed."""
    dropped: Mapping[tuple[str, str], int]
    """Rounds without a readable stack, by the function (name, file) seen before; ("", "") if none was."""
    unseen_ns: int
    """Time in which the process could not be read, or was stopped."""
    partial: int
    """Rounds in which only the threads on a processor could be read."""
    commands: Mapping[int, str]
    """Command lines of child processes by pid."""
    left_out: Mapping[int, str]
    """Reasons why child processes were not sampled, by pid."""
    inside: tuple[Inside, ...]
    """How a sampler in the sampled process itself read the stacks, in order; empty for others."""
    rarest: int
    """The largest number of rounds of which one was taken, since samples took long; 1 if all were."""

    @property
    def ended_normally(self) -> bool:
        """True if the program asked for the end, or itself ended, or the longest duration was over."""
        return self.end in (ASKED, ENDED, DURATION)


def of_one_process(profile: Profile) -> Profile:
    """Return the profile as py-spy's are: threads of the sampled process have pid 0."""
    return replace(profile, threads=tuple(Thread(0, thread.tid, thread.name) for thread in profile.threads))


def partial_notes(journal: StackJournal) -> tuple[Note, ...]:
    """Return a note if many rounds have only the threads on a processor."""
    if journal.rounds < FEWEST_ROUNDS or journal.partial <= _NOTABLY_PARTIAL * journal.rounds:
        return ()
    return (Note.of(NoteCode.ROUNDS_PARTIAL, partial=journal.partial, rounds=journal.rounds),)


def read_segment(files: SegmentFiles, name: str) -> StackJournal:
    """Return the journal in a segment's file, also one without an end; raises DamagedFile."""
    try:
        return read_journal(files.read(name, LARGEST_OUTPUT_BYTES))
    except DamagedJournal as damage:
        raise DamagedFile(files.path / name, str(damage)) from damage


def recording_of(journal: StackJournal, profile: Profile, notes: Iterable[Note]) -> Recording:
    """Return the content of a journal, or of a part of it, with a profile made of its own."""
    return Recording(
        profile=profile,
        rounds=journal.rounds,
        errors=sum(journal.dropped.values()),
        notes=tuple(notes),
        unseen_ns=journal.unseen_ns,
        complete=journal.end is not None,
    )


def has_ended(tail: bytes) -> bool:
    """Return whether a journal with this end is complete."""
    return tail.endswith(_NORMAL_ENDS)


def read_journal(data: bytes) -> StackJournal:
    """Parse a journal up to its last complete line; raises DamagedJournal."""
    reader = JournalReader()
    reader.feed(data)
    if (journal := reader.take()) is None:
        raise DamagedJournal("it is not a journal of stacks")
    return journal


class JournalReader:
    """Reader of a journal that may still be written; its pieces can end anywhere."""

    def __init__(self) -> None:
        self._rest = b""
        """Beginning of a line whose end is not there yet."""
        self._number = 0
        """Number of the last complete line."""
        self._first: tuple[int, int] | None = None
        """Pid and period, from the first line."""
        self._parsed = _Parsed()
        self._taken = 0, 0, 0
        """Totals at the last `take`."""

    def feed(self, data: bytes) -> None:
        """Parse the next piece of the file; raises DamagedJournal."""
        text, _, self._rest = (self._rest + data).rpartition(b"\n")
        lines = text.decode("ascii", "replace").split("\n") if text else []
        if lines and self._first is None:
            self._first = _header(lines.pop(0))
            self._number = 1
        _parse(self._parsed, lines, self._number + 1)
        self._number += len(lines)

    def take(self, *, is_over: bool = True) -> StackJournal | None:
        """Return what is new since the last call, None before the first line.

        Unless the journal `is_over`, samples after its last totals are left for the next call. Starts of
        samples count from the journal's beginning.
        """
        if self._first is None:
            return None
        parsed, (pid, period_ns), before = self._parsed, self._first, self._taken
        if is_over:
            parsed.place_samples()
        self._taken = rounds, repeated, skipped = parsed.sums()
        journal = StackJournal(
            pid=pid,
            profile=parsed.builder.build(period_ns=float(period_ns)),
            rounds=rounds - before[0],
            repeated=repeated - before[1],
            skipped=skipped - before[2],
            end=parsed.end,
            dropped=parsed.dropped,
            unseen_ns=parsed.unseen_ms * 10**6,
            partial=parsed.partial,
            commands=dict(parsed.commands),
            left_out=dict(parsed.left_out),
            inside=tuple(dict.fromkeys(parsed.inside)),
            rarest=parsed.rarest,
        )
        parsed.builder.forget_samples()
        parsed.dropped, parsed.partial, parsed.unseen_ms = Counter(), 0, 0
        return journal


def _parse(parsed: _Parsed, lines: Sequence[str], first: int) -> None:
    for place, line in enumerate(lines):
        number = first + place
        if line.startswith(_HEADER):
            _header(line, number)
            parsed.begin_part()
            continue
        try:
            _PARSERS[line[:2]](parsed, line[2:])
        except (KeyError, ValueError, IndexError, TypeError) as error:
            if not _ends_part(parsed, number, line, *lines[place + 1 : place + 2]):
                raise DamagedJournal(f"line {number} is damaged: {line[:80]!r}") from error


def _header(line: str, number: int = 1) -> tuple[int, int]:
    word, version, *numbers = [*line.split(" "), ""]
    if word != _HEADER:
        raise DamagedJournal("it is not a journal of stacks")
    if version != str(VERSION):
        raise DamagedJournal(f"version {version!r} is not supported, only {VERSION}")
    try:
        return int(numbers[0]), int(numbers[1])
    except (ValueError, IndexError) as error:
        raise DamagedJournal(f"line {number} is damaged: {line[:80]!r}") from error


def _ends_part(parsed: _Parsed, number: int, line: str, following: str = "") -> bool:
    """Return whether a damaged line is the end of a part: a write that failed in it, then another part.

    That part may begin in the same line.
    """
    _, header, rest = line.partition(_HEADER)
    if header:
        _header(header + rest, number)
        parsed.begin_part()
    return bool(header) or following.startswith(_HEADER)


@dataclass(slots=True)
class _Parsed:
    builder: ProfileBuilder = field(default_factory=ProfileBuilder)
    functions: list[tuple[str, str]] = field(default_factory=list)
    stacks: list[tuple[int, int]] = field(default_factory=list)
    """Number of the stack without the leaf, -1 if there is none, and the leaf's frame."""
    whole: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Frames of the stacks that have samples, root first: those of all would be quadratic in their depth."""
    threads: list[int] = field(default_factory=list)
    dropped: Counter[tuple[str, str]] = field(default_factory=Counter)
    partial: int = 0
    unseen_ms: int = 0
    commands: dict[int, str] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)
    totals: list[tuple[int, int, int]] = field(default_factory=lambda: [(0, 0, 0)])
    """Totals of each part."""
    end: str | None = None
    inside: list[Inside] = field(default_factory=list)
    rarest: int = 1
    pending: list[tuple[int, tuple[int, ...], int, ThreadState]] = field(default_factory=list)
    """Samples since the last totals: threads, stacks, weights and states."""
    ends: dict[int, int] = field(default_factory=dict)
    """By thread: the round in which its last sample ended."""
    placed: int = 0
    """Rounds of all parts up to the last totals."""

    def place_samples(self) -> None:
        """Add the pending samples at their rounds.

        The rounds are known at each write, and so are those of a thread that was in all of them. The others
        are off by less than the time between two writes.
        """
        rounds = sum(rounds for rounds, _, _ in self.totals)
        starts = dict(self._first_starts(rounds))
        for thread, stack, weight, state in self.pending:
            self.builder.add_indexed(stack, thread, weight, starts[thread], state=state)
            starts[thread] += weight
        self.ends.update(starts)
        self.pending.clear()
        self.placed = rounds

    def _first_starts(self, rounds: int) -> Iterator[tuple[int, int]]:
        """Yield the first start of each pending thread: a new thread's last sample is in the last round."""
        weights: Counter[int] = Counter()
        for thread, _, weight, _ in self.pending:
            weights[thread] += weight
        for thread, weight in weights.items():
            end = self.ends.get(thread, -1)
            yield thread, max(end, self.placed, self.placed if end == self.placed else rounds - weight)

    def sums(self) -> tuple[int, int, int]:
        """Return the totals of all parts."""
        rounds, repeated, skipped = map(sum, zip(*self.totals, strict=True))
        return rounds, repeated, skipped

    def begin_part(self) -> None:
        """Forget the numbers of the part before."""
        self.place_samples()
        for table in (self.functions, self.stacks, self.threads, self.whole):
            table.clear()
        self.totals.append((0, 0, 0))
        self.end = None


def _function(parsed: _Parsed, text: str) -> None:
    name, end = _DECODER.raw_decode(text)
    parsed.functions.append((_word(name), _quoted(text[end + 1 :])))


def _stack(parsed: _Parsed, text: str) -> None:
    parent, function, line = map(int, text.split(" "))
    if parent >= len(parsed.stacks):
        raise IndexError(parent)
    frame = Frame(*parsed.functions[_index(function)], line)
    parsed.stacks.append((parent, parsed.builder.frame(frame)))


def _whole(parsed: _Parsed, stack: int) -> tuple[int, ...]:
    known = parsed.whole.get(stack)
    if known is None:
        frames, number = list[int](), stack
        while number >= 0:
            number, frame = parsed.stacks[number]
            frames.append(frame)
        known = parsed.whole[stack] = tuple(reversed(frames))
    return known


def _thread(parsed: _Parsed, text: str) -> None:
    pid, tid, name = text.split(" ", 2)
    parsed.threads.append(parsed.builder.thread(Thread(int(pid), int(tid), _quoted(name))))


def _samples(state: ThreadState, parsed: _Parsed, text: str) -> None:
    thread, stack, weight = map(int, text.split(" "))
    parsed.pending.append((parsed.threads[_index(thread)], _whole(parsed, _index(stack)), weight, state))


def _drops(parsed: _Parsed, text: str) -> None:
    function, rounds = map(int, text.split(" "))
    parsed.dropped[("", "") if function < 0 else parsed.functions[function]] += rounds


def _child(parsed: _Parsed, text: str) -> None:
    pid, command = text.split(" ", 1)
    parsed.commands[int(pid)] = _quoted(command)


def _left_out(parsed: _Parsed, text: str) -> None:
    pid, reason = text.split(" ", 1)
    parsed.left_out[int(pid)] = _quoted(reason)


def _totals(parsed: _Parsed, text: str) -> None:
    rounds, repeated, skipped = map(int, text.split(" "))
    parsed.totals[-1] = rounds, repeated, skipped
    parsed.place_samples()


def _partial(parsed: _Parsed, text: str) -> None:
    parsed.partial += int(text)


def _gap(parsed: _Parsed, text: str) -> None:
    parsed.unseen_ms += int(text)


def _kind(parsed: _Parsed, text: str) -> None:
    parsed.inside.append(Inside(_quoted(text)))


def _no_gil(parsed: _Parsed, _: str) -> None:
    parsed.inside[-1] = replace(parsed.inside[-1], gil=False)


def _left(parsed: _Parsed, text: str) -> None:
    kind, end = _DECODER.raw_decode(text)
    last = parsed.inside[-1]
    parsed.inside[-1] = replace(last, left=(*last.left, (_word(kind), _quoted(text[end + 1 :]))))


def _rarer(parsed: _Parsed, text: str) -> None:
    parsed.rarest = max(parsed.rarest, int(text))


def _end(parsed: _Parsed, text: str) -> None:
    parsed.end = _quoted(text)


_PARSERS: Mapping[str, Callable[[_Parsed, str], None]] = {
    "f ": _function, "s ": _stack, "t ": _thread,
    **{f"{letter} ": partial(_samples, ThreadState[state]) for state, letter in LETTERS.items()},
    "d ": _drops, "p ": _child, "x ": _left_out, "n ": _totals, "e ": _end, "i ": _kind, "w ": _partial,
    "u ": _gap,
    "g": _no_gil, "l ": _left, "q ": _rarer,
}  # fmt: skip
_DECODER = json.JSONDecoder()


def _quoted(text: str) -> str:
    return _word(json.loads(text))


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a string")
    return value


def _index(number: int) -> int:
    if number < 0:
        raise IndexError(number)
    return number
