from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.comparing.sampled import MOST_RUNS, POWER, compare_sampled, runs_to_decide
from profkit.comparing.shares import Sliced, whole
from profkit.comparing.significance import LEVEL, Seen, Sides, compare_quantities
from profkit.errors import UsageError
from profkit.model.comparison import Change, Difference, Grade, SampledComparison
from profkit.model.histogram import histogram_of
from profkit.model.notes import FindingCode, Note, NoteCode
from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.render.views.sampled_comparison import headline
from profkit.units import Unit
from tests.support.example_runs import PLAN, PROCESS, made_run
from tests.support.example_sampled_comparisons import (
    SHARES,
    drawn_run,
    drawn_runs,
    of_shares,
    slower,
    with_profile,
)
from tests.support.profile_strategies import profile_of, profiles

MANY, ONE = histogram_of([10**7] * 100), histogram_of([10**9])
filled = profiles().filter(lambda profile: profile.total_weight > 0)


def runs_of(side: str, taken: list[Profile]) -> list[Run]:
    return [replace(made_run(id=f"{side}{number}"), profile=one) for number, one in enumerate(taken)]


sides = st.lists(filled, min_size=1, max_size=3)


def compare(a: list[Profile], b: list[Profile]) -> SampledComparison:
    return compare_sampled(runs_of("a", a), runs_of("b", b))


def test_processes_of_one_launch_do_not_confirm_a_difference() -> None:
    dice = random.Random(8)
    a, b = (drawn_runs(dice, 4, shares, samples=2000) for shares in (SHARES, slower("compute", 2)))
    ranks = [replace(run, info=replace(run.info, process=replace(PROCESS, launch="f00d"))) for run in b]
    assert compare_sampled(a, b).grade is Grade.CONFIRMED
    compared = compare_sampled(a, ranks)
    assert compared.grade is Grade.UNCONFIRMED
    assert headline(compared).startswith("unconfirmed, from processes of one launch per side: ")


@given(filled, st.integers(2, 30))
def test_slices_are_parts_of_the_whole(profile: Profile, count: int) -> None:
    all_of_it = whole(profile)
    sliced = Sliced.of(profile, count)
    parts = sliced.shares(all_of_it.total)
    assert len(parts) == count
    found = sliced.whole()
    assert {one: share for one, share in found.own.items() if one in all_of_it.own} == all_of_it.own
    assert {one: share for one, share in found.total.items() if share} == all_of_it.total
    for part in parts:
        assert sum(part.own.values()) <= 1 + 1e-9
    for function, share in all_of_it.total.items():
        assert sum(part.total.get(function, 0.0) for part in parts) / count == pytest.approx(share)
        assert share >= all_of_it.own.get(function, 0.0) - 1e-9


def test_slices_are_in_the_order_of_the_samples_of_each_thread() -> None:
    profile = profile_of(("f:1", 10), ("g:1", 30))
    parts = Sliced.of(profile, 4).shares(whole(profile).total)
    seen = [[name for (name, _), share in part.own.items() if share > 1e-9] for part in parts]
    assert seen == [["f"], ["g"], ["g"], ["g"]]


@settings(max_examples=25)
@given(sides, sides)
def test_shares_add_up(a: list[Profile], b: list[Profile]) -> None:
    found = compare(a, b)
    for name in ("a", "b"):
        total = sum(getattr(function.own, name).value for function in found.functions)
        assert total <= 1 + 1e-9
    assert sum(function.own.difference.value for function in found.functions) == pytest.approx(
        _unowned(a) - _unowned(b)
    )
    assert found.both.total_weight == sum(profile.total_weight for profile in (*a, *b))


def _unowned(taken: list[Profile]) -> float:
    """The part of samples with an empty stack, which are nobody's."""
    empty = sum(sample.weight for one in taken for sample in one.samples if not one.stacks[sample.stack])
    return empty / sum(one.total_weight for one in taken)


