"""Rules of the fault campaign: what a seed decides, what breaks a guarantee, how a campaign resumes."""

from __future__ import annotations

import itertools
import json
import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profkit
from benchmarks.faults import sampler_kills, target_kills
from benchmarks.faults.campaign import planned, repeat_failed, rows_of, run_campaign
from benchmarks.faults.injections import (
    BROKEN,
    HELD,
    NOT_RUN,
    Injection,
    Outcome,
    chosen_numbers,
    outcome_from,
)
from benchmarks.faults.registry import FAULTS, Fault
from benchmarks.faults.results import Identity, Results, read_outcomes
from benchmarks.faults.rows import failures_of, row_of, table_json, table_text
from benchmarks.faults.same_programs import CASES, LOGGED
from benchmarks.faults.sandbox import odd_lines
from benchmarks.faults.snippets.all import SNIPPETS
from benchmarks.faults.soak import Usage, growth_of
from benchmarks.faults.spool_damage import Damage, planned_damage
from benchmarks.faults.targetlog import ENOUGH_S, read_log, taken

SEEDS = st.integers(0, 10**6)
IDENTITY = Identity("0123456789", 4)
COUNTS = ("processes_left", "files_left", "locks_left", "changed")


@given(st.integers(1, 400), st.integers(1, 400), SEEDS)
def test_chosen_numbers_are_distinct_and_below_the_full_count(full: int, count: int, seed: int) -> None:
    numbers = chosen_numbers(full, count, seed)
    assert len(set(numbers)) == min(full, count)
    assert all(0 <= number < full for number in numbers)
    assert numbers == chosen_numbers(full, count, seed)


@given(st.integers(1, 12), st.integers(1, 60), SEEDS)
def test_few_numbers_have_every_variant(variants: int, times: int, seed: int) -> None:
    """As many numbers as there are variants have each of them once, if that divides the full count."""
    numbers = chosen_numbers(variants * times, variants, seed)
    assert {number % variants for number in numbers} == set(range(variants))


@given(SEEDS, st.integers(0, 500))
def test_a_moment_is_decided_by_seed_fault_and_number(seed: int, number: int) -> None:
    injection = Injection("target-kills", seed, number)
    assert injection.moment_s(2.5) == replace(injection, short=True).moment_s(2.5)
    assert 0 <= injection.moment_s(2.5) <= 2.5
    assert injection.generator().random() != injection.generator("another purpose").random()
    assert injection.generator().random() != replace(injection, seed=seed + 1).generator().random()


def test_moments_fall_into_the_start_and_into_the_whole() -> None:
    moments = [Injection("x", 4, number).moment_s(2.5) for number in range(300)]
    early = sum(moment <= 0.06 for moment in moments)
    assert 70 <= early <= 140
    assert max(moments) > 2.3


def test_variants_take_turns() -> None:
    assert [Injection("x", 4, number).variant("abc") for number in range(4)] == ["a", "b", "c", "a"]


@pytest.mark.parametrize("count", COUNTS)
def test_any_count_that_should_be_zero_breaks_the_guarantee(count: str) -> None:
    assert Outcome(**{count: 0}).verdict == HELD
    assert Outcome(**{count: 1}).verdict == BROKEN


def test_lost_profiles_and_problems_break_the_guarantee() -> None:
    assert Outcome(taken=3, recovered=3).verdict == HELD
    assert Outcome(taken=3, recovered=2).verdict == BROKEN
    assert Outcome().with_problem("a traceback").verdict == BROKEN
    assert Outcome().with_problem("another output", changed=1).changed == 1


def test_a_row_sums_its_outcomes_and_names_what_broke() -> None:
    outcomes = {
        0: Outcome(taken=2, recovered=2),
        7: Outcome(taken=2, recovered=1, locks_left=1),
        9: Outcome(injected=0, not_run="no permission"),
    }
    row = row_of("disks", outcomes)
    assert (row.injected, row.taken, row.recovered, row.locks_left) == (2, 4, 3, 1)
    assert (row.verdict, row.note) == (BROKEN, "broken: 7; 1 not run: no permission")
    failures = list(failures_of("disks", 4, outcomes))
    assert [failure.split(":")[0] for failure in failures] == ["disks 7", "disks 9"]
    assert failures[0].endswith("python -m benchmarks.faults --only disks --seed 4 --iterations 7")


