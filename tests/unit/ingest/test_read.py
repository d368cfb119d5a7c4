from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

from profkit.errors import DamagedFile, InvalidOption
from profkit.ingest.read import FolderRuns, read_runs, run_id
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run
from profkit.model.session import (
    CellName,
    ChildUsage,
    Cover,
    Manifest,
    ProcessInfo,
    ResourcePoint,
    SessionState,
    ThreadName,
)
from profkit.process.procfs import start_ticks
from profkit.samplers.base import Recording
from profkit.store import spool as files
from profkit.units import short_id
from tests.support.example_sessions import (
    GONE,
    MARKERS,
    PLAN,
    SECOND_NS,
    START_NS,
    USER,
    F,
    G,
    RecordedSampler,
    calls,
    manifest,
    recording,
    segment,
    session_folder,
)


def read(folder: Path, *recordings: Recording | DamagedFile | None) -> FolderRuns:
    return read_runs(folder, RecordedSampler(dict(enumerate(recordings))))


def read_one(
    tmp_path: Path, *recordings: Recording | DamagedFile | None, head: Manifest | None = None
) -> Run:  # fmt: skip
    """The only run of a session with one call of `f`, by default with a segment for each recording."""
    head = head or manifest(*map(segment, range(len(recordings))))
    return only(read(session_folder(tmp_path, head, deltas=(calls(F, 5),)), *recordings))


def only(found: FolderRuns) -> Run:
    (run,) = found.runs
    return run


def this_process() -> ProcessInfo:
    return replace(GONE, pid=os.getpid(), start_ticks=start_ticks(os.getpid()) or 0)


def test_a_run_has_what_its_region_did_and_what_the_session_was(tmp_path: Path) -> None:
    deltas = (calls(F, 5, 7, raised=1), calls(F, 9, skipped=2, suspended_ns=4, first_call_ns=None))
    folder = session_folder(tmp_path, manifest(segment(0)), deltas=deltas)
    files.append(folder, [ResourcePoint(START_NS, 1.0, 10, 2)])
    found = read(folder, recording(("main !f f work", 30), ("main", 70), errors=3))
    run, info = only(found), only(found).info
    assert not found.live
    assert found.damaged == ()
    assert info.id == run_id(found.manifest.session, F.id)
    assert (info.session, info.region, info.process, info.plan) == (found.manifest.session, F, GONE, PLAN)
    assert (info.state, info.error, info.sampler_version) == (SessionState.SUCCESS, None, "1.2")
    assert (info.calls, info.durations.sum_ns, info.raised, info.skipped) == (3, 21, 1, 2)
    assert (info.suspended_ns, info.started_ns) == (4, START_NS + 5)
    assert (info.samples, info.torn, info.errors, info.notes) == (30, 0, 3, ())
    assert run.resources == (ResourcePoint(START_NS, 1.0, 10, 2),)
    assert run.profile is not None
    assert [frame.name for frame in run.profile.frames] == ["f", "work"]


def test_children_that_were_not_sampled_are_noted(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, manifest(segment(0)), deltas=[calls(F, 5)])
    points = [
        ResourcePoint(
            START_NS + second * 10**9, 1.0, 10, 2, ChildUsage(used_s, used_s, 2) if used_s else None
        )
        for second, used_s in enumerate((0.0, 3.0, 7.0))
    ]
    files.append(folder, points)
    (note,) = only(read(folder, recording(("main !f f work", 30)))).info.notes
    assert note == Note.of(NoteCode.CHILDREN_UNSAMPLED, processes=2, cpu_s=7.0)


def test_threads_have_their_whole_names(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, manifest(segment(0)), deltas=(calls(F, 5),))
    long = "connection-pool-worker-3"
    names = [ThreadName(tid, long[:15], f"{long}{tid}") for tid in (8, 9, 10)]
    files.append(folder, [*names, ThreadName(8, long[:15], long), ThreadName(11, "", "worker")])
    builder = ProfileBuilder()
    frames = [Frame(name, file, 3) for name, file in ((F.marker, MARKERS), ("f", USER))]
    seen = [(0, 8, long[:15]), (GONE.pid, 9, long[:15]), (77, 10, long[:15]), (0, 10, "reused"), (0, 11, "")]
    for pid, tid, name in seen:
        builder.add(frames, Thread(pid, tid, name))
    found = only(read(folder, Recording(builder.build(period_ns=1e7), rounds=1)))
    assert found.profile is not None
    names_read = [thread.name for thread in found.profile.threads]
    assert names_read == [long, f"{long}9", long[:15], "reused", "worker"]


