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


def measured_states(
    letters: str, names: str, process_: ProcessRounds | None = None, *, stops: bool = False
) -> list[ThreadState]:
    rounds = process_ or process({MAIN: (0, "s" + letters)})
    measured = with_states(profile_of({MAIN: names}), {PID: rounds}, stops=stops)
    return [state for _, _, state in samples_of(measured).get(MAIN, [])]


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
    measured = with_states(profile_of({MAIN: "ab", 9: "cd"}), {PID: process({MAIN: (0, "sww")})}, stops=False)
    assert samples_of(measured)[9] == [(0, "c", UNKNOWN), (1, "d", UNKNOWN)]


def test_an_id_that_was_used_again() -> None:
    rounds = process({MAIN: (0, "s" * 21)})
    rounds.threads[9] = [ThreadRounds(3, bytearray(b"www")), ThreadRounds(8, bytearray(b"sss"))]
    found = samples_of(with_states(profile_of({MAIN: "a" * 20, 9: "bbbccc"}), {PID: rounds}, stops=False))
    assert [state for _, _, state in found[9]] == [WORKING] * 3 + [WAITING] * 3


def test_samples_after_the_end_of_the_journal_have_no_state() -> None:
    states = measured_states("w" * 100, "a" * 150)
    assert states == [WORKING] * 100 + [UNKNOWN] * 50
    rounds = process({MAIN: (0, "s" + "w" * 100)})
    assert with_states(profile_of({MAIN: "a" * 150}), {PID: rounds}, stops=False).rounds == 150


@pytest.mark.parametrize("stops", [False, True])
def test_no_state_is_known(stops: bool) -> None:
    rounds = process({MAIN: (0, "s")})
    rounds.threads[MAIN][0].letters.clear()
    measured = with_states(profile_of({MAIN: "ab" * 10}), {PID: rounds}, stops=stops)
    assert {state for _, _, state in samples_of(measured)[MAIN]} == {UNKNOWN}


def test_samples_without_rounds_between_them_are_spread() -> None:
    assert measured_states("w" * 50 + "s" * 50, "a" * 10 + "b" * 10) == [WORKING] * 10 + [WAITING] * 10


def test_a_stopped_process_is_not_seen() -> None:
    letters = "w" * 50 + "p" * 100 + "s" * 50
    rounds = process({MAIN: (0, "s" + letters)})
    measured = with_states(profile_of({MAIN: "a" * 150 + "b" * 50}), {PID: rounds}, stops=False)
    found = samples_of(measured)[MAIN]
    assert found == [(n, "a", WORKING) for n in range(50)] + [(n, "b", WAITING) for n in range(150, 200)]
    assert (measured.rounds, measured.unseen_ns) == (100, pytest.approx(100 * PERIOD_MS * 1e6))


def test_failed_rounds_are_not_seen() -> None:
    rounds = process({MAIN: (0, "s" + "w" * 99)}, failed=range(40, 90))
    measured = with_states(profile_of({MAIN: "a" * 49}), {PID: rounds}, stops=False)
    assert (measured.rounds, measured.unseen_ns) == (49, pytest.approx(50 * PERIOD_MS * 1e6))


def test_rounds_that_fail_now_and_then_are_only_lost() -> None:
    rounds = process({MAIN: (0, "s" + "w" * 99)}, failed=range(3, 90, 4))
    measured = with_states(profile_of({MAIN: "a" * 77}), {PID: rounds}, stops=False)
    assert (measured.rounds, measured.unseen_ns) == (77, 0)


def test_the_time_of_a_thread_is_that_in_which_it_could_be_read() -> None:
    """After 1 s of work, the process becomes another program that waits for 2 s."""
    rounds = process({MAIN: (0, "s" + "w" * 100 + "s" * 200)}, failed=range(101, 301))
    rounds.threads[MAIN][0].times += [
        Times(number, min(1.0, (number - 1) / 100), 0.0, number) for number in range(1, 301, 25)
    ]
    measured = with_states(profile_of({MAIN: "a" * 100}), {PID: rounds}, stops=False)
    assert [state for _, _, state in samples_of(measured)[MAIN]] == [WORKING] * 100
    assert measured.unseen_ns == pytest.approx(200 * PERIOD_MS * 1e6)


def test_a_thread_that_does_not_run_any_more_waits() -> None:
    letters = "w" * 40 + "wssss" * 12
    rounds = process({MAIN: (0, "s" + letters)})
    rounds.threads[MAIN][0].times += [Times(1, 0.0, 0.0, 1), Times(41, 0.4, 0.0, 2)]
    measured = with_states(profile_of({MAIN: "a" * 40 + "b" * 60}), {PID: rounds}, stops=False)
    states = [state for _, _, state in samples_of(measured)[MAIN]]
    assert states.count(WORKING) in (39, 40, 41)


