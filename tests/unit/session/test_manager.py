"""The manager: who joins, who waits, what is counted, and that nothing is leaked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import CodeType

import pytest

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.errors import ProfilerBusy, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.region import CALLS_ONLY, Region, RegionKey, RegionKind, digest_of
from profkit.model.session import Manifest, Segment, SessionState, UnprofiledReason, segment_stem
from profkit.samplers.options import UNLIMITED_S, SamplerOptions
from profkit.samplers.registry import AUTO
from profkit.session.counters import Counters, OnBusy, Policy
from profkit.session.failures import RETRY_AFTER_S
from profkit.session.manager import SessionManager
from profkit.session.resources import no_name
from profkit.session.session import EARLY_S, IDLE_END_S, SAMPLER_BYTES, SEGMENT_S
from profkit.store import spool
from profkit.store.spool import read_session, session_folders
from profkit.store.spool_files import read_unprofiled
from tests.stand_ins.scripted_sampler import Script, scripted_fallbacks
from tests.support.example_counters import counters_of

Make = Callable[..., Counters]


class Stage:
    """A manager with a scripted sampler and a clock of its own."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.script = ManualClock(), Script()
        self.config = read_config({}, folder)
        self.manager = SessionManager(self.config, self.clock, scripted_fallbacks(self.script))

    def counters(self, name: str = "f", *, rate: float | None = None, scope: str = "call",
                 sampler: str = AUTO, all_threads: bool = False, longest_s: float = UNLIMITED_S,
                 **policy: object) -> Counters:  # fmt: skip
        options = SamplerOptions(sampler, rate, scope=scope, max_duration_s=longest_s)  # type: ignore[arg-type]
        return counters_of(name, options=options, all_threads=all_threads, **policy)

    @property
    def manifest(self) -> Manifest:
        return read_session(self.folder).manifest

    def call(self, counters: Counters, duration_ns: int = 1000, own: int = 1) -> bool:
        counters.open_runs.append(None)
        try:
            if counters.live or self.manager.enter(counters, own):
                counters.durations.append(duration_ns)
                return True
            return False
        finally:
            counters.open_runs.pop()

    @contextmanager
    def call_elsewhere(self) -> Iterator[None]:
        """A call of another thread is under way."""
        other = self.counters("elsewhere")
        other.callers["another thread"] = None
        try:
            yield
        finally:
            other.callers.clear()

    @property
    def folder(self) -> Path:
        return session_folders(self.config.spool)[-1]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.manager.close()
    assert not made.manager.lock_is_mine()
    assert made.manager.lock.acquire(blocking=False)
    made.manager.lock.release()


def test_equal_options_share_one_sampler(stage: Stage) -> None:
    first, second = stage.counters("f"), stage.counters("g")
    assert stage.call(first)
    assert stage.call(second)
    assert stage.script.attached == 1
    assert first.live
    assert second.live


def test_calls_and_regions_are_on_disk_after_settling(stage: Stage) -> None:
    counters = stage.counters()
    for _ in range(3):
        stage.call(counters)
    (folder,) = stage.manager.settle(counters)
    session = read_session(folder)
    assert session.calls[counters.region.id].durations.count == 3
    assert [region.id for region in session.regions] == [counters.region.id]
    assert session.manifest.segments[0].stopped_ns is not None


