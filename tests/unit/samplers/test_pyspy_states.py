"""Samples of py-spy and the rounds that they were taken in, which tests make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, ThreadState
from profkit.samplers.pyspy_states import Measured, with_states
from profkit.samplers.state_correction import Use, corrected_parts
from profkit.samplers.thread_rounds import ProcessRounds, ThreadRounds, Times

WORKING, WAITING, GIL, UNKNOWN = (
    ThreadState.WORKING, ThreadState.WAITING, ThreadState.GIL, ThreadState.UNKNOWN
)  # fmt: skip
STATES = {"w": WORKING, "s": WAITING, "g": GIL}
PID, MAIN, LATE = 700, 700, 702
PERIOD_MS = 10

patterns = st.lists(st.integers(7, 20), min_size=4, max_size=8).map(
    lambda lengths: "".join("ws"[place % 2] * length for place, length in enumerate(lengths))
)
"""States of a thread; runs of one state are longer than a sample can be late."""


def process(
    threads: Mapping[int, tuple[int, str]], trials: int = 1, failed: Iterable[int] = ()
) -> ProcessRounds:
    """Rounds of a process, by thread: the rounds before its first one, and its letters."""
    rounds = max(first + len(letters) for first, letters in threads.values())
    known = {tid: ThreadRounds(first, bytearray(text.encode())) for tid, (first, text) in threads.items()}
    return ProcessRounds(
        rounds=rounds,
        trials=trials,
        failed=[number + 2 for number in failed],
        clock=[(number, 10_000 + PERIOD_MS * number) for number in range(0, rounds + 1, max(1, rounds))],
        threads={tid: [thread] for tid, thread in known.items()},
    )  # fmt: skip


def profile_of(lines: Mapping[int, Iterable[str]], pid: int = 0) -> Profile:
    """What py-spy writes, by thread: the line of each sample."""
    builder = ProfileBuilder()
    for tid, names in lines.items():
        for name in names:
            builder.add((Frame("root", "a.py", 1), Frame(name, "a.py", 2)), Thread(pid, tid, f"t{tid}"))
    return builder.build(period_ns=PERIOD_MS * 1e6)


def samples_of(measured: Measured) -> dict[int, list[tuple[int, str, ThreadState]]]:
    """Each sample of each thread: its start, line and state."""
    profile, found = measured.profile, dict[int, list[tuple[int, str, ThreadState]]]()
    for (stack, thread, weight), start in zip(profile.samples, profile.starts, strict=True):
        name = profile.frames[profile.stacks[stack][-1]].name
        state = profile.state_of(stack)
        of_thread = found.setdefault(profile.threads[thread].tid, [])
        of_thread += [(start + more, name, state) for more in range(weight)]
    return found


def measure(names: str, rounds: ProcessRounds, *, stops: bool = False) -> tuple[Measured, list[ThreadState]]:
    """Samples of the main thread in these rounds, and the state of each."""
    measured = with_states(profile_of({MAIN: names}), {PID: rounds}, stops=stops)
    return measured, [state for _, _, state in samples_of(measured).get(MAIN, [])]


def main_thread(letters: str, *times: Times, failed: Iterable[int] = ()) -> ProcessRounds:
    """Rounds of a process with one thread, the first of them before its first sample."""
    rounds = process({MAIN: (0, "s" + letters)}, failed=failed)
    rounds.threads[MAIN][0].times += times
    return rounds


@given(main=patterns, late=patterns, data=st.data())
def test_samples_are_matched_with_their_rounds(main: str, late: str, data: st.DataObject) -> None:
    trials = data.draw(st.integers(1, 3), "rounds before the first sample")
    said = data.draw(st.integers(max(1, trials - 1), trials + 1), "those that the log lets expect")
    failed = set(data.draw(st.lists(st.integers(trials, len(main) - 1), max_size=5), "failed rounds"))
    first = data.draw(st.integers(trials + 1, len(main)), "rounds before the late thread")
    late_by = data.draw(st.integers(0, 3), "rounds of the late thread without a sample")
    rounds = process({MAIN: (0, main), LATE: (first, late)}, trials=said, failed=failed)
    good = [number for number in range(trials, rounds.rounds) if number not in failed]
    expected = {
        MAIN: [(good.index(n), main[n]) for n in good if n < len(main)],
        LATE: [(good.index(n), late[n - first]) for n in good if first + late_by <= n < first + len(late)],
    }
    profile = profile_of({tid: [letter for _, letter in samples] for tid, samples in expected.items()})
    measured = with_states(profile, {PID: rounds}, stops=True)
    assert samples_of(measured) == {
        tid: [(start, letter, STATES[letter]) for start, letter in samples]
        for tid, samples in expected.items()
    }
    assert measured.rounds == len(good)
    assert measured.profile.period_ns == profile.period_ns


@given(main=patterns, late=patterns, data=st.data())
def test_rounds_before_the_first_observed_one(main: str, late: str, data: st.DataObject) -> None:
    missed = data.draw(st.integers(1, 15), "rounds that were not observed")
    first = data.draw(st.integers(missed + 1, len(main)), "rounds before the late thread")
    rounds = process({MAIN: (0, main[missed:]), LATE: (first - missed, late)})
    length = max(len(main), first + len(late))
    observed = main.ljust(length, "s")
    rounds.threads[MAIN][0].letters[:] = observed[missed:].encode()
    measured = with_states(profile_of({MAIN: observed, LATE: late}), {PID: rounds}, stops=False)
    found = samples_of(measured)
    assert found[MAIN] == [
        (n, letter, STATES[letter] if n >= missed else UNKNOWN) for n, letter in enumerate(observed)
    ]
    assert found[LATE] == [(first + n, letter, STATES[letter]) for n, letter in enumerate(late)]
    assert measured.rounds == length


def test_threads_of_several_processes() -> None:
    profile = profile_of({1: "ab"}, pid=1)
    other = profile_of({2: "c"}, pid=2)
    builder = ProfileBuilder()
    for one in (profile, other):
        for stack, thread, weight in one.samples:
            builder.add(tuple(one.frames[f] for f in one.stacks[stack]), one.threads[thread], weight)
    rounds = {1: process({1: (0, "sws")}), 2: process({2: (0, "sg")})}
    found = samples_of(with_states(builder.build(), rounds, stops=False))
    assert found == {1: [(0, "a", WORKING), (1, "b", WAITING)], 2: [(0, "c", GIL)]}


def test_states_of_unknown_threads_are_unknown() -> None:
    measured = with_states(profile_of({MAIN: "ab", 9: "cd"}), {PID: main_thread("ww")}, stops=False)
    assert samples_of(measured)[9] == [(0, "c", UNKNOWN), (1, "d", UNKNOWN)]


def test_an_id_that_was_used_again() -> None:
    rounds = main_thread("s" * 20)
    rounds.threads[9] = [ThreadRounds(3, bytearray(b"www")), ThreadRounds(8, bytearray(b"sss"))]
    found = samples_of(with_states(profile_of({MAIN: "a" * 20, 9: "bbbccc"}), {PID: rounds}, stops=False))
    assert [state for _, _, state in found[9]] == [WORKING] * 3 + [WAITING] * 3


def test_samples_after_the_end_of_the_journal_have_no_state() -> None:
    measured, states = measure("a" * 150, main_thread("w" * 100))
    assert states == [WORKING] * 100 + [UNKNOWN] * 50
    assert measured.rounds == 150


@pytest.mark.parametrize("stops", [False, True])
def test_no_state_is_known(stops: bool) -> None:
    rounds = main_thread("")
    rounds.threads[MAIN][0].letters.clear()
    assert set(measure("ab" * 10, rounds, stops=stops)[1]) == {UNKNOWN}


def test_samples_without_rounds_between_them_are_spread() -> None:
    _, states = measure("a" * 10 + "b" * 10, main_thread("w" * 50 + "s" * 50))
    assert states == [WORKING] * 10 + [WAITING] * 10


def test_a_stopped_process_is_not_seen() -> None:
    measured, _ = measure("a" * 150 + "b" * 50, main_thread("w" * 50 + "p" * 100 + "s" * 50))
    found = samples_of(measured)[MAIN]
    assert found == [(n, "a", WORKING) for n in range(50)] + [(n, "b", WAITING) for n in range(150, 200)]
    assert (measured.rounds, measured.unseen_ns) == (100, pytest.approx(100 * PERIOD_MS * 1e6))


@pytest.mark.parametrize(
    ("failed", "rounds", "unseen"), [(range(40, 90), 49, 50), (range(3, 90, 4), 77, 0)], ids=["long", "some"]
)
def test_rounds_that_fail_are_not_seen_unless_they_are_only_lost(
    failed: range, rounds: int, unseen: int
) -> None:
    measured, _ = measure("a" * rounds, main_thread("w" * 99, failed=failed))
    assert (measured.rounds, measured.unseen_ns) == (rounds, pytest.approx(unseen * PERIOD_MS * 1e6))


def test_the_time_of_a_thread_is_that_in_which_it_could_be_read() -> None:
    """After 1 s of work, the process becomes another program that waits for 2 s."""
    times = (Times(number, min(1.0, (number - 1) / 100), 0.0, number) for number in range(1, 301, 25))
    measured, states = measure("a" * 100, main_thread("w" * 100 + "s" * 200, *times, failed=range(101, 301)))
    assert states == [WORKING] * 100
    assert measured.unseen_ns == pytest.approx(200 * PERIOD_MS * 1e6)


@pytest.mark.parametrize(
    ("letters", "round_", "working"),
    [("w" * 40 + "wssss" * 12, 41, {39, 40, 41}), ("w" * 100, 61, {100})],
    ids=["it does not run any more", "it was killed, so what it used at the end is not known"],
)
def test_a_thread_whose_times_end_early(letters: str, round_: int, working: set[int]) -> None:
    last = Times(round_, (round_ - 1) / 100, 0.0, 2)
    _, states = measure("a" * 40 + "b" * 60, main_thread(letters, Times(1, 0.0, 0.0, 1), last))
    assert states.count(WORKING) in working


@pytest.mark.parametrize(
    ("clock", "unseen_ms"),
    [
        ([(0, 0), (100, 1000)], 0),
        ([(0, 0), (50, 500), (51, 2500), (100, 3000)], 2000),
        ([(0, 0), (50, 500), (50, 1500), (51, 2500), (100, 3000)], 2000),
        ([(0, 0), (50, 500), (51, 590), (100, 1080)], 0),
        ([(number, 300 * number) for number in range(101)], 0),
        ([(0, 0)], 0),
        ([], 0),
    ],
    ids=["steady", "pause", "pause in parts", "late", "slow rounds", "one round", "none"],
)  # fmt: skip
def test_a_pause_is_not_seen(clock: list[tuple[int, int]], unseen_ms: float) -> None:
    measured, _ = measure("a" * 99, replace(main_thread("w" * 99), clock=clock))
    assert measured.unseen_ns == pytest.approx(unseen_ms * 1e6)


def timed(letters: str, cpu: float, late: float = 0.0, slices: int = 0) -> ProcessRounds:
    """Rounds of one thread with its use of processors: parts of its time, and how often it began to run."""
    length_s = len(letters) * PERIOD_MS / 1e3
    last = Times(len(letters) + 1, 5.0 + cpu * length_s, 1.0 + late * length_s, 7 + slices)
    return main_thread(letters, Times(1, 5.0, 1.0, 7), last)


@pytest.mark.parametrize(
    ("letters", "cpu", "late"),
    [("w" * 30 + "s" * 70, 0.3, 0), ("w" * 30 + "s" * 70, 0.2, 0.15), ("w" * 5 + "s" * 10, 0.9, 0)],
    ids=["they add up to the time on processors", "it also waits for a processor", "a short thread"],
)
def test_states_that_stay(letters: str, cpu: float, late: float) -> None:
    _, states = measure(letters, timed(letters, cpu, late))
    assert states == [STATES[letter] for letter in letters]


@pytest.mark.parametrize(
    ("first", "second", "working", "other"),
    [
        ("w" * 50, "wssss" * 10, {49, 50, 51}, WAITING), ("wwwws" * 10, "s" * 50, {49, 50}, WAITING),
        ("w" * 50, "wgggg" * 10, {49, 50, 51}, GIL),
    ],
    ids=["waits read as work", "work read as waits", "waits for the GIL read as work"],
)  # fmt: skip
def test_states_are_corrected_by_the_time_on_processors(
    first: str, second: str, working: set[int], other: ThreadState
) -> None:
    """The sampler wakes a thread for its stop: it often seems to want a processor where it only waits."""
    _, states = measure("a" * 50 + "b" * 50, timed(first + second, cpu=0.5))
    assert states.count(WORKING) in working
    for half, found in ((first, states[:50]), (second, states[50:])):
        assert len(set(half)) > 1 or found == [STATES[half[0]]] * 50, "what was read right stays"
    assert {state for state in states if state is not WORKING} == {other}


@pytest.mark.parametrize(
    ("second", "cpu", "late", "working"),
    [
        ("wssss" * 10, 0.5, 0.0, 50), ("wssss" * 10, 0.4, 0.1, 50), ("wssss" * 10, 0.3, 0.4, 50),
        ("wwwss" * 10, 0.5, 0.3, 80), ("wssss" * 10, 0.55, 0.3, 55),
    ],
    ids=["not late", "late", "later", "mostly works there", "at least its time on processors"],
)  # fmt: skip
def test_a_thread_that_waits_for_a_processor_where_it_mostly_waits_was_only_woken(
    second: str, cpu: float, late: float, working: int
) -> None:
    _, states = measure("a" * 50 + "b" * 50, timed("w" * 50 + second, cpu, late))
    assert states.count(WORKING) == pytest.approx(working, abs=1)


@pytest.mark.parametrize(
    ("slices", "letters", "working"),
    [(1000, "wwwss" * 20, 0.91), (205, "s" * 100, 0.05), (1000, "wwwgg" * 20, 0.6)],
    ids=["waits often", "is woken to be stopped", "waits for the GIL"],
)
def test_a_thread_that_waits_for_a_processor_works_though_the_next_wait_was_read(
    slices: int, letters: str, working: float
) -> None:
    """The sampler's stop takes it off the queue, and it then runs into its next wait."""
    _, states = measure("a" * 100, timed(letters, cpu=0.05, late=0.88, slices=slices), stops=True)
    assert states.count(WORKING) / 100 == pytest.approx(working, abs=0.03)


