"""Journals that the helper's writer makes, and damaged ones."""

from __future__ import annotations

import posix
import re
import tracemalloc
from collections import Counter
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Profile, ThreadState
from profkit.samplers.helper.journal import ASKED, ENDED, GIL, WAITING, WORKING, Journal
from profkit.samplers.stack_journal import (
    DamagedJournal,
    Inside,
    JournalReader,
    StackJournal,
    has_ended,
    read_journal,
)

NAMES = st.text(max_size=5)
FRAMES = st.tuples(NAMES, NAMES, st.integers(0, 99))
STACKS = st.lists(FRAMES, min_size=1, max_size=4)
SAMPLES = st.lists(st.tuples(st.sampled_from([7, 8]), st.integers(1, 3), STACKS), max_size=25)
Samples = list[tuple[int, int, list[tuple[str, str, int]]]]


def name_of(pid: int, tid: int) -> str:
    return f"thread {tid} of {pid}"


def write(path: Path, samples: Samples, every: int = 4) -> Journal:
    """Write samples as a sampler does, a few at a time."""
    journal = Journal(str(path), 7, 0.001, name_of)
    for number, (pid, tid, frames) in enumerate(samples):
        journal.add(pid, tid, journal.stack(frames))
        if number % every == 0:
            journal.write(number + 1, 0, 0)
    journal.write(len(samples), 2, 3, ASKED)
    return journal


def written(samples: Samples, every: int = 4) -> bytes:
    """Return the journal of samples."""
    with TemporaryDirectory() as folder:
        write(Path(folder, "stacks"), samples, every)
        return Path(folder, "stacks").read_bytes()


def weights(profile: Profile) -> Counter[tuple[int, int, tuple[tuple[str, str, int], ...]]]:
    """Weights by process, thread and stack, leaf first."""
    counted: Counter[tuple[int, int, tuple[tuple[str, str, int], ...]]] = Counter()
    for stack, thread, weight in profile.samples:
        frames = tuple(tuple(profile.frames[frame]) for frame in reversed(profile.stacks[stack]))
        counted[profile.threads[thread].pid, profile.threads[thread].tid, frames] += weight  # type: ignore[index]
    return counted


@given(samples=SAMPLES, every=st.integers(1, 9))
def test_what_is_written_is_read_and_samples_of_a_thread_never_overlap(samples: Samples, every: int) -> None:
    data = written(samples, every)
    journal, profile = read_journal(data), read_journal(data).profile
    assert weights(profile) == Counter((pid, tid, tuple(frames)) for pid, tid, frames in samples)
    assert {thread.name for thread in profile.threads} == {name_of(p, t) for p, t, _ in samples}
    assert (journal.pid, profile.period_ns, journal.rounds) == (7, 1e6, len(samples))
    assert (journal.repeated, journal.skipped, journal.end) == (2, 3, ASKED)
    assert journal.ended_normally
    assert has_ended(data)
    ends: Counter[int] = Counter()
    for sample, start in zip(profile.samples, profile.starts, strict=True):
        assert ends[sample.thread] <= start <= len(samples) - sample.weight
        ends[sample.thread] = start + sample.weight


@given(samples=SAMPLES, part=st.floats(0, 1))
def test_a_killed_sampler_leaves_a_valid_beginning(samples: Samples, part: float) -> None:
    data = written(samples)
    first = data.index(b"\n") + 1
    cut = data[: first + round(part * (len(data) - first - 1))]
    journal = read_journal(cut)
    assert weights(journal.profile) <= weights(read_journal(data).profile)
    assert journal.end is None
    assert not has_ended(cut)


@given(data=st.binary(max_size=200))
def test_any_other_file_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedJournal):
        read_journal(data)


@pytest.mark.parametrize(
    "line",
    ["y 1", "z 1", "z 0 0", "f 1 2", 'f "a"', 'f "a" 3', "s -1 0 1", "s 5 0 1", "t 1", "r 0 0 1", "r -1 -1 1",
     "d 3 1", "p 1", "p 1 2", "x x", "n 1 2", "e asked", "", "r 0 0", "s 0", "g", 'l "a" "b"', "q x"],
)  # fmt: skip
def test_a_damaged_line_is_named(line: str) -> None:
    with pytest.raises(DamagedJournal, match="line 3 is damaged"):
        read_journal(f"profkit-stacks 1 7 1000\nn 0 0 0\n{line}\n".encode())