def test_what_a_thread_used_at_the_end_is_not_known_if_the_process_was_killed() -> None:
    rounds = process({MAIN: (0, "s" + "w" * 100)})
    rounds.threads[MAIN][0].times += [Times(1, 0.0, 0.0, 1), Times(61, 0.6, 0.0, 2)]
    measured = with_states(profile_of({MAIN: "a" * 100}), {PID: rounds}, stops=False)
    assert [state for _, _, state in samples_of(measured)[MAIN]] == [WORKING] * 100


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
    rounds = replace(process({MAIN: (0, "s" + "w" * 99)}), clock=clock)
    measured = with_states(profile_of({MAIN: "a" * 99}), {PID: rounds}, stops=False)
    assert measured.unseen_ns == pytest.approx(unseen_ms * 1e6)


def timed(letters: str, cpu: float, late: float = 0.0, slices: int = 0) -> ProcessRounds:
    """Rounds of one thread with its use of processors: parts of its time, and how often it began to run."""
    rounds = process({MAIN: (0, "s" + letters)})
    length_s = len(letters) * PERIOD_MS / 1e3
    rounds.threads[MAIN][0].times += [
        Times(1, 5.0, 1.0, 7), Times(rounds.rounds, 5.0 + cpu * length_s, 1.0 + late * length_s, 7 + slices)
    ]  # fmt: skip
    return rounds


def test_states_that_add_up_to_the_time_on_processors_are_right() -> None:
    letters = "w" * 30 + "s" * 70
    states = measured_states(letters, "a" * 30 + "b" * 70, timed(letters, cpu=0.3))
    assert states == [WORKING] * 30 + [WAITING] * 70
    states = measured_states(letters, "a" * 30 + "b" * 70, timed(letters, cpu=0.2, late=0.15))
    assert states == [WORKING] * 30 + [WAITING] * 70, "it also had to wait for a processor"


def test_waits_that_were_read_as_work_are_corrected() -> None:
    """The sampler wakes a thread for its stop: it often seems to want a processor where it only waits."""
    names = "a" * 50 + "b" * 50
    letters = "w" * 50 + "wssss" * 10
    states = measured_states(letters, names, timed(letters, cpu=0.5))
    assert states.count(WORKING) in (49, 50, 51)
    assert states[:50] == [WORKING] * 50


def test_work_that_was_read_as_waiting_is_corrected() -> None:
    names = "a" * 50 + "b" * 50
    letters = "wwwws" * 10 + "s" * 50
    states = measured_states(letters, names, timed(letters, cpu=0.5))
    assert states.count(WORKING) in (49, 50)
    assert states[50:] == [WAITING] * 50


def test_a_thread_that_waits_for_the_gil_is_corrected_to_it() -> None:
    letters = "w" * 50 + "wgggg" * 10
    states = measured_states(letters, "a" * 50 + "b" * 50, timed(letters, cpu=0.5))
    assert {state for state in states[50:] if state is not WORKING} == {GIL}
    assert states[50:].count(WORKING) <= 1


@pytest.mark.parametrize(
    ("slices", "letters", "working"),
    [(1000, "wwwss" * 20, 0.91), (205, "s" * 100, 0.05), (1000, "wwwgg" * 20, 0.6)],
    ids=["waits often", "is woken to be stopped", "waits for the GIL"],
)
def test_a_thread_that_waits_for_a_processor_works_though_the_next_wait_was_read(
    slices: int, letters: str, working: float
) -> None:
    """The sampler's stop takes it off the queue, and it then runs into its next wait."""
    states = measured_states(
        letters, "a" * 100, timed(letters, cpu=0.05, late=0.88, slices=slices), stops=True
    )
    assert states.count(WORKING) / 100 == pytest.approx(working, abs=0.03)


def test_the_time_of_a_short_thread_says_nothing() -> None:
    letters = "w" * 5 + "s" * 10
    assert measured_states(letters, "a" * 5 + "b" * 10, timed(letters, cpu=0.9)) == (
        [WORKING] * 5 + [WAITING] * 10
    )


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
    rounds = timed(letters, cpu=0.2, late=0.2, slices=80)
    measured = with_states(profile_of({MAIN: names}), {PID: rounds}, stops=True)
    found = [state for _, _, state in samples_of(measured)[MAIN]]
    assert found.count(WORKING) == pytest.approx(working, abs=1)


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
