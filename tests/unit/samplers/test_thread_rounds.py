"""Journals of rounds, also damaged ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.samplers.thread_rounds import ProcessRounds, ThreadRounds, Times, read_rounds

LINES = [
    "profkit-rounds 1",
    "p 0 700",
    "t 0 0 700 0",
    "c 0 1 1000 20 3",
    "r 0 1 5000",
    "t 1 0 701 1",
    "b 0 2",
    "p 1 800",
    "t 2 1 800 0",
    "s 0 w2s1",
    "s 1 g3",
    "x 0 4",
    "s 0 p1",
    "s 2 s7",
    "r 0 4 5030",
    "r 1 7 5030",
    "c 0 4 31000 520 9",
    "t 3 0 701 5",  # an id that is used again
    "s 3 w1",
]


def journal(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("ascii")


def test_a_journal_is_read() -> None:
    assert read_rounds(journal(*LINES)) == {
        700: ProcessRounds(
            rounds=4, trials=1, failed=[4], clock=[(1, 5000), (4, 5030)],
            threads={
                700: [
                    ThreadRounds(
                        0, bytearray(b"wwsp"), [Times(1, 0.001, 0.00002, 3), Times(4, 0.031, 0.00052, 9)]
                    )
                ],
                701: [ThreadRounds(1, bytearray(b"ggg")), ThreadRounds(5, bytearray(b"w"))],
            },
        ),
        800: ProcessRounds(
            rounds=7, clock=[(7, 5030)], threads={800: [ThreadRounds(0, bytearray(b"sssssss"))]}
        ),
    }  # fmt: skip


@pytest.mark.parametrize("data", [b"", b"\n", b"profkit-rounds 2\np 0 7\n", b"\xff\xfe", b"profkit-rounds 1"])
def test_other_data_has_no_rounds(data: bytes) -> None:
    assert read_rounds(data) == {}


@given(length=st.integers(0, len(journal(*LINES))))
def test_each_beginning_of_a_journal_is_valid(length: int) -> None:
    data = journal(*LINES)[:length]
    complete = data[: data.rfind(b"\n") + 1]
    assert read_rounds(data) == read_rounds(complete)
    whole = read_rounds(journal(*LINES))
    for pid, process in read_rounds(data).items():
        assert process.rounds <= whole[pid].rounds
        for tid, threads in process.threads.items():
            for thread, of_whole in zip(threads, whole[pid].threads[tid], strict=False):
                assert of_whole.letters.startswith(thread.letters)


@pytest.mark.parametrize(
    "damage",
    [
        "s 0 w1z2", "s 0 w1s", "s 9 w1", "s -1 w1", "s 0", f"s 0 w{10**18}", f"s 0 w{'9' * 5000}",
        "t 1 5 7 0", "t 1 0 7", "r -1 3 3", f"r 0 {10**400} 5", "r 0 1.5 5", "c 7 1 1 1 1", "c 0 1 1 1",
        "x 3 4", "b 0", "q 1", "", "p 0",
    ],
)  # fmt: skip
def test_nothing_after_damage_counts(damage: str) -> None:
    before = journal(*LINES[:9])
    assert read_rounds(before + journal(damage, *LINES[9:])) == read_rounds(before)


@given(lines=st.lists(st.sampled_from(LINES), max_size=20), junk=st.binary(max_size=20))
def test_no_journal_is_an_error(lines: list[str], junk: bytes) -> None:
    for process in read_rounds(journal(LINES[0], *lines) + junk + b"\n").values():
        assert process.clock == sorted(process.clock)
        times_ms = [ms for _, ms in process.clock]
        assert times_ms == sorted(times_ms)