@pytest.mark.parametrize(
    ("first", "said"),
    [("profkit-stacks 2 7 1", "version '2' is not supported"), ("profkit-stacks 1 x 1", "line 1 is damaged"),
     ("profkit-stacks 1", "line 1 is damaged"), ("", "no journal|not a journal")],
)  # fmt: skip
def test_a_first_line_of_another_format(first: str, said: str) -> None:
    with pytest.raises(DamagedJournal, match=said):
        read_journal(f"{first}\n".encode())


def test_losses_are_kept_by_function(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "stacks"), 7, 0.001, name_of)
    journal.drop(-1)
    for _ in range(3):
        journal.drop(journal.function("f", "f.py"))
    journal.add_child(8, "python worker.py")
    journal.leave_out(9, "it is no Python")
    journal.write(5, 0, 0, ENDED)
    read: StackJournal = read_journal((tmp_path / "stacks").read_bytes())
    assert read.dropped == {("", ""): 1, ("f", "f.py"): 3}
    assert (read.commands, read.left_out) == ({8: "python worker.py"}, {9: "it is no Python"})


def test_another_journal_in_the_same_file_is_another_part(tmp_path: Path) -> None:
    for name in ("f", "g"):
        write(tmp_path / "stacks", [(7, 1, [(name, "f.py", 1)])])
    journal = read_journal((tmp_path / "stacks").read_bytes())
    assert journal.rounds == 2
    assert [frame.name for frame in journal.profile.frames] == ["f", "g"]


def part(name: str, *more: str) -> str:
    first = ("profkit-stacks 1 7 1000", f'f "{name}" "f.py"', "s -1 0 3", 't 7 7 ""', "r 0 0 5", "n 5 0 0")
    return "".join(f"{line}\n" for line in (*first, *more))


@pytest.mark.parametrize("torn", ["r 0 0", 'f "gg', "s 0 ", "x", ""])
def test_a_part_that_ends_within_a_line_is_kept_up_to_it(torn: str) -> None:
    """A write that failed, and could not be undone; then the next part."""
    journal = read_journal((part("f") + torn + part("g")).encode())
    assert (journal.rounds, journal.profile.total_weight) == (10, 10)
    assert [frame.name for frame in journal.profile.frames] == ["f", "g"]
    again = read_journal((part("f") + torn + ("\n" if torn else "") + part("g")).encode())
    assert again == journal


def test_damage_before_the_end_of_a_part_is_named() -> None:
    with pytest.raises(DamagedJournal, match="line 7 is damaged"):
        read_journal((part("f", "r 0", "n 6 0 0") + part("g")).encode())
    with pytest.raises(DamagedJournal, match="line 7 is damaged"):
        read_journal((part("f") + "r 0profkit-stacks 1 x\n").encode())


def test_a_name_may_contain_the_beginning_of_a_journal() -> None:
    journal = read_journal(part("profkit-stacks 1 7 1000").encode())
    assert [frame.name for frame in journal.profile.frames] == ["profkit-stacks 1 7 1000"]


def test_how_it_was_sampled_from_inside() -> None:
    lines = ('i "timer"', "g", 'l "interpreter" "too \\"old\\""', "q 4", "q 2")
    journal = read_journal((part("f", *lines) + part("g", 'i "thread"') + part("h", *lines)).encode())
    timer = Inside("timer", gil=False, left=(("interpreter", 'too "old"'),))
    assert journal.inside == (timer, Inside("thread"))
    assert journal.rarest == 4


def test_a_deep_stack_takes_little_memory() -> None:
    depth = 4000
    lines = (f"s {number - 1} 0 {number}" for number in range(1, depth))
    data = part("f", *lines, f"r 0 {depth - 1} 1").encode()
    tracemalloc.start()
    journal = read_journal(data)
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(map(len, journal.profile.stacks)) == depth
    assert peak_bytes < 10e6