@settings(max_examples=25)
@given(sides, sides)
def test_the_other_way_round_is_the_mirror(a: list[Profile], b: list[Profile]) -> None:
    there, back = compare(a, b), compare(b, a)
    mirrored = {(one.name, one.file): one for one in back.functions}
    assert len(mirrored) == len(there.functions)
    for one in there.functions:
        other = mirrored[one.name, one.file]
        for left, right in ((one.own, other.own), (one.total, other.total)):
            assert (left.a, left.b) == (right.b, right.a)
            assert _numbers(left.difference) == pytest.approx(_numbers(_mirror(right.difference)))
            assert left.difference.change is _mirror(right.difference).change
    assert there.unseen == pytest.approx(back.unseen)


def _numbers(difference: Difference) -> tuple[float, ...]:
    return difference.value, difference.low, difference.high, difference.p


def _mirror(found: Difference) -> Difference:
    changes = {Change.MORE: Change.LESS, Change.LESS: Change.MORE, Change.NOISE: Change.NOISE}
    return Difference(-found.value, -found.high, -found.low, found.p, changes[found.change])


@given(sides, sides)
@settings(max_examples=25)
def test_what_changed_leaves_0_out_and_is_large(a: list[Profile], b: list[Profile]) -> None:
    for function in compare(a, b).functions:
        for share in (function.own, function.total):
            found = share.difference
            assert found.low <= found.value <= found.high
            assert share.a.low <= share.a.value <= share.a.high
            if found.changed:
                assert not found.low <= 0 <= found.high
                assert abs(found.value) >= 0.02


