"""Options, plan and reading of the sampler in the process itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.errors import DamagedFile, InvalidOption, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.session import Segment
from profkit.samplers.base import LiveStacks, output_path
from profkit.samplers.inprocess.sampler import InProcessSampler
from profkit.samplers.options import SamplerOptions
from profkit.store.files import open_spool

SAMPLER = InProcessSampler()
LIVE = LiveStacks(1, 5)
PLAN = SAMPLER.plan(SamplerOptions(), LIVE)


def test_the_default_is_a_hundred_per_second() -> None:
    assert (PLAN.sampler, PLAN.rate_hz, PLAN.blocking) == ("inprocess", 100.0, False)
    assert SAMPLER.plan(SamplerOptions(rate_hz=20.0), LIVE).rate_hz == 20.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocking": True}, "blocking=True"), ({"native": True}, "native=True"),
        ({"subprocesses": True}, "subprocesses=True"), ({"rate_hz": 101.0}, "1 to 100 Hz"),
        ({"idle": False}, "since Python 3.15"), ({"rate_hz": 0.5}, "1 to 100 Hz"),
        ({"gil": True}, "gil=True"),
        ({"async_stacks": True}, "async_stacks=True"),
    ],
)  # fmt: skip
def test_options_that_it_does_not_support(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        SAMPLER.check(SamplerOptions(**options), (3, 14))  # type: ignore[arg-type]


def test_the_reader_of_3_15_supports_more() -> None:
    SAMPLER.check(SamplerOptions(rate_hz=1000.0, idle=False), (3, 15))
    with pytest.raises(InvalidOption, match="1 to 1000 Hz"):
        SAMPLER.check(SamplerOptions(rate_hz=1001.0), (3, 15))


def test_it_samples_its_own_process_only(tmp_path: Path) -> None:
    with pytest.raises(SamplerFailed, match="is another one"):
        SAMPLER.attach(os.getppid(), PLAN, tmp_path, 0, ManualClock())


def test_it_writes_to_folders_that_exist_only(tmp_path: Path) -> None:
    with pytest.raises(SamplerFailed, match="cannot be used"):
        SAMPLER.attach(os.getpid(), PLAN, tmp_path / "gone", 0, ManualClock())


def journal(folder: Path, text: str) -> None:
    output_path(folder, 0, "inprocess").write_text(text)


def test_the_parts_of_a_journal_are_one_recording(tmp_path: Path) -> None:
    part = (
        "profkit-stacks 1 7 10000000\ni \"timer\"\nf {0} \"f.py\"\ns -1 0 3\nt 7 7 \"MainThread\"\n"
        "r 0 0 5\nn 5 0 0\ne \"asked\"\n"
    )  # fmt: skip
    journal(tmp_path, part.format('"f"') + part.format('"g"') + "profkit-stacks 1 7 10000000\n")
    with open_spool(tmp_path, None) as opened:
        recording = SAMPLER.read(opened, Segment(0, 0), PLAN)
    assert (recording.rounds, recording.profile.total_weight) == (10, 10)
    assert [frame.name for frame in recording.profile.frames] == ["f", "g"]
    assert recording.notes == (Note.of(NoteCode.SAMPLED_INSIDE, kind="timer", gil=1, detail=""),)
    assert [thread.pid for thread in recording.profile.threads] == [0]


def test_notes_on_ways_that_failed_and_rounds_that_took_long(tmp_path: Path) -> None:
    journal(
        tmp_path,
        'profkit-stacks 1 7 10000000\ni "thread"\ng\nl "timer" "it is used"\nq 3\nq 20\nq 1\nn 99 0 0\n',
    )
    with open_spool(tmp_path, None) as opened:
        notes = SAMPLER.read(opened, Segment(0, 0), PLAN).notes
    assert notes == (
        Note.of(NoteCode.SAMPLED_INSIDE, kind="thread", gil=0, detail="timer: it is used"),
        Note.of(NoteCode.SAMPLED_RARELY, rate_hz=5.0, requested_hz=100.0),
    )


@pytest.mark.parametrize("text", ["profkit-stacks 1 7 10\nn 1 0 0\n", "nonsense\n"])
def test_damage_is_named(tmp_path: Path, text: str) -> None:
    journal(tmp_path, text)
    with open_spool(tmp_path, None) as opened, pytest.raises(DamagedFile, match=r"inprocess\.stacks"):
        SAMPLER.read(opened, Segment(0, 0), PLAN)
