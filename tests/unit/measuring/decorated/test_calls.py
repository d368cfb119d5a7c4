"""Which calls are of a new kind: few of a loop over values, all that differ in more."""

from __future__ import annotations

import enum
from itertools import pairwise, product
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.decorated.calls import MAX_SIGNATURES, MAX_VALUES, Kinds, Moment, in_process_run
from profkit.measuring.orders import work_order
from profkit.measuring.transfer.signature import signature_of
from tests.unit.measuring.runner.test_run import timing_in


def test_times_in_place_are_those_of_the_blocks_after_the_warm_ups() -> None:
    moments = [Moment(wall_s, cpu_s, 0, 7) for wall_s, cpu_s in ((0, 0), (9, 1), (10, 2), (12, 3))]
    spans = list(pairwise(moments))
    run = in_process_run(work_order("f()"), ("f", "f.py", 1), spans, "why", number=2, warmups=1)
    (process,) = timing_in(run).processes
    assert (process.times_s, process.cpu_share) == ((0.5, 1.0), pytest.approx(2 / 3))
    assert (run.info.duration_s, run.info.started_ns, run.info.order.what) == (12.0, 7, "f")


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    WHITE = 4
    BLACK = 5
    GREY = 6


def claimed(kinds: Kinds, *calls: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return [args for args in calls if kinds.claim(args, {}) is not None]


@pytest.mark.parametrize(
    "values",
    [
        range(100),
        [n / 7 for n in range(100)],
        [f"word {n}" for n in range(100)],
        ["x" * n for n in range(100)],
        [[0] * n for n in range(100)],
    ],
)
def test_a_loop_over_values_is_a_few_kinds(values: Any) -> None:
    assert claimed(Kinds(), *((value,) for value in values)) == [
        (value,) for value in list(values)[:MAX_VALUES]
    ]


def test_loops_within_each_other_are_not_multiplied() -> None:
    assert len(claimed(Kinds(), *product(range(10), range(10), range(10)))) == 1 + 3 * (MAX_VALUES - 1)


def test_a_mode_is_seen_behind_a_number() -> None:
    assert claimed(Kinds(), *product(["sum", "mean"], range(10)))[-1] == ("mean", 0)


def test_shapes_types_flags_and_members_are_kinds_of_their_own() -> None:
    arrays = [(numpy.ones(n),) for n in range(10)]
    others: list[tuple[Any, ...]] = [
        (True,),
        (False,),
        (None,),
        *((colour,) for colour in Colour),
        (1,),
        (1.0,),
    ]
    kinds = Kinds()
    assert claimed(kinds, *arrays) == arrays
    assert claimed(kinds, *others) == others


def test_there_are_at_most_so_many() -> None:
    kinds = Kinds()
    assert len(claimed(kinds, *((numpy.ones(n),) for n in range(100)))) == MAX_SIGNATURES
    assert kinds.closed


@pytest.mark.parametrize("most", [1, 10, 100, 1000])
def test_with_a_limit_of_the_users_every_value_is_a_kind(most: int) -> None:
    assert len(claimed(Kinds(most), *((n,) for n in range(500)))) == min(most, 500)


@pytest.mark.parametrize("most", [None, 7])
def test_a_claim_is_given_back(most: int | None) -> None:
    kinds = Kinds(most)
    first, others = kinds.claim((0,), {"key": 1}), [kinds.claim((n,), {"key": 1}) for n in range(1, 20)]
    assert first is not None
    assert kinds.claim((0,), {"key": 1}) is None
    kinds.release(first)
    again = kinds.claim((0,), {"key": 1})
    assert again == first
    assert sum(claim is not None for claim in others) == (MAX_VALUES - 1 if most is None else 6)


def test_many_signatures_take_no_memory() -> None:
    kinds = Kinds()
    claimed(kinds, *((n,) for n in range(10_000)))
    assert len(kinds._known) < 5_000


VALUES = st.one_of(
    st.integers(0, 3), st.text(max_size=2), st.booleans(), st.none(), st.lists(st.none(), max_size=3)
)


@given(st.lists(st.tuples(VALUES, VALUES)), st.none() | st.integers(1, 8))
def test_no_signature_is_claimed_twice_and_no_first_value_is_left_out(
    calls: list[tuple[object, object]], most: int | None
) -> None:
    kinds = Kinds(most)
    found = [signature_of(args, {}) for args in claimed(kinds, *calls)]
    assert len(set(found)) == len(found) <= kinds.most
    assert claimed(kinds, *calls) == []
    types = {tuple(type(value) for value in args) for args in calls}
    if not kinds.refused:
        assert types == {
            tuple(type(value) for value in args) for args in calls if signature_of(args, {}) in found
        }