def test_cells_have_names(tmp_path: Path) -> None:
    file = "/tmp/ipykernel_7/8.py"
    cell = Region(
        RegionKey("__main__", "<module>", 2, "x = f()"), RegionKind.BLOCK, file, body=(2, 3), code="aa"
    )
    folder = session_folder(tmp_path, manifest(segment(0)), regions=(cell,), deltas=(calls(cell, 5),))
    files.append(folder, [CellName(file, "In [1]"), CellName(file, "In [4]")])
    builder = ProfileBuilder()
    builder.add(
        [Frame("run_code", "/lib/python3/IPython.py", 1), Frame("<module>", file, 3)], Thread(0, 8, "t")
    )
    found = only(read(folder, Recording(builder.build(period_ns=1e7), rounds=1)))
    assert found.profile is not None
    assert found.profile.frames == (Frame("<module>", "In [4]", 3),)
    assert (found.info.region.file, found.info.region.id) == ("In [4]", cell.id)


def test_the_rate_achieved_is_that_of_the_whole_session(tmp_path: Path) -> None:
    long = segment(1, stopped_ns=START_NS + 3 * SECOND_NS // 2 + 3 * SECOND_NS)
    folder = session_folder(tmp_path, manifest(segment(0), long), deltas=(calls(F, 5),))
    found = read(folder, recording(("!f f", 1), rounds=120), recording(("!f f", 2), rounds=200))
    info = only(found).info
    assert info.achieved_hz == pytest.approx(320 / 4)
    assert (info.session_s, info.gap_s) == (4.0, 0.5)
    profile = only(found).profile
    assert profile is not None
    assert profile.period_ns == pytest.approx(1e9 / 80)
    assert profile.total_weight == info.samples == 3


@pytest.mark.parametrize(
    ("unseen_s", "gap_s"), [(0.0, 0.0), (1.5, 1.5), (7200.0, 2.2)], ids=["none", "some", "suspended"]
)
def test_time_that_was_not_seen_is_a_gap(tmp_path: Path, unseen_s: float, gap_s: float) -> None:
    long = segment(0, stopped_ns=START_NS + 3 * SECOND_NS)
    unseen_ns = round(unseen_s * SECOND_NS)
    found = read_one(tmp_path, recording(("!f f", 90), rounds=100, unseen_ns=unseen_ns), head=manifest(long))
    assert (found.info.session_s, found.info.gap_s) == (pytest.approx(3 - gap_s), pytest.approx(gap_s))
    assert found.profile is not None
    assert 90 * found.profile.period_ns == pytest.approx(0.9 * (3 - gap_s) * SECOND_NS)


@pytest.mark.parametrize("set_s", [-3600, 3600])
def test_a_clock_that_is_set_changes_no_duration(tmp_path: Path, set_s: int) -> None:
    times = {"offset_ns": SECOND_NS, "sampled_ns": 2 * SECOND_NS}
    first = segment(0, stopped_ns=START_NS + (set_s + 2) * SECOND_NS, **times)
    times["offset_ns"] = 9 * SECOND_NS
    second = segment(
        1, running_ns=START_NS + set_s * SECOND_NS, stopped_ns=START_NS, asleep_ns=5 * SECOND_NS, **times
    )
    one = recording(("!f f", 1))
    info = read_one(tmp_path, one, one, head=manifest(first, second)).info
    assert (info.session_s, info.gap_s, info.achieved_hz) == (4.0, 1.0, pytest.approx(50))


@pytest.mark.parametrize("set_s", [-3600, -1, 3600])
def test_a_clock_that_is_set_in_a_process_that_is_killed(tmp_path: Path, set_s: int) -> None:
    running = manifest(segment(0, stopped_ns=None), state=SessionState.RUNNING, ended_ns=None)
    folder = session_folder(tmp_path, running)
    output = folder / "segment-000.json"
    output.write_text("{}")
    os.utime(output, ns=(0, START_NS + set_s * SECOND_NS))
    info = only(read(folder, recording(("!f f", 100)))).info
    assert (info.session_s, info.gap_s, info.achieved_hz) == (0.8, 0.0, pytest.approx(125))


@pytest.mark.parametrize(("sampled_ns", "rate_hz"), [(230_000, None), (80_000_000, None), (100_000_000, 80)])
def test_a_recording_that_is_too_short_has_no_rate(
    tmp_path: Path, sampled_ns: int, rate_hz: float | None
) -> None:
    short = segment(0, offset_ns=0, sampled_ns=sampled_ns)
    run = read_one(tmp_path, recording(("!f f", 1), rounds=8), head=manifest(short))
    assert run.info.achieved_hz == rate_hz
    assert run.profile is not None
    assert run.profile.period_ns == (8e6 if rate_hz is None else 12.5e6)


def test_samples_of_later_segments_are_found_by_their_numbers(tmp_path: Path) -> None:
    """Of a long session, some segments have been deleted."""
    folder = session_folder(
        tmp_path, manifest(segment(4), segment(6), process=this_process()), deltas=(calls(F, 5),)
    )
    sampler = RecordedSampler({4: recording(("!f f", 3)), 6: recording(("!f f", 7))})
    assert only(read_runs(folder, sampler, first_segment=6)).info.samples == 7


def test_rounds_that_nobody_counted_leave_the_rate_that_was_requested(tmp_path: Path) -> None:
    run = read_one(tmp_path, recording(("!f f", 1), rounds=None))
    assert run.info.achieved_hz is None
    assert run.profile is not None
    assert run.profile.period_ns == 8e6


def test_each_region_has_its_own_run_and_one_that_never_ran_has_none(tmp_path: Path) -> None:
    never = replace(F, key=replace(F.key, label="never"))
    regions, deltas = (F, G, never), (calls(F, 5),)
    folder = session_folder(tmp_path, manifest(segment(0)), regions, deltas)
    found = read(folder, recording(("main !f f !g g", 2), ("main !g g", 3)))
    assert [(run.info.label, run.info.samples, run.info.calls) for run in found.runs] == [
        ("f", 2, 1),
        ("g", 5, 0),
    ]


def test_stacks_are_cut_to_the_regions_length_at_the_leaf_end(tmp_path: Path) -> None:
    short = replace(F, stack_max_len=1)
    folder = session_folder(tmp_path, manifest(segment(0)), (short,), (calls(F, 5),))
    profile = only(read(folder, recording(("!f f work", 2)))).profile
    assert profile is not None
    assert [frame.name for frame in profile.frames] == ["work"]


def test_a_segment_belongs_to_the_regions_that_cover_it(tmp_path: Path) -> None:
    block = Region(RegionKey("app", "main", 3, "b"), RegionKind.BLOCK, USER, detached=True)
    covered = segment(0, covers=(Cover(block.id, GONE.pid),))
    folder = session_folder(tmp_path, manifest(covered, segment(1)), (block,), (calls(block, 5),))
    run = only(read(folder, recording(("main work", 4)), recording(("main work", 8))))
    assert run.info.samples == 4


def test_many_torn_samples_are_reported_with_the_fix(tmp_path: Path) -> None:
    many = read_one(tmp_path / "many", recording(("!f f", 97), ("!f g", 3))).info
    assert (many.samples, many.torn) == (97, 3)
    assert many.notes == (Note.of(NoteCode.TORN, torn=3, samples=100),)
    assert read_one(tmp_path / "few", recording(("!f f", 98), ("!f g", 2))).info.notes == ()


def test_what_runs_above_a_marker_is_kept_if_the_program_was_stopped(tmp_path: Path) -> None:
    head = manifest(segment(0), plan=replace(PLAN, blocking=True))
    info = read_one(tmp_path, recording(("!f f", 9), ("!f __del__", 1)), head=head).info
    assert (info.samples, info.torn, info.notes) == (10, 0, ())


def test_what_was_noted_on_the_way_comes_first_and_once(tmp_path: Path) -> None:
    cost, shared = Note.of(NoteCode.BLOCKING_COST, share=0.1), Note.of(NoteCode.OTHER_OPTIONS, label="g")
    plan = replace(PLAN, notes=(cost,))
    head = manifest(segment(0), segment(1), plan=plan, notes=(shared,), truncated=True)
    deltas = (calls(F, 5, traced_away=2),)
    folder = session_folder(tmp_path, head, deltas=deltas)
    behind = Note.of(NoteCode.SAMPLER_LATE, behind_s=3.0)
    late = recording(("!f f", 1), notes=(behind,))
    info = only(read(folder, late, late)).info
    assert info.truncated
    assert info.notes == (
        cost,
        shared,
        Note.of(NoteCode.DURATION_REACHED, max_duration_s=600.0),
        behind,
        Note.of(NoteCode.CALLS_COMPILED, label="f"),
    )


def test_a_region_that_was_traced_away_has_a_run_that_says_so(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, manifest(segment(0)), deltas=(calls(F, traced_away=1),))
    info = only(read(folder, recording(("main", 4)))).info
    assert (info.calls, info.samples, info.traced_away) == (0, 0, 1)
    assert info.notes == (Note.of(NoteCode.CALLS_COMPILED, label="f"),)


def test_a_segment_that_cannot_be_read_is_named_and_the_rest_counts(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, manifest(segment(0), segment(1), segment(2)), deltas=(calls(F, 5),))
    broken = folder / "segment-001.json"
    broken.write_text("{")
    found = read(folder, recording(("!f f", 1)), DamagedFile(broken, "it ends early"), recording(("!f f", 2)))
    info = only(found).info
    assert [damage.path for damage in found.damaged] == [broken]
    assert (info.state, info.samples) == (SessionState.SUCCESS, 3)
    assert info.notes == (Note.of(NoteCode.FILE_UNREADABLE, file="segment-001.json"),)
    assert (info.session_s, info.gap_s) == (2.0, 2.0)
    assert info.achieved_hz == pytest.approx(100)


def test_a_segment_that_left_nothing_is_named(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, manifest(segment(0)), deltas=(calls(F, 5),))
    found = read(folder)
    assert [damage.path.name for damage in found.damaged] == ["segment-000.json"]
    assert (only(found).info.samples, only(found).profile) == (0, None)


def test_a_killed_process_leaves_its_samples_until_the_sampler_wrote_them(tmp_path: Path) -> None:
    running = manifest(segment(0, stopped_ns=None), state=SessionState.RUNNING, ended_ns=None)
    folder = session_folder(tmp_path, running)
    output = folder / "segment-000.json"
    output.write_text("{}")
    os.utime(output, ns=(0, START_NS + 2 * SECOND_NS))
    (folder / "segment-000.rounds").write_text("")
    found = read(folder, recording(("!f f", 100)))
    info = only(found).info
    assert not found.live
    assert (info.state, info.samples, info.calls) == (SessionState.ENDED_EARLY, 100, 0)
    assert (info.session_s, info.achieved_hz) == (2.0, pytest.approx(50))
    assert info.started_ns == START_NS
    assert info.notes == (Note(NoteCode.PROCESS_ENDED), Note(NoteCode.NO_CALL_FINISHED))


def test_a_process_that_was_killed_at_once_is_still_there(tmp_path: Path) -> None:
    head = manifest(segment(0, running_ns=None, stopped_ns=None), state=SessionState.PREPARING, ended_ns=None)
    found = read(session_folder(tmp_path, head))
    info = only(found).info
    assert (found.damaged, info.state, info.samples) == ((), SessionState.ENDED_EARLY, 0)
    assert info.started_ns == head.created_ns


def test_what_is_still_recorded_has_the_segments_that_are_done(tmp_path: Path) -> None:
    head = manifest(
        segment(0), segment(1, stopped_ns=None), state=SessionState.RUNNING, ended_ns=None,
        process=this_process(),
    )  # fmt: skip
    found = read(session_folder(tmp_path, head, deltas=(calls(F, 5),)), recording(("!f f", 7)))
    info = only(found).info
    assert found.live
    assert found.damaged == ()
    assert (info.state, info.samples, info.notes) == (SessionState.RUNNING, 7, ())


@pytest.mark.parametrize(("live", "samples"), [(True, 5), (False, 12)])
def test_segments_before_a_region_began_are_left_out_while_it_is_recorded(
    tmp_path: Path, live: bool, samples: int
) -> None:
    head = manifest(segment(0), segment(1))
    if live:
        head = replace(head, state=SessionState.RUNNING, ended_ns=None, process=this_process())
    folder = session_folder(tmp_path, head, deltas=(calls(F, 5),))
    sampler = RecordedSampler(dict(enumerate((recording(("!f f", 7)), recording(("!f f", 5))))))
    assert only(read_runs(folder, sampler, first_segment=1)).info.samples == samples


def test_an_output_that_is_being_written_is_no_damage(tmp_path: Path) -> None:
    head = manifest(
        segment(0, stopped_ns=None), state=SessionState.RUNNING, ended_ns=None, process=this_process()
    )
    folder = session_folder(tmp_path, head, deltas=(calls(F, 5),))
    output = folder / "segment-000.json"
    output.write_text("{")
    assert read(folder, DamagedFile(output, "it ends early")).damaged == ()


def test_a_session_that_ended_in_a_process_that_lives_has_its_result(tmp_path: Path) -> None:
    folder = session_folder(tmp_path, manifest(segment(0), process=this_process()), deltas=(calls(F, 5),))
    found = read(folder, recording(("!f f", 7)))
    assert found.live
    assert only(found).info.state is SessionState.SUCCESS


def test_a_failed_session_keeps_what_it_counted(tmp_path: Path) -> None:
    head = manifest(
        segment(0, running_ns=None, error="py-spy may not read process 7"),
        state=SessionState.FAILED,
        error="py-spy may not read process 7",
    )
    found = read(session_folder(tmp_path, head, (F, G), (calls(F, 5, 6),)))
    assert found.damaged == ()
    assert [(run.info.label, run.info.calls, run.info.samples) for run in found.runs] == [
        ("f", 2, 0),
        ("g", 0, 0),
    ]
    for run in found.runs:
        assert (run.info.state, run.info.error, run.profile) == (SessionState.FAILED, head.error, None)
        assert run.info.notes == ()


def test_an_error_of_one_segment_is_reported(tmp_path: Path) -> None:
    head = manifest(segment(0, error="it was killed"), segment(1))
    found = read_runs(
        session_folder(tmp_path, head, deltas=(calls(F, 5),)),
        RecordedSampler({1: recording(("!f f", 2))}),
    )
    assert found.damaged == ()
    assert only(found).info.notes == (Note.of(NoteCode.SEGMENT_FAILED, segment=0, detail="it was killed"),)


def test_a_sampler_that_keeps_the_samples_leaves_links(tmp_path: Path) -> None:
    link = ("icicle view", "https://profiles.example/1")
    head = manifest(segment(0, remote_id="1", links=(link,)), segment(1, links=(link,)))
    run = read_one(tmp_path, None, None, head=head)
    assert (run.profile, run.info.links, run.info.samples) == (None, (link,), 0)
    assert (run.info.achieved_hz, run.info.session_s) == (None, 2.0)


def test_without_a_manifest_there_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match=r"manifest\.json"):
        read(files.create_folder(tmp_path, "20261121T114903-7-9c1f"))


