"""The ways to sample a session: which is next after a failure, what is said, and when it is tried again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import AttachDenied, SamplerError, SamplerFailed, SamplerMissing, SamplerTimeout
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY
from profkit.samplers.base import PTRACE, READ, LiveStacks
from profkit.samplers.options import SamplerOptions
from profkit.samplers.registry import Rung
from profkit.session.failures import RETRY_AFTER_S
from profkit.session.ladder import LONGEST_WAIT_S, Ladder, Refusals
from tests.stand_ins.scripted_sampler import Script, ScriptedSampler

AUTO = SamplerOptions()
LIVE = LiveStacks(1, 5)


def rung(name: str, *needs: str, options: SamplerOptions = AUTO) -> Rung:
    sampler = ScriptedSampler(Script())
    sampler.name = name
    return Rung(sampler, options, frozenset(needs))


LADDER = (rung("reader", READ), rung("stopper", READ, PTRACE),
          rung("stopper", READ, options=SamplerOptions(blocking=False)), rung("insider"))  # fmt: skip


@dataclass
class House:
    """Where ladders are set up, one after another."""

    clock: ManualClock = field(default_factory=ManualClock)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.refusals = Refusals(self.clock, self.said.append)

    def ladder(
        self, rungs: Sequence[Rung] = LADDER, options: SamplerOptions = AUTO, *, strict: bool = False
    ) -> Ladder:
        return Ladder(lambda _: rungs, options, self.refusals, strict=strict)


@pytest.fixture
def house() -> House:
    return House()


def denied(*refused: str) -> AttachDenied:
    return AttachDenied("sampler", 1, "ask", frozenset(refused))


def failed() -> SamplerFailed:
    return SamplerFailed("sampler", "start", "it is tired", "let it rest")


def reached(ladder: Ladder) -> tuple[str, bool]:
    plan = ladder.plan(LIVE)
    return plan.sampler if ladder.sampler.name == CALLS_ONLY else ladder.sampler.name, bool(plan.blocking)


@pytest.mark.parametrize(
    ("failure", "names"),
    [
        (lambda: denied(PTRACE), ["reader", "stopper", "insider", CALLS_ONLY]),
        (lambda: denied(READ), ["reader", "insider", CALLS_ONLY]),
        (lambda: denied(READ, PTRACE), ["reader", "insider", CALLS_ONLY]),
        (lambda: denied(), ["reader", "stopper", "stopper", "insider", CALLS_ONLY]),
        (failed, ["reader", "stopper", "insider", CALLS_ONLY]),
    ],
    ids=["ptrace", "read", "both", "unknown", "failed"],
)
def test_ways_that_would_fail_as_well_are_left_out(
    house: House, tmp_path: Path, failure: Callable[[], SamplerError], names: list[str]
) -> None:
    ladder = house.ladder()
    climbed = [ladder.sampler.name]
    while ladder.sampler.name != CALLS_ONLY:
        ladder.step_down(failure(), tmp_path)
        climbed.append(ladder.sampler.name)
    assert climbed == names
    notes = ladder.plan(LIVE).notes
    assert len(notes) == len(house.said) == len(names) - 1
    assert notes[-1].code is NoteCode.NOT_SAMPLED
    assert {note.code for note in notes[:-1]} == {NoteCode.SAMPLER_REPLACED}
    assert house.said[-1].endswith("; recording calls and wall times without samples")


def test_the_same_sampler_without_stops_is_said_so(house: House, tmp_path: Path) -> None:
    ladder = house.ladder(LADDER[1:])
    ladder.step_down(denied(PTRACE), tmp_path)
    said = "sampler may not read process 1; ask"
    assert house.said == [f"{said}; sampling with stopper with blocking=False instead"]
    assert ladder.plan(LIVE).notes == (
        Note.of(NoteCode.SAMPLER_REPLACED, sampler="stopper", by="stopper with blocking=False", detail=said),
    )


def test_a_chosen_sampler_has_no_replacement_and_its_failure_is_an_error(
    house: House, tmp_path: Path
) -> None:
    ladder = house.ladder(LADDER[:1], SamplerOptions("reader"))
    assert ladder.failure is None
    ladder.step_down(failed(), tmp_path)
    assert ladder.sampler.name == CALLS_ONLY
    assert ladder.failure == str(failed())
    assert ladder.plan(LIVE).notes == ()
    assert ladder.facts(LIVE)["error"] == str(failed())


def test_a_strict_policy_raises_the_last_failure_at_once_and_until_the_next_try(
    house: House, tmp_path: Path
) -> None:
    ladder = house.ladder(LADDER[:1], strict=True)
    with pytest.raises(SamplerFailed, match="tired"):
        ladder.step_down(failed(), tmp_path)
    with pytest.raises(SamplerFailed, match="tired"):
        house.ladder(LADDER[:1], strict=True)
    house.clock.advance(RETRY_AFTER_S)
    assert house.ladder(LADDER[:1], strict=True).sampler.name == "reader"
    assert house.said == []


def test_a_strict_call_does_not_join_a_session_without_samples(house: House, tmp_path: Path) -> None:
    ladder = house.ladder(LADDER[:1])
    ladder.raise_if_unsampled()
    ladder.step_down(failed(), tmp_path)
    with pytest.raises(SamplerFailed, match="tired"):
        ladder.raise_if_unsampled()


def test_missing_programs(house: House) -> None:
    stopper = rung("stopper", READ)
    missing = replace(stopper, missing=SamplerMissing("stopper", "stopper", "install it"))
    ladder = house.ladder([missing, LADDER[-1]])
    assert ladder.sampler.name == "insider"
    ladder = house.ladder([missing])
    assert ladder.sampler.name == CALLS_ONLY
    assert [line.partition("install it; ")[2] for line in house.said] == [
        "sampling with insider instead",
        "recording calls and wall times without samples",
    ]
    with pytest.raises(SamplerMissing):
        house.ladder([missing], strict=True)
    assert not ladder.may_retry()
    house.clock.advance(RETRY_AFTER_S)
    assert ladder.may_retry()


def test_later_ladders_begin_below_and_the_wait_doubles(house: House, tmp_path: Path) -> None:
    waits: list[float] = []
    for _ in range(9):
        ladder = house.ladder(LADDER[:1])
        ladder.step_down(failed(), tmp_path)
        start_s = house.clock.monotonic_s()
        while not ladder.may_retry():
            assert house.ladder(LADDER[:1]).sampler.name == CALLS_ONLY
            house.clock.advance(RETRY_AFTER_S / 2)
        waits.append(house.clock.monotonic_s() - start_s)
    assert waits[:4] == [RETRY_AFTER_S, 2 * RETRY_AFTER_S, 4 * RETRY_AFTER_S, 8 * RETRY_AFTER_S]
    assert waits[-1] == LONGEST_WAIT_S
    house.refusals.forget()
    assert house.ladder(LADDER[:1]).sampler.name == "reader"


def test_the_deadline_of_a_start_is_that_of_all_samplers(house: House, tmp_path: Path) -> None:
    ladder = house.ladder()
    ladder.step_down(SamplerTimeout("reader", "RUNNING", 0.1, "timeout_wait_for_running_sec"), tmp_path)
    assert reached(ladder) == (CALLS_ONLY, False)
    (line,) = house.said
    assert "raise timeout_wait_for_running_sec" in line
    assert line.endswith("; recording calls and wall times without samples")
    assert reached(house.ladder())[0] == "stopper", "the next start has time for it"
    with pytest.raises(SamplerTimeout):
        house.ladder(strict=True).step_down(SamplerTimeout("stopper", "RUNNING", 0.1, "option"), tmp_path)


def test_a_ladder_that_still_samples_needs_no_other_try(house: House, tmp_path: Path) -> None:
    ladder = house.ladder()
    ladder.step_down(failed(), tmp_path)
    house.clock.advance(10 * LONGEST_WAIT_S)
    assert not ladder.may_retry()


def test_a_failure_of_other_options_is_none_of_these(house: House, tmp_path: Path) -> None:
    house.ladder(LADDER[:1]).step_down(failed(), tmp_path)
    other = rung("reader", READ, options=SamplerOptions(rate_hz=7.0))
    assert house.ladder((other,)).sampler.name == "reader"


def test_a_folder_that_cannot_be_written_is_no_failure_of_the_sampler(house: House, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    ladder = house.ladder()
    with pytest.raises(SamplerFailed):
        ladder.step_down(failed(), gone)
    assert not os.path.exists(gone)
    assert ladder.sampler.name == "reader"
    assert house.said == []


def test_a_way_that_works_again_is_retried_soon_when_it_fails_next(house: House, tmp_path: Path) -> None:
    for _ in range(8):  # the wait doubles each time
        ladder = house.ladder(LADDER[:1])
        ladder.step_down(failed(), tmp_path)
        house.clock.advance(LONGEST_WAIT_S)
    house.ladder(LADDER[:1]).succeed()
    ladder = house.ladder(LADDER[:1])
    ladder.step_down(failed(), tmp_path)
    assert not ladder.may_retry()
    house.clock.advance(RETRY_AFTER_S)
    assert ladder.may_retry()