def test_a_thread_that_is_only_woken_does_not_work() -> None:
    use = Use(cpu=0.01, late=0.5, slices=2.0)
    assert use.most_working(0.5, wakes=2) < 0.3
    assert use.most_working(0.5, wakes=0) == 0.5
    assert Use(cpu=0.3, late=0.5, slices=0.1).most_working(0.9, wakes=0) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("letters", "names", "working"),
    [
        ("w" * 80 + "wsss" * 5, "a" * 80 + "b" * 20, 80),  # a wait was read as work one time in four
        ("w" * 100, "a" * 80 + "b" * 20, 100),
        ("wwws" * 25, "a" * 100, 50),
    ],
    ids=["two lines", "always", "one line"],
)
def test_a_stop_is_neither_work_nor_waiting_for_a_processor(letters: str, names: str, working: int) -> None:
    _, states = measure(names, timed(letters, cpu=0.2, late=0.2, slices=80), stops=True)
    assert states.count(WORKING) == pytest.approx(working, abs=1)


LINES = st.dictionaries(
    st.integers(0, 5), st.tuples(st.integers(1, 60), st.floats(0, 1)), min_size=1, max_size=6
).map(lambda lines: {line: (total, round(total * part)) for line, (total, part) in lines.items()})


@given(lines=LINES, part=st.floats(0, 1))
def test_corrected_parts_add_up_and_stay_in_their_lines(
    lines: dict[int, tuple[int, int]], part: float
) -> None:
    total = {line: both[0] for line, both in lines.items()}
    seen = {line: both[1] for line, both in lines.items()}
    wanted = part * sum(total.values())
    found = corrected_parts(total, seen, wanted)
    assert sum(found.values()) == pytest.approx(wanted, abs=1e-3)
    assert found.keys() == total.keys()
    assert all(-1e-9 <= found[line] <= total[line] + 1e-9 for line in total)
    for line in total:  # each is corrected in the same direction
        sign = 1 if wanted >= sum(seen.values()) else -1
        assert sign * (found[line] - seen[line]) >= -1e-3


@given(lines=LINES)
def test_nothing_is_corrected_if_nothing_is_wrong(lines: dict[int, tuple[int, int]]) -> None:
    total = {line: both[0] for line, both in lines.items()}
    seen = {line: both[1] for line, both in lines.items()}
    assert corrected_parts(total, seen, sum(seen.values())) == pytest.approx(seen, abs=1e-3)


def test_the_same_part_of_each_wait_was_read_as_work() -> None:
    found = corrected_parts({1: 100, 2: 100, 3: 100}, {1: 100, 2: 20, 3: 60}, 150)
    assert found == pytest.approx({1: 100, 2: 0, 3: 50}, abs=1e-3)


def test_lines_that_only_seem_to_work_work_less() -> None:
    assert corrected_parts({1: 10, 2: 30}, {1: 10, 2: 30}, 20) == pytest.approx({1: 5, 2: 15}, abs=1e-3)
