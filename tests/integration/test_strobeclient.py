"""strobeclient's protocol, against a stand-in that PyTorch's own wrapper takes for the real one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.errors import InvalidOption, SamplerFailed, SamplerMissing, SamplerTimeout
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.samplers import strobeclient
from profkit.samplers.base import LiveStacks, await_state
from profkit.samplers.options import SamplerOptions
from profkit.samplers.registry import list_fallbacks, resolve
from profkit.samplers.strobeclient import StrobeclientRun, StrobeclientSampler

STAND_INS = Path(__file__).parent.parent / "stand_ins"
SAMPLER = StrobeclientSampler()
LIVE = LiveStacks(1, 10)
PLAN = SAMPLER.plan(SamplerOptions(sample_each=1e6, max_duration_s=90.5, tags=("b", "a")), LIVE)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in stands first on PATH; what it was asked lies in this folder."""
    folder = tmp_path / "state"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{STAND_INS}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("STAND_IN_STATE", str(folder))
    return folder


def calls(state: Path) -> list[list[str]]:
    return [json.loads(line) for line in (state / "calls.jsonl").read_text().splitlines()]


def attach(folder: Path, plan: SamplerPlan = PLAN) -> StrobeclientRun:
    attachment = SAMPLER.attach(os.getpid(), plan, folder, 0, SYSTEM_CLOCK)
    assert isinstance(attachment, StrobeclientRun)
    return attachment


def wait_for(run: StrobeclientRun, wanted: SessionState, timeout_s: float = 60) -> SessionState:
    return await_state(run, wanted, timeout_s, SYSTEM_CLOCK, "the test's patience")


@pytest.fixture
def theirs() -> Any:
    """PyTorch's own wrapper."""
    from torch._strobelight.cli_function_profiler import StrobelightCLIFunctionProfiler

    return StrobelightCLIFunctionProfiler(
        stop_at_error=True, sample_each=1e6, max_profile_duration_sec=90, sample_tags=["a", "b"]
    )


@pytest.mark.torch
@pytest.mark.slow
def test_the_stand_in_satisfies_pytorchs_own_wrapper(state: Path, theirs: Any):
    assert theirs.profile(lambda x: x + 1, 1) == 2
    assert theirs.current_run_id == -1
    lines = "".join(theirs.profile_result or [])
    assert "Total samples: 1119" in lines
    assert "Icicle view (python stack): https://strobelight.invalid/icicle/-1" in lines
    by_them = calls(state)
    assert [call[0] for call in by_them] == ["run", "getRunStatus", "stopRun", "getRunStatus"]


@pytest.mark.torch
@pytest.mark.slow
def test_we_ask_what_pytorchs_wrapper_asks(state: Path, tmp_path: Path, theirs: Any):
    theirs.profile(lambda: None)
    by_them = calls(state)
    (state / "calls.jsonl").unlink()
    (state / "run-1").unlink()
    options = SamplerOptions(sample_each=1e6, max_duration_s=90, tags=("b", "a"))
    run = attach(tmp_path, SAMPLER.plan(options, LIVE))
    wait_for(run, SessionState.RUNNING)
    run.request_stop()
    wait_for(run, SessionState.SUCCESS)
    assert calls(state) == by_them