def test_what_was_not_run_is_no_success() -> None:
    assert row_of("disks", {}).verdict == NOT_RUN
    assert row_of("disks", {0: Outcome(), 1: Outcome(injected=0, not_run="why")}).verdict == NOT_RUN
    assert row_of("disks", {0: Outcome()}).verdict == HELD


def test_a_campaign_goes_on_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.jsonl"
    first, second, third = (Injection("stores", 4, number) for number in range(3))
    results = Results(IDENTITY, path)
    results.add(first, Outcome(taken=1, recovered=1))
    results.add(second, Outcome(injected=0, not_run="no permission"))
    with path.open("a") as file:
        file.write('{"schema": "profkit.faults/1", "camp')  # interrupted in the midst of a line
    resumed = Results(IDENTITY, path)
    assert [resumed.known(each) for each in (first, second, third)] == [True, False, False]
    resumed.add(third, Outcome().with_problem("broken"))
    assert set(read_outcomes(path, IDENTITY)["stores"]) == {0, 1, 2}
    assert read_outcomes(path, IDENTITY)["stores"][2].problems == ("broken",)


@pytest.mark.parametrize(
    "other", [Identity("other", 4), Identity("0123456789", 5), replace(IDENTITY, short=True)]
)
def test_outcomes_of_another_campaign_do_not_count(tmp_path: Path, other: Identity) -> None:
    path = tmp_path / "outcomes.jsonl"
    Results(other, path).add(Injection("stores", 4, 0), Outcome())
    assert not Results(IDENTITY, path).known(Injection("stores", 4, 0))


@given(
    st.builds(Outcome, st.integers(0, 9), *[st.integers(0, 9)] * 6, st.lists(st.text()).map(tuple), st.text())
)
def test_outcomes_survive_json(outcome: Outcome) -> None:
    assert outcome_from(json.loads(json.dumps(outcome.to_object()))) == outcome


def test_the_target_log_knows_finished_calls(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(
        "begun 5\nbegin a 0 100\nbegin b 1 150\nend a 0 300000100\nbegin a 2 300000200\nend b 1 200\n"
        "begin b 3 300\nexit 350\nend b 3 400\nbeg"
    )
    log = read_log(tmp_path / "log")
    assert (log["a"].begun, log["a"].finished, log["b"].finished) == (2, 1, 2)
    assert (log["a"].finished_before_exit, log["b"].finished_before_exit) == (1, 1)
    assert log["a"].finished_s == pytest.approx(0.3)
    assert ENOUGH_S < 0.3
    assert taken(log) == {"a"}
    assert read_log(tmp_path / "missing") == {}


def test_the_last_seconds_of_a_target_log_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "begin a 0 100\nend a 0 300000100\nbegin b 1 300000200\nend b 1 1300000101\nexit 1300000102\n"
    )
    assert taken(read_log(path)) == {"a", "b"}
    assert taken(read_log(path, lost_s=0.5)) == {"a"}
    assert read_log(path, lost_s=0.5)["b"].begun == 1
    assert read_log(path, lost_s=1.1) == {
        "a": replace(read_log(path)["a"], finished=0, finished_before_exit=0, finished_s=0)
    }


def test_a_sampler_that_did_not_run_is_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler_kills, "_signalled", lambda *_: (0, None))
    outcome = sampler_kills.inject(Injection("sampler-kills", 4, 1))
    assert (outcome.injected, outcome.not_run, outcome.verdict) == (0, "no sampler ran", NOT_RUN)


def test_a_few_targets_are_killed_in_each_way_from_outside_and_from_inside() -> None:
    numbers = range(FAULTS["target-kills"].full)
    injections = [Injection("target-kills", 4, number) for number in numbers]
    kills = {
        (each.variant(tuple(target_kills.VARIANTS)), target_kills.sampler_of(each)) for each in injections
    }
    assert kills == set(itertools.product(target_kills.VARIANTS, ("auto", "inprocess")))


def test_lines_of_profkit_on_stderr_are_odd_but_its_frames_are_not() -> None:
    file = "/x/profkit/calls/importlib_bootstrap/markers.py"
    frame = f'  File "{file}", line 78, in profkit:f\n    return wrapped()\n'
    assert list(odd_lines(f"Traceback\n{frame}ValueError: mine\n")) == []
    handled = "KeyError: '/x/profkit/formats'"
    chained = "During handling of the above exception, another exception occurred:"
    assert list(odd_lines(f"Traceback\n{frame}{handled}\n\n{chained}\n\n{frame}KeyboardInterrupt\n")) == []
    assert list(odd_lines(f"{handled}\n")) == [handled]
    warning = "'f' runs unprofiled: py-spy failed at start\n"
    assert list(odd_lines(warning)) == [warning.strip()]
    assert list(odd_lines(warning, warnings=1)) == []
    assert list(odd_lines(warning * 2, warnings=2)) == [f"twice: {warning.strip()}"]
    assert list(odd_lines("Exception in thread profkit-ticker:")) == ["Exception in thread profkit-ticker:"]