def test_states_of_threads_are_read(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "stacks"), 7, 0.001, name_of)
    stack = journal.stack([("f", "f.py", 1)])
    for state in (WORKING, WORKING, WAITING, WAITING, WAITING, GIL):
        journal.add(7, 1, stack, state=state)
    journal.write(6, 0, 0, ENDED)
    data = (tmp_path / "stacks").read_bytes()
    profile = read_journal(data).profile
    assert [tuple(sample) for sample in profile.samples] == [(0, 0, 2), (1, 0, 3), (2, 0, 1)]
    assert profile.states == (ThreadState.WORKING, ThreadState.WAITING, ThreadState.GIL)
    assert profile.starts == (0, 2, 5)
    states_unknown = read_journal(re.sub(rb"\n[kyz] ", b"\nr ", data)).profile
    assert (states_unknown.states, states_unknown.total_weight) == ((), 6)


class FullDisk:
    """A `write` that writes a part, and then fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
        self.error, self.calls, self.write = error, 0, posix.write
        monkeypatch.setattr(posix, "write", self)

    def __call__(self, file: int, data: bytes) -> int:
        self.calls += 1
        if self.calls == 2:
            raise self.error
        return self.write(file, data[:20])


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "stacks"
    write(path, [(7, 1, [("f", "f.py", 1)])])
    before = path.read_bytes()
    with monkeypatch.context() as patches:
        FullDisk(patches, error)
        with pytest.raises(type(error)):
            write(path, [(7, 1, [("g", "f.py", 1)])])
    assert path.read_bytes() == before


def starts_of(profile: Profile, tid: int) -> list[tuple[str, int, int]]:
    """Leaf, start and weight of a thread's samples."""
    return [
        (profile.frames[profile.stacks[sample.stack][-1]].name, start, sample.weight)
        for sample, start in zip(profile.samples, profile.starts, strict=True)
        if profile.threads[sample.thread].tid == tid
    ]


def test_samples_have_the_rounds_in_which_they_were_taken(tmp_path: Path) -> None:
    journal = Journal(str(tmp_path / "stacks"), 7, 0.001, name_of)
    seen = {1: "aaabbbbbbbcc", 2: "  xxx   yyyy", 3: "      zz    "}
    for number in range(12):
        for tid, leaves in seen.items():
            if leaves[number] != " ":
                journal.add(7, tid, journal.stack([(leaves[number], "/a.py", 1)]))
        if number in (4, 7, 11):
            journal.write(number + 1, 0, 0)
    profile = read_journal((tmp_path / "stacks").read_bytes()).profile
    assert starts_of(profile, 1) == [("a", 0, 3), ("b", 3, 2), ("b", 5, 3), ("b", 8, 2), ("c", 10, 2)]
    assert starts_of(profile, 2) == [("x", 2, 3), ("y", 8, 4)]
    assert starts_of(profile, 3) == [("z", 6, 2)]


@given(samples=SAMPLES, cuts=st.lists(st.integers(0, 4000), max_size=6).map(sorted))
def test_a_journal_can_be_read_while_it_is_written(samples: Samples, cuts: list[int]) -> None:
    data, reader, parts = written(samples), JournalReader(), []
    for low, high in pairwise([0, *cuts, len(data)]):
        reader.feed(data[low : max(low, high)])
        parts.append(reader.take(is_over=False))
    parts.append(reader.take())
    known = [part for part in parts if part is not None]
    whole = read_journal(data)
    assert sum((weights(part.profile) for part in known), Counter()) == weights(whole.profile)
    for name in ("rounds", "repeated", "skipped"):
        assert sum(getattr(part, name) for part in known) == getattr(whole, name)
    starts = [start for part in known for start in part.profile.starts]
    assert len(starts) == sum(len(part.profile.samples) for part in known)
    assert known[-1].end == whole.end == ASKED


def test_a_damaged_line_is_found_while_reading() -> None:
    reader = JournalReader()
    assert reader.take() is None
    reader.feed(b'profkit-stacks 1 7 1000000\nf "f" "x')
    with pytest.raises(DamagedJournal, match="line 2 is damaged"):
        reader.feed(b"\n")
    with pytest.raises(DamagedJournal, match="not a journal"):
        JournalReader().feed(b"something else\n")