@pytest.mark.parametrize("runs", [1, 3])
def test_alike_runs_are_hardly_ever_called_different(runs: int) -> None:
    """Functions whose times vary from run to run by 5 %."""
    dice = random.Random(8)
    found = [
        compare_sampled(drawn_runs(dice, runs, run_to_run=0.05), drawn_runs(dice, runs, run_to_run=0.05))
        for _ in range(100 // runs)
    ]
    assert sum(comparison.different for comparison in found) <= 1


@pytest.mark.parametrize(("runs", "factor"), [(1, 2.2), (3, 1.8), (6, 1.5)])
def test_true_changes_are_found(runs: int, factor: float) -> None:
    dice, trials = random.Random(9), 20
    found = 0
    for _ in range(trials):
        after = drawn_runs(dice, runs, slower("compute", factor), run_to_run=0.03)
        comparison = compare_sampled(drawn_runs(dice, runs, run_to_run=0.03), after)
        first = comparison.functions[0]
        found += first.name == "compute" and first.own.difference.change is Change.MORE
    assert found >= 0.8 * trials


def test_intervals_of_shares_hold_the_true_one() -> None:
    dice, held, asked = random.Random(10), 0, 0
    for _ in range(40):
        comparison = compare_sampled(
            drawn_runs(dice, 3, run_to_run=0.05), drawn_runs(dice, 3, run_to_run=0.05)
        )
        for function in comparison.functions:
            if function.name in SHARES:
                asked += 1
                held += function.own.a.low <= SHARES[function.name] <= function.own.a.high
    assert held / asked > 0.93


def test_more_runs_say_more() -> None:
    dice = random.Random(11)
    unseen = [compare_sampled(drawn_runs(dice, runs), drawn_runs(dice, runs)).unseen for runs in (1, 3, 8)]
    assert unseen == sorted(unseen, reverse=True)
    assert unseen[-1] < unseen[0] / 2


def test_calls_that_drift_are_worth_less_than_one_call_with_phases() -> None:
    """The same shares: mixed, one after the other in many calls, and one after the other in a single call."""
    names = [name for name, share in SHARES.items() for _ in range(round(share * 600))]
    mixed = random.Random(12).sample(names, len(names))
    unseen = []
    for taken, durations in ((mixed, MANY), (names, MANY), (names, ONE)):
        profile = profile_of(*((f"{name}:1", 1) for name in taken))
        runs = [replace(made_run(id=side, durations=durations), profile=profile) for side in "ab"]
        unseen.append(compare_sampled(runs[:1], runs[1:]).unseen)
    assert unseen[1] > 1.5 * unseen[0]
    assert unseen[2] < 0.6 * unseen[1]


def test_grades() -> None:
    dice = random.Random(13)
    for runs, grade in ((1, Grade.UNCONFIRMED), (2, Grade.UNCONFIRMED), (3, Grade.CONFIRMED)):
        found = compare_sampled(drawn_runs(dice, runs), drawn_runs(dice, runs))
        assert found.grade is grade
        assert headline(found).startswith("unconfirmed") == (grade is Grade.UNCONFIRMED)
    blocking = replace(PLAN, blocking=not PLAN.blocking)
    found = compare_sampled(drawn_runs(dice, 3), drawn_runs(dice, 3, plan=blocking))
    assert found.grade is Grade.UNCONFIRMED
    assert found.notes[0].code is FindingCode.SAMPLED_DIFFERENTLY


def from_inside(runs: list[Run], *kinds: str) -> list[Run]:
    """The same runs as if they were sampled from inside."""
    notes = tuple(Note.of(NoteCode.SAMPLED_INSIDE, kind=kind) for kind in kinds)
    plan = replace(PLAN, sampler="inprocess")
    return [replace(run, info=replace(run.info, notes=notes, plan=plan)) for run in runs]


@pytest.mark.parametrize("kind", ["timer", "thread"])
def test_biased_samples_are_not_compared_with_others_without_a_word(kind: str) -> None:
    dice = random.Random(16)
    a, b = (drawn_runs(dice, 3) for _ in "ab")
    found = compare_sampled(from_inside(a, kind), b)
    assert [note.code for note in found.notes[:2]] == [
        FindingCode.BIASED_SAMPLES, FindingCode.SAMPLED_DIFFERENTLY
    ]  # fmt: skip
    assert dict(found.notes[0].figures)["ways"] == kind
    assert dict(found.notes[1].figures)["a"] == f"inprocess ({kind})"
    assert found.grade is Grade.UNCONFIRMED
    mixed = compare_sampled([*from_inside(a[:1], kind), *a[1:]], [*from_inside(b[:1], kind), *b[1:]])
    assert [note.code for note in mixed.notes] == [FindingCode.BIASED_SAMPLES]
    assert mixed.grade is Grade.UNCONFIRMED
    alike = compare_sampled(from_inside(a, kind), from_inside(b, kind))
    assert (alike.notes, alike.grade) == ((), Grade.CONFIRMED)


def test_a_subinterpreter_is_unbiased_but_another_sampler() -> None:
    dice = random.Random(17)
    a, b = (drawn_runs(dice, 3) for _ in "ab")
    found = compare_sampled(from_inside(a, "interpreter"), b)
    assert [note.code for note in found.notes] == [FindingCode.SAMPLED_DIFFERENTLY]
    found = compare_sampled(from_inside(a, "interpreter"), from_inside(b, "interpreter", "thread"))
    assert found.notes[0].code is FindingCode.BIASED_SAMPLES


def test_what_is_noise_is_not_in_the_headline() -> None:
    dice = random.Random(14)
    found = compare_sampled(drawn_runs(dice, 3), drawn_runs(dice, 3))
    assert not found.different
    assert not any(name in headline(found) for name in SHARES)


def test_two_runs_in_no_order_are_compared_with_wider_intervals() -> None:
    dice = random.Random(15)
    a, b = (drawn_run(dice) for _ in range(2))
    found = compare_sampled([a], [b])
    loose = compare_sampled(*([_unordered(run)] for run in (a, b)))
    assert loose.unseen > found.unseen
    assert any(note.code is FindingCode.SAMPLES_UNORDERED for note in loose.notes)
    assert of_shares(loose, "parse") == of_shares(found, "parse")


def _unordered(run: Run) -> Run:
    assert run.profile is not None
    return with_profile(run, replace(run.profile, ordered=False))


def test_times_per_call_follow_the_shares() -> None:
    dice = random.Random(16)
    found = compare_sampled(drawn_runs(dice, 1), drawn_runs(dice, 1))
    assert found.call_s is not None
    call_s = found.a.runs[0].wall_s / found.a.runs[0].calls
    assert found.call_s.a.value == pytest.approx(call_s)
    for function in found.functions:
        assert function.own_s is not None
        assert function.own_s[0].value == pytest.approx(function.own.a.value * call_s)
        assert function.own_s[0].low <= function.own_s[0].value <= function.own_s[0].high


def test_a_call_that_takes_much_longer_is_reported() -> None:
    dice = random.Random(17)
    longer = replace(drawn_run(dice).info.durations, sum_ns=2 * drawn_run(dice).info.durations.sum_ns)
    found = compare_sampled(drawn_runs(dice, 3), drawn_runs(dice, 3, durations=longer))
    assert "a call takes" in headline(found)


def test_runs_that_cannot_be_compared_are_refused() -> None:
    run = drawn_run(random.Random(18))
    assert run.profile is not None
    counted = with_profile(made_run(id="n"), replace(run.profile, unit=Unit.INSTRUCTIONS))
    on_cpu = with_profile(made_run(id="c", plan=replace(PLAN, idle=False)), run.profile)
    with_gil = with_profile(made_run(id="g", plan=replace(PLAN, idle=False, gil=True)), run.profile)
    refused = {
        "has no samples": with_profile(run, Profile()),
        "weights in": counted,
        r"count waiting \(wall clock\), others only time on the CPU; .* idle= and gil=": on_cpu,
        r"others only time holding the GIL": with_gil,
        "on both sides": run,
    }
    for problem, other in refused.items():
        with pytest.raises(UsageError, match=problem):
            compare_sampled([run], [other])
    with pytest.raises(UsageError, match="no runs"):
        compare_sampled([run], [])


def test_sides_with_unlike_loads_are_compared_with_wider_intervals() -> None:
    """A sampler that saw B's process get half of the CPU that A's had."""
    dice = random.Random(22)
    a, b = drawn_runs(dice, 1), drawn_runs(dice, 1)
    busy = tuple(replace(point, cpu_s=point.cpu_s / 2) for point in b[0].resources)
    even = compare_sampled(a, b)
    uneven = compare_sampled(a, [replace(b[0], resources=busy)])
    assert uneven.unseen > 1.5 * even.unseen
    assert uneven.notes[0].code is FindingCode.UNEVEN_LOAD
    assert not any(note.code is FindingCode.UNEVEN_LOAD for note in even.notes)


def test_a_thousand_small_functions_leave_nothing_to_compare() -> None:
    profile = profile_of(*((f"f{number}:1", 1) for number in range(1000)))
    found = compare([profile], [profile])
    assert not found.different
    assert headline(found).endswith("no function has a share large enough to compare")


WITHIN, BETWEEN, QUANTITIES = 0.01, 0.01, 8


def side(dice: random.Random, runs: int, value: float) -> list[Seen]:
    """Return runs around a true value, which vary as assumed."""
    return [
        Seen(value + dice.gauss(0, WITHIN) + dice.gauss(0, BETWEEN), 1 / runs, WITHIN**2, 19.0, BETWEEN**2)
        for _ in range(runs)
    ]


def compared(dice: random.Random, runs: int, effect: float) -> Difference:
    """Compare sides whose first quantity differs by `effect`; the others do not differ."""
    sides: list[Sides] = [
        (side(dice, runs, 0.3), side(dice, runs, 0.3 + (0 if number else effect)))
        for number in range(QUANTITIES)
    ]
    found = compare_quantities(sides, [True] * QUANTITIES)[0]
    value = found.b.value - found.a.value
    return Difference(value, value - found.half, value + found.half, found.p, Change.NOISE)


@pytest.mark.parametrize(("effect", "before"), [(0.04, 3), (0.06, 3), (0.05, 1)])
def test_so_many_runs_find_the_difference_as_often_as_said(effect: float, before: int) -> None:
    dice = random.Random(31)
    halves = [compared(dice, before, effect) for _ in range(100)]
    half = sum(one.high - one.value for one in halves) / len(halves)
    runs = runs_to_decide(
        Difference(effect, effect - half, effect + half, 0.5, Change.NOISE), (before, before), QUANTITIES
    )
    assert runs is not None
    found = sum(compared(dice, runs, effect).p < LEVEL for _ in range(300)) / 300
    assert POWER - 0.12 < found < 0.99


def test_smaller_differences_need_more_runs() -> None:
    needed = [
        runs_to_decide(Difference(value, value - 0.05, value + 0.05, 0.5, Change.NOISE), (3, 3), 10)
        for value in (0.05, 0.04, 0.03, 0.02, 0.002)
    ]
    known = [runs for runs in needed if runs is not None]
    assert known == sorted(known)
    assert known[0] > 3
    assert needed[-1] is None, f"it takes more than {MOST_RUNS}"
