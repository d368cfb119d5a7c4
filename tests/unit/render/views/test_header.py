"""What the header says of a run, as names and parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.histogram import NO_DURATIONS, histogram_of
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.model.session import ChildUsage, ResourcePoint, SessionState
from profkit.render.formatting import Tone
from profkit.render.views.header import facts, run_notes, why_no_samples
from profkit.render.views.merged import Usage, usage
from profkit.render.views.notes import note_text
from tests.support.example_runs import APP, INFO, MAIN, PLAN, PROCESS, REGION, RESOURCES, made_run

FAILED = Note.of(NoteCode.RUN_FAILED, detail="no\x1bthing")


def said(run: Run) -> dict[str, str]:
    return {fact.name: fact.text for fact in facts(run)}


def tones(run: Run, name: str) -> list[Tone]:
    return [part.tone for fact in facts(run) if fact.name == name for part in fact.parts]


def test_the_usual_facts_in_their_order() -> None:
    assert list(said(made_run())) == [
        "function", "started", "calls", "one call", "samples", "sampler", "session", "resources", "process",
        "command",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "name", "text"),
    [
        ({}, "function", "train.py:42 · __main__.train_step"),
        ({}, "calls", "40 · 2.97 s wall time"),
        ({"raised": 2, "skipped": 1, "traced_away": 3}, "calls",
         "40 · 2.97 s wall time · 2 raised · 1 more not profiled · compiled away 3 times"),
        ({}, "one call", "min 61.0 ms ▂▅█     ▂   ▁ max 171 ms · p50 68.8 ms · p90 75.5 ms · p99 171 ms"),
        ({}, "samples", "291 · 2.99 s summed over 2 threads · 2 torn (0.7 %) · 0 errors"),
        ({}, "sampler", "pyspy 0.4.3 · 100 Hz requested · 97.4 Hz achieved · blocking · wall clock"),
        ({"achieved_hz": None, "sampler_version": None}, "sampler",
         "pyspy · 100 Hz requested · achieved rate unknown · blocking · wall clock"),
        ({"plan": replace(PLAN, rate_hz=250.0, sample_each=1e7, blocking=False, idle=False)}, "sampler",
         "pyspy 0.4.3 · 250 Hz (every 10,000,000 cycles) requested · 97.4 Hz achieved · nonblocking · "
         "time on the CPU only"),
        ({"plan": replace(PLAN, idle=False, gil=True)}, "sampler",
         "pyspy 0.4.3 · 100 Hz requested · 97.4 Hz achieved · blocking · time holding the GIL only"),
        ({"plan": replace(PLAN, async_stacks=True)}, "sampler",
         "pyspy 0.4.3 · 100 Hz requested · 97.4 Hz achieved · blocking · wall clock · with awaiting tasks"),
        ({"plan": replace(PLAN, native=True, subprocesses=True, scope="process")}, "sampler",
         "pyspy 0.4.3 · 100 Hz requested · 97.4 Hz achieved · blocking · wall clock · native frames · "
         "with subprocesses · every thread"),
        ({"gap_s": 0.5}, "session",
         "20251121T114903-4242-9c1f · 12.3 s recorded · 500 ms not sampled"),
        ({}, "resources", "CPU 95 % · peak RSS 512 MiB · 8 threads"),
        ({}, "process",
         "pid 4242 on node-07 · Python 3.11.2 · torch 2.13.0+cpu · profkit 0.1.0 · git 0123456789"),
        ({"process": replace(PROCESS, torch=None, git_commit=None)}, "process",
         "pid 4242 on node-07 · Python 3.11.2 · profkit 0.1.0"),
        ({"process": replace(PROCESS, argv=("python", "-c", "print(1)"))}, "command", "python -c 'print(1)'"),
        ({"region": replace(REGION, tags=("a", "b"), user="ada")}, "tags", "a · b"),
        ({"region": replace(REGION, user="ada")}, "user", "ada"),
        ({"region": replace(REGION, env=(("THREADS", "4"), ("X", "")))}, "env", "THREADS=4 · X="),
        ({"links": (("icicle view", "https://there/1"),)}, "link", "icicle view · https://there/1"),
        ({"notes": (FAILED,)}, "note", r"The run failed: no\x1bthing."),
        ({"error": "pyspy failed", "state": SessionState.FAILED}, "error", "pyspy failed"),
    ],
)  # fmt: skip
def test_fact(changes: dict[str, object], name: str, text: str) -> None:
    assert said(made_run(**changes))[name] == text


def test_async_runs_show_active_from_suspended_time() -> None:
    region = replace(REGION, kind=RegionKind.COROUTINE)
    run = made_run(region=region, suspended_ns=INFO.durations.sum_ns // 4)
    assert said(run)["active"] == "2.23 s · suspended 743 ms (25 %)"
    assert next(iter(said(run))) == "coroutine"


def test_one_call_has_no_distribution() -> None:
    assert "one call" not in said(made_run(durations=replace(INFO.durations, count=1)))
    assert "one call" not in said(made_run(durations=NO_DURATIONS))


def test_what_a_reader_must_not_miss_is_a_warning() -> None:
    assert Tone.WARN not in tones(made_run(), "samples")
    assert Tone.WARN in tones(made_run(torn=20), "samples")
    assert Tone.WARN in tones(made_run(errors=3), "samples")
    assert Tone.WARN in tones(made_run(errors=1, samples=0), "samples")
    assert Tone.WARN not in tones(made_run(errors=2), "samples"), "a detail"
    assert Tone.WARN in tones(made_run(achieved_hz=50.0), "sampler")
    assert Tone.WARN in tones(made_run(gap_s=1.0), "session")
    assert Tone.WARN not in tones(made_run(gap_s=0.056, session_s=6.0), "session"), "a detail"
    assert Tone.WARN in tones(made_run(gap_s=0.12, session_s=6.0), "session")
    assert tones(made_run(state=SessionState.RUNNING), "started")[-1] is Tone.WARN
    assert tones(made_run(state=SessionState.FAILED), "started")[-1] is Tone.BAD
    assert tones(made_run(state=SessionState.ENDED_EARLY), "started")[-1] is Tone.WARN


def test_a_note_of_the_plan_is_reported_once() -> None:
    woken, cost = Note(NoteCode.THREADS_WOKEN), Note.of(NoteCode.BLOCKING_COST, share=0.1)
    run = made_run(notes=(woken,), plan=replace(PLAN, notes=(woken, cost)))
    assert run_notes(run) == (woken, cost)
    texts = [fact.text for fact in facts(run) if fact.name == "note"]
    assert texts == [note_text(woken), note_text(cost)]


def test_samples_may_be_kept_elsewhere() -> None:
    elsewhere = made_run(links=(("view", "url"),), plan=replace(PLAN, sampler="strobeclient"))
    assert said(Run(elsewhere.info))["samples"] == "kept by strobeclient"


def test_usage_needs_two_points_for_the_processor() -> None:
    assert usage(()) is None
    assert usage(RESOURCES[:1]) == Usage(None, 300 * 2**20, 6)
    assert usage((*RESOURCES[:1], RESOURCES[0])) == Usage(None, 300 * 2**20, 6)
    assert usage((ResourcePoint(0, 1.0, 5, 1), ResourcePoint(2 * 10**9, 4.0, 3, 2))) == Usage(1.5, 5, 2)


def test_cpu_use_includes_that_of_sampled_children() -> None:
    points = (RESOURCES[0], replace(RESOURCES[-1], children=ChildUsage(8.0, 8.0, 4)))
    run = replace(made_run(), resources=points)
    assert said(run)["resources"].startswith("CPU 95 % · ")
    run = replace(run, info=replace(run.info, plan=replace(PLAN, subprocesses=True)))
    assert said(run)["resources"].startswith("CPU 495 % with child processes · ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"links": (("view", "url"),)}, "stores the samples itself"),
        ({"error": "boom", "state": SessionState.FAILED}, "the sampler failed"),
        ({"state": SessionState.RUNNING}, "no samples yet"),
        ({"traced_away": 2, "durations": NO_DURATIONS}, "compiled away"),
        ({"torn": 7, "plan": replace(PLAN, blocking=False)}, "all 7 were inconsistent"),
        ({"torn": 7, "plan": replace(PLAN, blocking=False)}, "Pass blocking=True"),
        ({"torn": 0, "notes": (FAILED,)}, "289.6 samples on average. The notes above say"),
        (
            {"torn": 0, "plan": replace(PLAN, idle=False)},
            "The calls waited, and idle=False leaves out waiting",
        ),
        ({"torn": 0, "durations": histogram_of([1000])}, "Profile longer or more calls"),
        ({"torn": 0}, "2.97 s of calls at 100 Hz give 289.6 samples"),
    ],
)
def test_why_there_are_no_samples(changes: dict[str, object], words: str) -> None:
    assert words in why_no_samples(Run(made_run(samples=0, **changes).info))


def test_a_function_without_python_frames_says_what_can_be_seen() -> None:
    region = replace(REGION, expected=None)
    builder = ProfileBuilder()
    builder.add((Frame("train_step", APP, 42),), MAIN, 5)
    builder.add((Frame("train_step", APP, 42), Frame("dgemm", "/usr/lib/libblas.so.3", 0)), MAIN, 5)
    run = replace(made_run(region=region), profile=builder.build(period_ns=1e7))
    note = "'train_step' has no Python frames. Its calls and times are exact; native=True shows the machine"
    assert note in next(fact.text for fact in facts(run) if fact.name == "note")
    # A partial or an object that can be called may well call Python code.
    assert not [fact for fact in facts(made_run(region=region)) if fact.name == "note"]