def test_through_every_state_to_the_links(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STAND_IN_PREPARING", "2")
    monkeypatch.setenv("STAND_IN_PROCESSING", "2")
    run = attach(tmp_path)
    assert [run.poll() for _ in range(3)] == [SessionState.PREPARING] * 2 + [SessionState.RUNNING]
    run.request_stop()
    assert [run.poll() for _ in range(3)] == [SessionState.PROCESSING] * 2 + [SessionState.SUCCESS]
    segment = run.segment()
    assert segment.remote_id == "-1"
    assert segment.pid is None
    assert dict(segment.links) == {
        "Total samples": "1119",
        "GraphProfiler (python stack)": "https://strobelight.invalid/graph/-1",
        "Icicle view (python stack)": "https://strobelight.invalid/icicle/-1",
    }
    asked = len(calls(state))
    assert run.poll() is SessionState.SUCCESS
    run.request_stop()
    run.kill()
    assert len(calls(state)) == asked, "a finished run is asked nothing more"
    assert SAMPLER.read(tmp_path, Segment(0, 0), PLAN) is None
    assert "Profile run status: PREPARING" in (tmp_path / "segment-000.log").read_text()


def test_the_command_that_starts_a_run(state: Path, tmp_path: Path):
    attach(tmp_path)
    namespace = os.stat("/proc/self/ns/pid").st_ino
    assert calls(state)[0] == [
        *("run", "--profiler", "pyperf", "--event", "cycles", "--async"),
        *("--sample-interval", "1000000", "--duration-ms", "90500"),
        *("--pid", f"{namespace}:{os.getpid()}", "--sample-tags", "a,b"),
    ]


@pytest.mark.parametrize(
    ("fail", "stage", "said"),
    [
        ("start", "start", "no capacity"),
        ("no-id", "start", "no run id"),
        ("running", "run", "LOST"),
        ("stop", "stop", "no such run"),
        ("refuse-stop", "stop", "cannot be stopped"),
        ("finish", "stop", "FAILURE"),
    ],
)
def test_every_failure_has_its_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail: str, stage: str, said: str
):
    monkeypatch.setenv("STAND_IN_FAIL", fail)

    def whole_run() -> None:
        run = attach(tmp_path)
        wait_for(run, SessionState.RUNNING)
        run.request_stop()
        wait_for(run, SessionState.SUCCESS)

    with pytest.raises(SamplerFailed, match=f"strobeclient failed at {stage}: .*{said}"):
        whole_run()


def test_a_run_that_reached_its_duration_needs_no_stop(tmp_path: Path):
    run = attach(tmp_path, SAMPLER.plan(SamplerOptions(sample_each=1e6, max_duration_s=0.001), LIVE))
    run.request_stop()
    assert wait_for(run, SessionState.SUCCESS) is SessionState.SUCCESS


def test_killing_a_run_stops_it_and_never_raises(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    attach(tmp_path).kill()
    assert calls(state)[-1][0] == "stopRun"
    run = attach(tmp_path)
    monkeypatch.setenv("STAND_IN_FAIL", "stop")
    run.kill()


def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STAND_IN_FAIL", "hang")
    run = attach(tmp_path)
    monkeypatch.setattr(strobeclient, "_COMMAND_TIMEOUT_S", 0.5)
    with pytest.raises(SamplerFailed, match=r"did not end within 0\.5 s"):
        run.poll()


def test_a_run_that_never_starts_meets_the_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STAND_IN_PREPARING", "1000000")
    run = attach(tmp_path)
    with pytest.raises(SamplerTimeout, match="was not RUNNING"):
        wait_for(run, SessionState.RUNNING, timeout_s=0.3)


def test_auto_takes_it_where_it_is_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert list_fallbacks(SamplerOptions())[0].sampler.name == "strobeclient"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list_fallbacks(SamplerOptions())[0].sampler.name != "strobeclient"
    with pytest.raises(SamplerMissing, match="sampler='pyspy'"):
        resolve("strobeclient").find()


@pytest.mark.parametrize(
    "options",
    [
        SamplerOptions(blocking=True),
        SamplerOptions(blocking=False),
        SamplerOptions(native=True),
        SamplerOptions(subprocesses=True),
        SamplerOptions(gil=True),
        SamplerOptions(async_stacks=True),
        SamplerOptions(tags=("a,b",)),
        SamplerOptions(tags=("",)),
        SamplerOptions(rate_hz=-1),
        SamplerOptions(sample_each=0),
    ],
)
def test_what_its_protocol_has_no_word_for_is_refused(options: SamplerOptions):
    with pytest.raises(InvalidOption):
        SAMPLER.check(options)


def test_defaults_pass_and_say_what_they_lack():
    options = SamplerOptions()
    SAMPLER.check(options)
    plan = SAMPLER.plan(options, LIVE)
    assert plan.sample_each == 1e7
    assert not plan.idle
    assert plan.notes == (Note(NoteCode.CPU_TIME_ONLY),)
    assert SAMPLER.plan(SamplerOptions(idle=False), LIVE).notes == ()
