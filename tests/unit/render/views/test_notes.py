"""Sentences of notes: one for each code, made from the figures that the code below gives it."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.cli.versions import with_notes_of_label
from profkit.cli.workspace import Workspace
from profkit.clock import ManualClock
from profkit.comparing.merged_runs import merge_runs
from profkit.errors import AttachDenied, DamagedFile
from profkit.formats import austin, callgrind, chrome_trace, collapsed, pprof, pstats, pyinstrument
from profkit.formats.pprof import foreign
from profkit.formats.registry import read_any
from profkit.ingest.read import read_runs, run_notes, session_notes
from profkit.ingest.recovery import substitute_manifest
from profkit.measuring.decorated.calls import in_process_run, now
from profkit.measuring.programs.executions import ProgramOrder
from profkit.measuring.programs.run import measure_program
from profkit.model.measurement import AnyInfo
from profkit.model.notes import Figure, Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.run import Merged, RunInfo
from profkit.model.session import ChildUsage, Member, ResourcePoint, SessionState
from profkit.model.workorder import WorkOrder
from profkit.render.views import header
from profkit.render.views.notes import NOTES, note_text
from profkit.render.views.sentences import strict_text
from profkit.samplers.base import LiveStacks, output_path
from profkit.samplers.cpython import CPythonSampler
from profkit.samplers.inprocess.sampler import InProcessSampler
from profkit.samplers.inprocess.ways import Kind
from profkit.samplers.options import Blocking, SamplerOptions
from profkit.samplers.pyspy import PySpySampler
from profkit.samplers.pyspy_plan import plan
from profkit.samplers.registry import Fallback
from profkit.samplers.strobeclient import StrobeclientSampler
from profkit.session.fallbacks import Fallbacks, RecentFailures
from profkit.store.files import open_spool
from profkit.store.spool import read_session
from profkit.transforms.unsampled_time import children_note
from tests.stand_ins.scripted_sampler import Script, ScriptedSampler
from tests.support import call_traces
from tests.support.call_traces import Call
from tests.support.example_runs import HOSTILE_NOTES, INFO, PLAN, PROCESS, REGION, made_run
from tests.support.example_sessions import (
    F,
    RecordedSampler,
    calls,
    manifest,
    recording,
    segment,
    session_folder,
    write_speedscope,
)
from tests.unit.formats.pprof.test_foreign import Written
from tests.unit.formats.test_austin import FULL, MEMORY
from tests.unit.session.test_manager import VERSIONS, Stage, block

TRACE = Call(Frame("main", "/app/a.py", 1), 5, (Call(Frame("f", "/app/a.py", 9), 7, ()),))
LOST = "0123abcd"
"""Id of a region without a record."""


def of_settings(_: Path) -> Iterator[Note]:
    def chosen(live: LiveStacks, blocking: Blocking = "auto", **options: bool) -> tuple[Note, ...]:
        return plan(SamplerOptions(blocking=blocking, **options), live).notes

    sockets, few, many = LiveStacks(1, 5, timed_sockets=True), LiveStacks(1, 5), LiveStacks(3, 500)
    yield from chosen(sockets)
    yield from chosen(sockets, blocking=True)
    yield from chosen(sockets, native=True)
    yield from chosen(many)
    yield from chosen(many, blocking=True)
    yield from chosen(LiveStacks(1, 5, processor_wait_s=0.005))
    yield from chosen(few, idle=False)
    yield from chosen(few, idle=False, blocking=True)
    yield Note.of(NoteCode.CROWDED_HOST, rate_hz=25, processes=4.0)
    yield from chosen(LiveStacks(1, 5, processors=2, other_samplers=26))
    yield from StrobeclientSampler().plan(SamplerOptions(), few).notes


def of_a_manager(folder: Path) -> Iterator[Note]:
    stage = Stage(folder)
    stage.script.fail_starts = 1
    holder = block(stage, VERSIONS[0])
    stage.call(holder)
    stage.call(block(stage, VERSIONS[1], "another label"))
    with stage.call_elsewhere():
        stage.call(stage.counters("other", rate=7.0))
    stage.script.warning = "somebody stopped it"
    stage.manager.close()
    yield from read_session(stage.folder).manifest.notes


def of_sessions(folder: Path) -> Iterator[Note]:
    segments = (segment(0, error="it was killed"), segment(1))
    head = manifest(*segments, truncated=True, notes=(Note(NoteCode.MINUTES_KEPT),))
    damaged = DamagedFile(folder / "calls.jsonl", "it ends early")
    yield from session_notes(head, (), (damaged,), SessionState.ENDED_EARLY)
    for processes in range(3):
        points = ResourcePoint(0, 0.0, 1, 1), ResourcePoint(1, 0.0, 1, 1, ChildUsage(2.0, 2.0, processes))
        note = children_note(points, PLAN)
        assert note is not None
        yield note
    torn = replace(INFO, torn=30, traced_away=2)
    for blocking in (True, False):
        yield from run_notes(replace(torn, plan=replace(PLAN, blocking=blocking)))
    path = session_folder(folder / "spool", manifest(segment(0)), deltas=())
    (run,) = read_runs(path, RecordedSampler({0: recording(("!f f", 5))})).runs
    yield from run.info.notes


def of_damage(folder: Path) -> Iterator[Note]:
    head = replace(manifest(segment(0)), plan=replace(manifest().plan, sampler="pyspy"))
    deltas = (replace(calls(F, 3), region=LOST),)
    path = session_folder(folder / "spool", head, regions=(), deltas=deltas)
    write_speedscope(path, 0, 5)
    (path / "segment-000.log").write_text("py-spy> 3.25s behind in sampling, results may be inaccurate.\n")
    write_speedscope(path, 1, 5)
    outside = path / "segment-001.speedscope.json"
    outside.write_text(outside.read_text().replace("[0, 1, 2, 3]", "[0]"))
    for run in read_runs(path, lambda _: PySpySampler()).runs:
        yield from run.info.notes
    with open_spool(path, None) as opened:
        yield from substitute_manifest(opened).notes


def of_journals(folder: Path) -> Iterator[Note]:
    yield from CPythonSampler(version="3.14.0").plan(SamplerOptions(), LiveStacks(1, 5)).notes
    lines = ("profkit-stacks 1 12 1000000", 'f "f" "f.py"', "s -1 0 3", "t 12 12 \"\"", "r 0 0 5", "d 0 2",
             "w 9", 'x 99 "no Python"', "n 500 70 0", 'e "unreadable"', "")  # fmt: skip
    path = output_path(folder, 0, "cpython")
    path.write_text("\n".join(lines))
    with open_spool(folder, None) as opened:
        yield from CPythonSampler().read(opened, segment(0), manifest().plan).notes


def of_insiders(folder: Path) -> Iterator[Note]:
    path = output_path(folder, 0, "inprocess")
    for kind, more in product(Kind, ("", "g\n", 'l "timer" "the program uses SIGURG"\n', "q 7\n")):
        path.write_text(f'profkit-stacks 1 12 1000000\ni "{kind.value}"\n{more}n 5 0 0\n')
        with open_spool(folder, None) as opened:
            yield from InProcessSampler().read(opened, segment(0), manifest().plan).notes


def of_fallbacks(folder: Path) -> Iterator[Note]:
    fallback = Fallback(ScriptedSampler(Script()), SamplerOptions())
    refusals = RecentFailures(ManualClock(), lambda _: None)
    fallbacks = Fallbacks(lambda _: (fallback, fallback), SamplerOptions(), refusals, strict=False)
    fallbacks.step_down(AttachDenied("scripted", 1, "let it read"), folder)
    yield from fallbacks.plan(LiveStacks(1, 5)).notes


def of_files(_: Path) -> Iterator[Note]:
    for data in (FULL, MEMORY):
        yield from austin.origin_of(data).notes
    dump = call_traces.dump_of(TRACE)
    yield from callgrind.select(dump, Path("x")).notes
    yield from callgrind.select(dump.replace(b"Ir", b"Cy"), Path("x")).notes
    statistics = call_traces.statistics_of([TRACE])
    yield from pstats.origin_of(statistics).notes
    yield from foreign.origin_of(gzip.decompress(pprof.encode(pstats.decode(statistics)))).notes
    yield from collapsed.origin_of(b"main;f 3\n").notes
    yield from chrome_trace.origin_of(b'{"traceEvents": [{"name":"ProfileChunk"}]}').notes
    yield from pyinstrument.origin_of(b'{"root_frame": null}').notes
    heap = Written(("alloc_space", "bytes"), ("inuse_space", "bytes")).location(1, ("f", "", 1))
    yield from read_any(b";".join([b"f"] * 5000) + b" 1\n").origin.notes
    yield from read_any(heap.sample([1], [5, 5], user="x").data()).origin.notes


def of_other_runs(_: Path) -> Iterator[Note]:
    def beside(*others: AnyInfo, code: str = "") -> tuple[Note, ...]:
        run = made_run(samples=5, region=replace(REGION, code=code))
        workspace = cast(Workspace, SimpleNamespace(runs=lambda label, limit: (*others, run.info)[:limit]))
        (noted,) = with_notes_of_label([run], workspace)
        return noted.info.notes

    def other(**changes: object) -> RunInfo:
        key = replace(REGION.key, **changes)  # type: ignore[arg-type]
        return replace(INFO, id="b1", region=replace(REGION, key=key))

    yield from beside(other(line=50), other(line=60))
    yield from beside(replace(other(line=50), process=replace(PROCESS, python="3.15.2")))
    yield from beside(other(qualname="another"))
    moved = other(line=50)
    yield from beside(replace(moved, region=replace(moved.region, code="c0de")), code="c0de")
    yield from beside(replace(INFO, id="b1", samples=90))
    yield from beside(*(replace(INFO, id=f"b{number}", samples=90) for number in range(60)))


def of_reports(_: Path) -> Iterator[Note]:
    builder = ProfileBuilder()
    builder.add((Frame("train_step", REGION.file, 42),), made_run().profile.threads[0], 5)  # type: ignore[union-attr]
    run = made_run(region=replace(REGION, expected=None))
    yield from header.run_notes(replace(run, profile=builder.build(period_ns=1e7)))
    notes = tuple(Note.of(NoteCode.OTHER_OPTIONS, label="f" * number) for number in range(9))
    failed = replace(INFO, error="py-spy failed")
    infos = (replace(INFO, notes=notes), failed, failed)
    yield from header.run_notes(replace(run, merged=Merged(infos, ())))


def of_measurements(_: Path) -> Iterator[Note]:
    order = WorkOrder("f", function=abs, args=(-1,))
    yield from in_process_run(order, ("abs(-1)", "", 0), [(now(), now())], "it is a lock").info.notes


def of_programs(_: Path) -> Iterator[Note]:
    command = (sys.executable, "-I", "-S", "-c", "raise SystemExit(3)")
    order = ProgramOrder("x", command, command, {}, processes=1, warmups=0, ignore_failure=True)
    yield from measure_program(order).info.notes


def of_merged_runs(_: Path) -> Iterator[Note]:
    builder = ProfileBuilder()
    builder.add((Frame("f.<locals>.<listcomp>", REGION.file, 42),), Thread(1, 1, "t"), 5)
    old = replace(made_run(process=replace(PROCESS, python="3.11.2")), profile=builder.build(period_ns=1e7))
    new = made_run(process=replace(PROCESS, python="3.12.1"))
    yield from merge_runs([old, new]).info.notes
    jobs = [
        replace(run, info=replace(run.info, process=replace(run.info.process, member=Member(job))))
        for job, run in (("a", old), ("b", new))
    ]
    yield from merge_runs(jobs).info.notes


PRODUCERS = (
    of_settings, of_a_manager, of_sessions, of_damage, of_journals, of_insiders, of_fallbacks, of_files,
    of_other_runs, of_reports, of_merged_runs, of_measurements, of_programs,
)  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Note, ...]:
    """Notes that the code makes, of every code."""
    producers = ((producer, tmp_path_factory.mktemp(producer.__name__)) for producer in PRODUCERS)
    return tuple(dict.fromkeys(note for producer, folder in producers for note in producer(folder)))


def test_every_code_is_made_somewhere(made: tuple[Note, ...]) -> None:
    assert set(NoteCode) - {note.code for note in made} == set()


def test_every_sentence_can_be_made_from_the_figures_given(made: tuple[Note, ...]) -> None:
    for note in made:
        text = strict_text(note, NOTES)
        assert text == note_text(note)
        assert text.endswith("."), text
        assert "None" not in text


def test_all_figures_are_used(made: tuple[Note, ...]) -> None:
    for note in made:
        for number in range(len(note.figures)):
            rest = replace(note, figures=(*note.figures[:number], *note.figures[number + 1 :]))
            with pytest.raises(KeyError) if note.figures[number][0] != "in_runs" else nullcontext():
                strict_text(rest, NOTES)


@pytest.mark.parametrize(
    ("note", "text"),
    [
        (Note(NoteCode.TORN), "torn (without figures)"),
        (Note.of(NoteCode.TORN, torn=1, samples=0), "torn (torn=1, samples=0)"),
        (Note.of(NoteCode.TORN, torn="\x1b", samples=2), "torn (torn=\x1b, samples=2)"),
        (
            Note.of(NoteCode.OTHER_VERSION, run="a1", started_ns=2**62, more=-1, in_runs="x"),
            f"other-version (run=a1, started_ns={2**62}, more=-1, in_runs=x)",
        ),
    ],
    ids=lambda value: value.code.value if isinstance(value, Note) else "",
)
def test_unsuitable_figures_are_shown_as_they_are(note: Note, text: str) -> None:
    assert note_text(note) == text


FIGURES: st.SearchStrategy[Figure] = st.integers() | st.floats() | st.text()


@given(st.data())
def test_no_figures_break_a_report(made: tuple[Note, ...], data: st.DataObject) -> None:
    note = data.draw(st.sampled_from(made))
    figures = tuple((name, data.draw(FIGURES)) for name, _ in note.figures)
    assert note_text(replace(note, figures=figures))


def test_names_stay_raw() -> None:
    for note in HOSTILE_NOTES:
        assert str(dict(note.figures)["detail"]) in note_text(note)