def test_a_sampler_that_is_not_known_here_is_named(tmp_path: Path) -> None:
    def refuse(name: str) -> object:
        raise InvalidOption("sampler", name, "install it")

    folder = session_folder(tmp_path, manifest())
    with pytest.raises(DamagedFile, match="'recorded' is not known"):
        read_runs(folder, refuse)  # type: ignore[arg-type]


def test_run_ids_distinguish_sessions_and_regions_and_begin_as_those_of_earlier_versions() -> None:
    ids = {run_id(session, region) for session in ("a", "b") for region in ("1", "2")}
    assert len(ids) == 4
    assert {len(one) for one in ids} == {20}
    assert run_id("a", "1") == run_id("a", "1")
    assert short_id(run_id("a", "1")) == blake2b(b"a\x001", digest_size=5).hexdigest()


def test_reading_needs_no_database() -> None:
    program = "import sys, profkit.ingest.read; sys.exit('psycopg' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_starts_count_from_the_first_segment(tmp_path: Path) -> None:
    first, second = recording(("main !f f work", 30), ("main", 70)), recording(("main !f f work", 100))
    timed = [replace(one, profile=replace(one.profile, starts=starts))
             for one, starts in ((first, (0, 30)), (second, (0,)))]  # fmt: skip
    profile = read_one(tmp_path, *timed).profile
    assert profile is not None
    # The second segment begins after 1.5 s, and a round takes 10 ms.
    assert profile.starts == (0, 150)