def test_asking_twice_costs_one_stop_and_the_next_call_goes_on_in_the_same_session(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    stage.manager.settle(counters)
    stage.manager.settle(counters)
    assert stage.script.stopped == 1
    stage.clock.advance(3)
    stage.call(counters)
    assert read_session(stage.folder).manifest.segments[1].asleep_ns == 3_000_000_000
    assert stage.script.attached == 2
    assert len(counters.sessions) == 1


@pytest.mark.parametrize("set_s", [-3600, 3600])
def test_a_clock_that_is_set_changes_no_duration(stage: Stage, set_s: float) -> None:
    counters = stage.counters()
    stage.clock.advance(4)
    stage.call(counters)
    stage.clock.advance(2)
    stage.clock.set_ahead(set_s)
    stage.manager.settle(counters)
    stage.clock.set_ahead(set_s)
    stage.clock.advance(3)
    stage.call(counters)
    stage.clock.set_ahead(-set_s)
    stage.clock.advance(1)
    stage.manager.end_session()
    first, second = read_session(stage.folder).manifest.segments
    assert (first.offset_ns, first.sampled_ns, first.asleep_ns) == (0, 2 * 10**9, 0)
    assert (second.offset_ns, second.sampled_ns, second.asleep_ns) == (5 * 10**9, 10**9, 3 * 10**9)


def ended_by_itself(stage: Stage, counters: Counters, after_s: float) -> None:
    """Have the sampler end by itself so long after a call has started it."""
    assert stage.call(counters)
    stage.clock.advance(after_s)
    stage.script.attachments[-1].state = SessionState.SUCCESS
    assert not stage.manager.tick()
    assert read_session(stage.folder).manifest.error == "the sampler ended unexpectedly"


def test_a_sampler_that_ends_by_itself_at_once_is_a_failed_start(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    counters = stage.counters()
    ended_by_itself(stage, counters, EARLY_S - 1)
    assert stage.call(counters)
    assert stage.script.attached == 1
    assert "ended within 5 s" in caplog.text
    assert "ended within 5 s" in str(stage.manifest.plan.notes[0])
    stage.clock.advance(RETRY_AFTER_S)
    stage.manager.end_session()
    ended_by_itself(stage, counters, EARLY_S)
    assert len([record for record in caplog.records if "ended within" in record.message]) == 1
    assert stage.call(counters)
    assert stage.script.attached == 3


def test_after_a_sampler_that_ended_by_itself_later_the_next_call_starts_another(stage: Stage) -> None:
    counters = stage.counters()
    for _ in range(3):
        ended_by_itself(stage, counters, EARLY_S)
    assert stage.call(counters)
    assert stage.script.attached == 4


def test_names_of_threads_are_written_for_a_sampler_that_does_not_see_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait, name="connection-pool-worker", daemon=True)
    thread.start()
    try:
        stage.call(stage.counters())
        assert stage.manager.tick()
        assert not (stage.folder / "threads.jsonl").exists()
        monkeypatch.setattr("profkit.session.session.SEEN", {"scripted": no_name})
        for _ in range(2):
            assert stage.manager.tick()
        stage.manager.end_session()
        stage.call(stage.counters())
        assert stage.manager.tick()
    finally:
        done.set()
        thread.join()
    for folder in session_folders(stage.config.spool):
        names = [name.name for name in read_session(folder).threads if name.tid == thread.native_id]
        assert names == ["connection-pool-worker"], "once in each session"


def test_asking_while_a_region_is_active_rotates(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    with stage.call_elsewhere():
        stage.manager.settle(counters)
    assert (stage.script.stopped, stage.script.attached) == (1, 2)
    assert counters.live


@pytest.mark.parametrize(("on_busy", "joins"), [("share", True), ("skip", False), ("wait", False)], ids=str)
def test_other_options_while_busy(stage: Stage, on_busy: OnBusy, joins: bool) -> None:
    stage.call(stage.counters("holder"))
    with stage.call_elsewhere():
        other = stage.counters("other", rate=7.0, on_busy=on_busy, running_timeout_s=0.5)
        assert stage.call(other) is joins
    assert len(other.skipped) == (0 if joins else 1)
    assert stage.script.attached == 1


def test_waiting_ends_when_the_holder_does(stage: Stage) -> None:
    holder = stage.counters("holder")
    stage.call(holder)
    holder.open_runs.append(None)

    class Leaving(ManualClock):
        def sleep(self, duration_s: float) -> None:
            super().sleep(duration_s)
            holder.open_runs.clear()

    stage.manager._clock = Leaving()
    assert stage.call(stage.counters("other", rate=7.0, on_busy="wait"))
    assert stage.script.attached == 2


def test_busy_is_raised_only_where_asked(stage: Stage) -> None:
    stage.call(stage.counters("holder"))
    busy = pytest.raises(ProfilerBusy, match=r"'other' was not started.*'holder'")
    with stage.call_elsewhere(), busy:
        stage.call(stage.counters("other", rate=7.0, on_busy="raise", strict=True))


def test_an_idle_session_is_never_busy(stage: Stage) -> None:
    first, other = stage.counters("f"), stage.counters("g", rate=7.0, on_busy="skip")
    stage.call(first)
    assert stage.call(other)
    assert stage.script.attached == 2
    assert not first.live


def test_nested_calls_join_whatever_their_options(stage: Stage) -> None:
    stage.call(stage.counters("outer"))
    inner = stage.counters("inner", rate=7.0, on_busy="skip")
    with stage.call_elsewhere():
        assert stage.call(inner, own=2)


@pytest.mark.parametrize(
    ("scope", "other", "on_busy"),
    [
        ("call", "process", "share"),
        ("process", "process", "share"),
        ("process", "call", "share"),
        ("process", "call", "wait"),
    ],
)
def test_the_whole_process_is_shared_with_nobody(
    stage: Stage, scope: str, other: str, on_busy: OnBusy
) -> None:
    stage.call(stage.counters("holder", scope=scope))
    with stage.call_elsewhere():
        busy = stage.counters("other", scope=other, on_busy=on_busy, running_timeout_s=0.5)
        assert not stage.call(busy)
    assert stage.call(stage.counters("later", scope=scope))
    assert stage.script.attached == 1


def test_a_failed_start_is_kept_said_and_not_tried_at_every_call(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.script.fail_start = "no luck"
    counters = stage.counters()
    assert stage.call(counters)
    stage.script.fail_start = None
    assert stage.call(counters)
    assert stage.script.attached == 0
    assert caplog.text.count("no luck") == 1
    assert stage.manifest.plan.sampler == CALLS_ONLY
    (note,) = stage.manifest.plan.notes
    assert note.code is NoteCode.NOT_SAMPLED
    stage.manager.tick()
    assert read_session(stage.folder).calls[counters.region.id].durations.count == 2


def test_a_chosen_sampler_that_fails_is_an_error_of_the_run_whose_calls_count(stage: Stage) -> None:
    stage.script.fail_start = "no luck"
    counters = stage.counters(sampler="scripted")
    assert stage.call(counters)
    assert "no luck" in (stage.manifest.error or "")
    assert stage.manifest.plan.notes == ()
    stage.manager.end_session()
    assert stage.manifest.state is SessionState.FAILED
    assert "no luck" in (stage.manifest.error or "")
    assert read_session(stage.folder).calls[counters.region.id].durations.count == 1


def test_without_samples_a_sampler_is_tried_again_later_and_later(stage: Stage) -> None:
    stage.script.fail_start = "no luck"
    counters = stage.counters()

    def sessions_after(wait_s: float) -> int:
        stage.clock.advance(wait_s)
        assert stage.call(counters)
        stage.manager.tick()
        with stage.call_elsewhere():
            assert stage.call(counters)
        before = len(counters.sessions)
        stage.manager.tick()
        assert stage.call(counters)
        return len(counters.sessions) - before

    assert [sessions_after(wait_s) for wait_s in (0, RETRY_AFTER_S - 1, 1)] == [0, 0, 1]
    assert [sessions_after(wait_s) for wait_s in (2 * RETRY_AFTER_S - 1, 1)] == [0, 1]
    stage.script.fail_start = None
    assert sessions_after(4 * RETRY_AFTER_S) == 1
    assert stage.manifest.plan.sampler == "scripted"


def test_strict_raises_before_the_call(stage: Stage) -> None:
    stage.script.fail_start = "no luck"
    counters = stage.counters(strict=True)
    for _ in range(2):
        with pytest.raises(SamplerFailed, match="no luck"):
            stage.call(counters)
    assert not counters.durations


def test_a_sampler_that_never_runs_is_killed_at_the_deadline(stage: Stage) -> None:
    stage.script.never_running = True
    assert stage.call(stage.counters(running_timeout_s=1.0))
    assert stage.script.killed == 1
    assert stage.manifest.plan.sampler == CALLS_ONLY


def test_a_sampler_that_never_stops_is_killed_and_named(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    stage.script.never_done = True
    stage.manager.settle(counters)
    assert stage.script.killed == 1
    assert "within" in (read_session(stage.folder).manifest.segments[0].error or "")


def test_resources_are_written_at_the_beginning_each_second_and_at_the_end(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    began_ns = stage.clock.unix_ns()
    stage.clock.sleep(1.0)
    stage.manager.tick()
    stage.clock.sleep(0.5)
    stage.manager.end_session()
    points = read_session(stage.folder).resources
    assert [(point.at_ns - began_ns) / 1e9 for point in points] == [0.0, 1.0, 1.5]
    assert all(point.cpu_s > 0 and point.rss_bytes > 0 and point.threads > 0 for point in points)


def test_idle_sessions_end(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    assert stage.manager.tick()
    stage.clock.advance(IDLE_END_S)
    assert not stage.manager.tick()
    assert not counters.live
    assert read_session(stage.folder).manifest.state is SessionState.SUCCESS


def test_an_active_region_keeps_its_session(stage: Stage) -> None:
    stage.call(stage.counters())
    with stage.call_elsewhere():
        stage.clock.advance(IDLE_END_S)
        assert stage.manager.tick()
        stage.clock.advance(IDLE_END_S - 1)
    assert stage.manager.tick()


@pytest.mark.parametrize("why", ["age", "memory"])
def test_segments_rotate(stage: Stage, why: str) -> None:
    stage.call(stage.counters())
    with stage.call_elsewhere():
        if why == "age":
            stage.clock.advance(SEGMENT_S)
        else:
            stage.script.resident = SAMPLER_BYTES
        assert stage.manager.tick()
    assert stage.script.attached == 2


def test_the_longest_duration_truncates_but_goes_on_counting(stage: Stage) -> None:
    counters = stage.counters(longest_s=600)
    stage.call(counters)
    with stage.call_elsewhere():
        stage.clock.advance(600)
        assert stage.manager.tick()
    stage.call(counters)
    stage.manager.settle(counters)
    session = read_session(stage.folder)
    assert session.manifest.truncated
    assert session.calls[counters.region.id].durations.count == 2
    assert stage.script.attached == 1


def segments_after(stage: Stage, minutes: int, longest_s: float = UNLIMITED_S) -> list[Segment]:
    """Sample for some minutes, with a file for each segment; return the segments that are left."""
    stage.call(stage.counters(longest_s=longest_s))
    with stage.call_elsewhere():
        for number in range(minutes):
            (stage.folder / f"{segment_stem(number)}.stacks").touch()
            stage.clock.advance(SEGMENT_S)
            assert stage.manager.tick()
    *kept, running = stage.manifest.segments
    files = {path.stem for path in stage.folder.glob("*.stacks")}
    assert files == {segment_stem(segment.index) for segment in kept}
    return [*kept, running]


@pytest.mark.parametrize(("minutes", "every"), [(20, 1), (21, 2), (170, 16)])
def test_a_long_session_keeps_evenly_spread_minutes(stage: Stage, minutes: int, every: int) -> None:
    *kept, running = segments_after(stage, minutes)
    assert [segment.index for segment in kept] == list(range(0, minutes, every))
    assert running.index == minutes
    assert (Note(NoteCode.MINUTES_KEPT) in stage.manifest.notes) is (every > 1)


def test_a_duration_that_the_user_set_is_sampled_whole(stage: Stage) -> None:
    assert len(segments_after(stage, 30, longest_s=7200)) == 31


def test_a_dead_sampler_fails_the_session(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    counters = stage.counters()
    stage.call(counters)
    stage.script.died = True
    assert not stage.manager.tick()
    assert not counters.live
    assert "it died" in caplog.text
    assert read_session(stage.folder).manifest.state is SessionState.FAILED


def test_a_region_of_all_threads_has_segments_of_its_own(stage: Stage) -> None:
    counters = stage.counters("all", all_threads=True)
    stage.call(stage.counters("f"))
    for _ in range(2):
        assert stage.call(counters)
        stage.manager.leave(counters)
    covers = [bool(segment.covers) for segment in read_session(stage.folder).manifest.segments]
    assert covers == [False, True, False, True, False]


def test_a_forked_child_has_a_session_of_its_own(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    parents = stage.manager.session
    stage.manager.become_child()
    assert not counters.durations
    assert stage.call(counters)
    assert parents is not None
    assert stage.manager.session is not None
    assert stage.manager.session.id != parents.id
    assert stage.script.attached == 2


def test_children_run_unprofiled_where_that_is_requested_and_it_is_noted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = SessionManager(
        read_config({"PROFKIT_CHILDREN": "0"}, stage.config.spool.parent.parent),
        stage.clock, scripted_fallbacks(stage.script),
    )  # fmt: skip
    counters = stage.counters()
    monkeypatch.setattr("profkit.session.activity._FIRST_PID", -1)
    for _ in range(2):
        assert not manager.enter(counters, 1)
    (entry,) = read_unprofiled(stage.config.spool, stage.clock)
    assert (entry.label, entry.reason) == ("f", UnprofiledReason.CHILDREN_OFF)


def test_after_the_exit_nothing_starts(stage: Stage) -> None:
    stage.manager.close()
    assert not stage.call(stage.counters())


def test_calls_of_daemon_threads_are_counted_until_the_exit_handler_ends(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = stage.counters()
    stage.call(counters)
    close_folder = spool.close_folder

    def called_meanwhile(folder: Path, manifest: Manifest) -> None:
        close_folder(folder, manifest)
        assert stage.call(counters)

    monkeypatch.setattr(spool, "close_folder", called_meanwhile)
    stage.manager.close()
    assert read_session(stage.folder).calls[counters.region.id].durations.count == 2


def test_a_caller_inside_the_host_runs_bare(stage: Stage) -> None:
    with stage.manager.lock:
        assert not stage.call(stage.counters())


def test_an_interrupt_while_starting_leaves_nothing_behind(stage: Stage) -> None:
    class Interrupted(ManualClock):
        def sleep(self, duration_s: float) -> None:
            raise KeyboardInterrupt

    stage.script.never_running = True
    stage.manager._clock = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        stage.call(stage.counters())
    assert stage.script.killed == 1
    assert stage.manager.session is None


def test_an_interrupt_at_the_end_of_a_segment_is_no_failure_of_the_sampler(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    stage.script.interrupts = 1
    with pytest.raises(KeyboardInterrupt):
        stage.manager.settle(counters)
    stage.manager.tick()
    assert stage.call(counters)
    assert stage.script.attached == 2


def test_a_second_thread_waits_for_running(stage: Stage) -> None:
    entered = threading.Event()

    class Slow(ManualClock):
        def sleep(self, duration_s: float) -> None:
            entered.set()
            super().sleep(duration_s)

    stage.manager._clock = Slow()
    counters = [stage.counters("f"), stage.counters("g")]
    threads = [threading.Thread(target=stage.call, args=(counters,)) for counters in counters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stage.script.attached == 1
    assert all(len(counters.durations) == 1 for counters in counters)


def test_calls_that_outlive_their_session_are_counted_in_it(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    stage.manager.end_session()
    counters.durations.append(5)  # the call that was still running then
    stage.manager.settle(counters)
    assert read_session(stage.folder).calls[counters.region.id].durations.count == 2


def test_a_region_in_a_second_session_is_counted_there(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    stage.manager.end_session()
    stage.call(counters)
    first, second = stage.manager.settle(counters)
    for folder in (first, second):
        assert read_session(folder).calls[counters.region.id].durations.count == 1


def block(stage: Stage, code: CodeType, label: str = "cell") -> Counters:
    region = Region(
        RegionKey("m", "<module>", 1, label), RegionKind.BLOCK, "cell.py", body=(2,), code=digest_of(code)
    )
    return Counters(region, SamplerOptions(), Policy(), code)


VERSIONS = [compile(text, "cell.py", "exec") for text in ("a = 1", "a = 2")]


def test_another_version_of_a_block_has_a_session_of_its_own(stage: Stage) -> None:
    first, second = (block(stage, code) for code in VERSIONS)
    stage.call(first)
    stage.clock.advance(2)
    stage.call(second)
    assert stage.script.attached == 2
    assert first.sessions != second.sessions


def test_versions_that_alternate_quickly_are_mixed_and_that_is_noted(stage: Stage) -> None:
    first, second = block(stage, VERSIONS[0]), block(stage, VERSIONS[0], "another label")
    for _ in range(3):
        assert stage.call(first)
        assert stage.call(second)
    assert stage.script.attached == 1
    (note,) = read_session(stage.folder).manifest.notes
    assert note == Note.of(NoteCode.SAME_LINES, label="another label", other="cell", function="<module>")


def test_blocks_in_blocks_are_no_versions_of_each_other(stage: Stage) -> None:
    outer, inner = block(stage, VERSIONS[0]), block(stage, VERSIONS[0], "inner")
    inner.region = replace(inner.region, key=replace(inner.region.key, line=2))
    stage.call(outer)
    stage.call(inner)
    assert stage.script.attached == 1
    assert not read_session(stage.folder).manifest.notes


def test_calls_of_other_threads_count_while_the_sampler_ends(stage: Stage) -> None:
    counters = stage.counters()
    stage.call(counters)
    session = stage.manager.session
    assert session is not None
    attachment = stage.script.attachments[-1]
    stop = attachment.request_stop

    def called_meanwhile() -> None:
        assert stage.call(counters)
        stop()

    attachment.request_stop = called_meanwhile  # type: ignore[method-assign]
    stage.manager.end_session()
    assert read_session(stage.folder).calls[counters.region.id].durations.count == 2
    assert not counters.live


def test_whoever_finds_the_lock_taken_must_not_wait_on_an_event_loop(stage: Stage) -> None:
    """As while the ticker begins a new segment: the first call of a coroutine then waits in a thread."""
    first, second = stage.counters("f"), stage.counters("g")
    assert stage.manager.must_wait(first)
    stage.call(first)
    assert not stage.manager.must_wait(second)
    taken, done = threading.Event(), threading.Event()

    def rotate() -> None:
        with stage.manager.lock:
            taken.set()
            done.wait()

    thread = threading.Thread(target=rotate)
    thread.start()
    taken.wait()
    try:
        assert stage.manager.must_wait(second)
    finally:
        done.set()
        thread.join()
    assert not stage.manager.must_wait(second)