def test_growth_is_seen_and_noise_is_not() -> None:
    flat = [Usage(100_000_000 + (number % 3) * 1_000_000, 8 + number % 2, 5) for number in range(40)]
    assert growth_of(flat) == []
    assert growth_of([]) == ["too little was seen of the program"]
    leaking = [Usage(each.resident_bytes + number * 2_000_000, 8, 5) for number, each in enumerate(flat)]
    assert "memory grew" in growth_of(leaking)[0]
    assert growth_of([Usage(1, 8 + number // 4, 5) for number in range(40)]) == [
        "descriptors grew from 10 to 15"
    ]


@pytest.mark.parametrize("variant", ["cut", "flipped"])
def test_damage_changes_one_file(tmp_path: Path, variant: str) -> None:
    (tmp_path / "session").mkdir()
    for name in ("a", "b", "empty"):
        (tmp_path / "session" / name).write_bytes(b"" if name == "empty" else b"0123456789")
    damage = planned_damage(tmp_path, random.Random(1))
    damage = Damage(variant, damage.file, damage.offset, damage.bit)
    damage.apply(tmp_path)
    contents = [(tmp_path / "session" / name).read_bytes() for name in ("a", "b")]
    assert sorted(content == b"0123456789" for content in contents) == [False, True]


def test_there_are_at_least_as_many_injections_as_documented() -> None:
    least = {
        "target-kills": 200, "sampler-kills": 50, "measuring-kills": 50, "spool-damage": 500 // 10,
        "pool": 200,
        "programs": 5 * 100, "importers": 10, "soak": 1,
    }  # fmt: skip
    assert all(FAULTS[name].full >= count for name, count in least.items())
    assert all(0 < fault.short <= fault.full for fault in FAULTS.values())


def test_small_programs_compile_and_are_many() -> None:
    assert len(SNIPPETS) >= 100
    assert FAULTS["programs"].full == len(CASES)
    for name, snippet in SNIPPETS.items():
        compile(snippet.text, name, "exec")


def test_the_table_has_a_line_for_each_fault() -> None:
    row = row_of("stores", {0: Outcome(taken=1200, recovered=1200)})
    text = table_text([row], {"seed": "4"})
    assert text.splitlines()[0] == "seed: 4"
    assert "1,200" in text.splitlines()[-1]
    assert text.splitlines()[-1].endswith(HELD)
    assert math.isclose(json.loads(table_json([row], {}))["faults"][0]["taken"], 1200)


@pytest.mark.parametrize("words", LOGGED)
def test_the_campaign_allows_what_profkit_logs(words: str) -> None:
    package = Path(profkit.__file__).parent
    assert any(words in path.read_text("utf-8") for path in package.rglob("*.py"))


@pytest.mark.parametrize(
    ("failures", "searches", "unsteady", "verdict"),
    [(0, False, [], HELD), (1, False, [2], HELD), (2, False, [], BROKEN), (1, True, [], BROKEN)],
)
def test_a_failed_injection_is_made_again_once(
    monkeypatch: pytest.MonkeyPatch, failures: int, searches: bool, unsteady: list[int], verdict: str
) -> None:
    made: list[int] = []

    class Scripted(Fault):
        def inject(self, injection: Injection) -> Outcome:
            made.append(injection.number)
            return Outcome(changed=int(injection.number == 2 and made.count(2) <= failures))

    faults = {"scripted": Scripted("none", "nothing happens", 4, 4, searches=searches)}
    monkeypatch.setattr("benchmarks.faults.campaign.FAULTS", faults)
    results, plan = Results(IDENTITY), planned(faults, 4, short=True)
    run_campaign(plan, results, 1)
    assert [each.number for each in repeat_failed(plan, results)] == unsteady
    assert [row.verdict for row in rows_of(plan, results)] == [verdict]
    assert made == [0, 1, 2, 3, *([2] if failures and not searches else [])]
