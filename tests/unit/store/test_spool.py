from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.clock import ManualClock
from profkit.errors import DamagedFile
from profkit.model.histogram import histogram_of
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import (
    CallDelta,
    CellName,
    Ending,
    Lines,
    Manifest,
    ProcessInfo,
    ResourcePoint,
    SamplerPlan,
    Segment,
    SessionState,
    ThreadName,
)
from profkit.process.procfs import start_ticks
from profkit.store import clearing, spool, spool_files
from profkit.store.files import open_spool
from profkit.store.journal import append_records
from tests.support.spool_folders import open_folder, set_aside

HOST = os.uname().nodename
GONE = 2**22 + 1
"""No process has this id: Linux's largest is 2^22."""


def manifest_of(session: str = "s1", pid: int = GONE, ticks: int = 1, host: str = HOST) -> Manifest:
    return Manifest(
        session=session,
        state=SessionState.RUNNING,
        created_ns=1_700_000_000_000_000_000,
        process=ProcessInfo(
            pid, ticks, host, "/home/é\udc80", ("python", "a.py"), "3.11.2", None, "0.1.0", None
        ),
        plan=SamplerPlan("pyspy", 100.0, True, True, False, False, "call", 600.0),
        segments=(Segment(0, 1, pid=None), Segment(1, 2, pid=GONE, start_ticks=3)),
    )


def region_of(label: str, tags: tuple[str, ...] = ()) -> Region:
    return Region(RegionKey("m", "f", 1, label), RegionKind.FUNCTION, "/a/m.py", ("f", "/a/m.py"), tags=tags)


def point(number: int) -> ResourcePoint:
    return ResourcePoint(number, number / 10, 1000, 2)


def own_ticks() -> int:
    ticks = start_ticks(os.getpid())
    assert ticks is not None
    return ticks


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a session that has written its manifest."""
    made = spool.create_folder(tmp_path / "spool", "s1")
    spool.write_manifest(made, manifest_of())
    return made


def test_a_session_is_read_as_it_was_written(folder: Path) -> None:
    spool.append(folder, [region_of("a"), region_of("sur\udc80")])
    spool.append(folder, [CallDelta("a", 5, histogram_of([10, 20]), skipped=1, first_call_ns=3)])
    spool.append(folder, [point(1)])
    spool.append(folder, [point(2), point(3)])
    cells = [CellName("/tmp/ipykernel_7/8.py", f"In [{number}]") for number in range(2)]
    spool.append(folder, cells)
    session = spool.read_session(folder)
    assert session.cells == tuple(cells)
    assert session.manifest == manifest_of()
    assert session.regions == (region_of("a"), region_of("sur\udc80"))
    assert session.calls == {"a": CallDelta("a", 5, histogram_of([10, 20]), skipped=1, first_call_ns=3)}
    assert session.resources == (point(1), point(2), point(3))
    assert session.threads == ()
    assert session.damaged == ()


def test_names_of_threads_are_read_in_their_order(tmp_path: Path) -> None:
    names = [ThreadName(7, "connection-pool", f"connection-pool-{number}") for number in range(3)]
    spool.write_manifest(tmp_path, replace(manifest_of(), lines=Lines(threads=3)))
    spool.append(tmp_path, names[:1])
    spool.append(tmp_path, names[1:])
    assert spool.read_session(tmp_path).threads == tuple(names)
    assert spool.read_session(tmp_path).damaged == ()
    (tmp_path / "threads.jsonl").unlink()
    (tmp_path / "cells.jsonl").write_text("{}\n")
    session = spool.read_session(tmp_path)
    assert (session.threads, session.lost.threads, session.cells) == ((), 3, ())
    assert sorted(damage.path.name for damage in session.damaged) == ["cells.jsonl", "threads.jsonl"]


def test_only_the_owner_may_read_a_folder(folder: Path) -> None:
    spool.append(folder, [point(1)])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "resources.jsonl").stat().st_mode) == 0o600


def test_a_spool_in_a_profkit_folder_is_kept_out_of_git(tmp_path: Path) -> None:
    spool.create_folder(tmp_path / ".profkit" / "spool", "s1")
    assert (tmp_path / ".profkit" / ".gitignore").read_text() == "*\n"
    spool.create_folder(tmp_path / "elsewhere", "s1")
    assert not list(tmp_path.glob("elsewhere/.gitignore"))
    assert not (tmp_path / ".gitignore").exists()


def test_a_users_own_gitignore_stays(tmp_path: Path) -> None:
    (tmp_path / ".profkit").mkdir()
    (tmp_path / ".profkit" / ".gitignore").write_text("mine")
    spool.create_folder(tmp_path / ".profkit" / "spool", "s1")
    assert (tmp_path / ".profkit" / ".gitignore").read_text() == "mine"


def test_a_session_has_one_folder(tmp_path: Path) -> None:
    spool.create_folder(tmp_path, "s1")
    with pytest.raises(FileExistsError):
        spool.create_folder(tmp_path, "s1")


def test_a_manifest_takes_the_place_of_the_one_before(folder: Path) -> None:
    ended = replace(manifest_of(), state=SessionState.SUCCESS, ended_ns=9)
    spool.write_manifest(folder, ended)
    assert spool.read_session(folder).manifest == ended
    assert [path.name for path in folder.iterdir()] == ["manifest.json"]


def test_calls_are_summed_by_region(folder: Path) -> None:
    one = CallDelta("a", 5, histogram_of([10, 500]), 1, 2, 3, 4)
    two = CallDelta("a", 7, histogram_of([20]), 10, 20, 30, 40, first_call_ns=6)
    three = CallDelta("a", 6, raised=1, first_call_ns=4)
    other = CallDelta("b", 9, histogram_of([7]))
    spool.append(folder, [one, other])
    spool.append(folder, [two])
    spool.append(folder, [three])
    total = CallDelta("a", 7, histogram_of([10, 500, 20]), 11, 23, 33, 44, first_call_ns=4)
    assert spool.read_session(folder).calls == {"a": total, "b": other}


def test_regions_are_reported_once_in_the_order_of_their_first_run(folder: Path) -> None:
    spool.append(folder, [region_of("b"), region_of("a"), region_of("b")])
    assert [region.key.label for region in spool.read_session(folder).regions] == ["b", "a"]


def test_nothing_to_append_makes_no_file(tmp_path: Path) -> None:
    spool.append(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported() -> None:
    with pytest.raises(OSError, match="No space left"):
        append_records(Path("/dev/full"), [point(1)])


def test_a_line_that_the_disk_took_in_part_is_reported(tmp_path: Path) -> None:
    code = """
import pathlib, resource, sys
from profkit.store.files import open_spool
from profkit.store.journal import append_records
from profkit.model.session import ResourcePoint
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    append_records(pathlib.Path(sys.argv[1]), [ResourcePoint(1, 1.0, 1, 1)] * 3)
except OSError as error:
    print(error)
"""
    path = tmp_path / "x.jsonl"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert "only 100 of" in done.stdout


@given(st.data())
def test_a_torn_last_line_is_nothing_special(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    spool.write_manifest(folder, manifest_of())
    spool.append(folder, [point(n) for n in range(3)])
    text = (folder / "resources.jsonl").read_bytes()
    end = data.draw(st.integers(0, len(text)))
    (folder / "resources.jsonl").write_bytes(text[:end])
    session = spool.read_session(folder)
    assert session.damaged == ()
    assert session.resources == tuple(point(n) for n in range(text[:end].count(b"\n")))


@pytest.mark.parametrize("line", ["", "not json", '{"at_ns": 1}', "[" * 100_000, "7", "\xff"])
def test_a_damaged_line_is_reported_and_the_others_are_read(folder: Path, line: str) -> None:
    spool.append(folder, [point(1)])
    with (folder / "resources.jsonl").open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    spool.append(folder, [point(2)])
    session = spool.read_session(folder)
    assert session.resources == (point(1), point(2))
    (damage,) = session.damaged
    assert damage.path == folder / "resources.jsonl"
    assert damage.detail.startswith("line 2: ")


def test_of_many_damaged_lines_the_first_is_reported(folder: Path) -> None:
    (folder / "calls.jsonl").write_text("a\nb\nc\n")
    (folder / "regions.jsonl").mkdir()
    regions, calls = spool.read_session(folder).damaged
    assert calls.detail.startswith("line 1: ")
    assert calls.detail.endswith("(and 2 more)")
    assert "Is a directory" in regions.detail


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("{", "Expecting"),
        ("[]", "not a JSON object"),
        ("{}", "its schema is None"),
        (
            '{"schema": "profkit.spool/9"}',
            "its schema is 'profkit.spool/9', and this profkit reads 'profkit.spool/1'",
        ),
        ('{"schema": "profkit.spool/1", "session": "x"}', r"Manifest lacks \['created_ns'"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DamagedFile, match=problem) as told:
        spool.read_session(tmp_path)
    assert told.value.path == tmp_path / "manifest.json"


def test_a_field_that_this_version_does_not_know_is_reported(folder: Path) -> None:
    document = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**document, "later": 1}))
    with pytest.raises(DamagedFile, match=r"Manifest has unknown \['later'\]"):
        spool.read_session(folder)


def test_folders_come_oldest_first(tmp_path: Path) -> None:
    for session, created_ns in (("new", 30), ("a", 10), ("b", 20)):
        manifest = replace(manifest_of(session), created_ns=created_ns)
        spool.write_manifest(spool.create_folder(tmp_path, session), manifest)
    assert [folder.name for folder in spool.session_folders(tmp_path)] == ["a", "b", "new"]


def test_what_is_no_session_is_no_folder_of_one(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    spool.create_folder(tmp_path, "not-begun")
    (spool.create_folder(tmp_path, "about-to-begin") / "manifest.json.new").touch()
    (spool.create_folder(tmp_path, "manifest-lost") / "calls.jsonl").touch()
    (spool.create_folder(tmp_path, ".hidden") / "manifest.json").touch()
    (spool.create_folder(tmp_path, "damaged") / "x").touch()
    assert [folder.name for folder in spool.session_folders(tmp_path)] == ["manifest-lost"]
    assert spool.session_folders(tmp_path / "none") == ()


def test_a_session_is_live_while_its_process_is() -> None:
    assert spool.is_live(manifest_of(pid=os.getpid(), ticks=own_ticks()))
    assert not spool.is_live(manifest_of(pid=os.getpid(), ticks=own_ticks() + 1)), "the pid was used again"
    assert not spool.is_live(manifest_of())


def test_a_session_is_live_while_a_sampler_is() -> None:
    sampler = Segment(2, 3, pid=os.getpid(), start_ticks=own_ticks())
    assert spool.is_live(replace(manifest_of(), segments=(Segment(0, 1), sampler)))
    assert not spool.is_live(replace(manifest_of(), segments=(replace(sampler, start_ticks=None),)))


def test_a_zombie_is_not_live() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        ticks = start_ticks(child.pid)
        assert ticks is not None
        assert spool.is_live(manifest_of(pid=child.pid, ticks=ticks))
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not spool.is_live(manifest_of(pid=child.pid, ticks=ticks))


@pytest.mark.parametrize("limit_s", [1200.0, float("inf")])
def test_on_another_host_a_session_is_live_until_it_ended_or_writes_no_more(
    tmp_path: Path, limit_s: float
) -> None:
    manifest = manifest_of(host="another")
    manifest = replace(manifest, plan=replace(manifest.plan, max_duration_s=limit_s))
    clock = ManualClock(start_unix_ns=manifest.created_ns)
    journal = tmp_path / spool.RESOURCES
    journal.touch()
    with open_spool(tmp_path, None) as folder:
        clock.advance(5000)
        os.utime(journal, ns=(0, clock.unix_ns()))
        clock.advance(590)
        assert spool.is_live(manifest, folder, clock)
        assert not spool.is_live(replace(manifest, ended_ns=1), folder, clock)
        clock.advance(20)
        assert not spool.is_live(manifest, folder, clock)


def test_damaged_files_are_set_aside_and_never_overwritten(tmp_path: Path) -> None:
    places = []
    for text in ("first", "second"):
        folder = spool.create_folder(tmp_path, "s1")
        (folder / "calls.jsonl").write_text(text)
        places.append(set_aside(tmp_path, folder / "calls.jsonl"))
        clearing.remove_folder(folder)
    assert [place.read_text() for place in places] == ["first", "second"]
    assert [place.relative_to(tmp_path) for place in places] == [
        Path("damaged/s1/calls.jsonl"), Path("damaged/s1-2/calls.jsonl"),
    ]  # fmt: skip


def test_a_damaged_folder_is_set_aside_whole(tmp_path: Path) -> None:
    folder = spool.create_folder(tmp_path, "s1")
    (folder / "manifest.json").write_text("?")
    place = set_aside(tmp_path, folder)
    assert place == tmp_path / "damaged" / "s1"
    assert (place / "manifest.json").read_text() == "?"
    assert not folder.exists()
    assert spool.session_folders(tmp_path) == ()


def test_a_removed_folder_leaves_nothing(tmp_path: Path) -> None:
    folder = spool.create_folder(tmp_path, "s1")
    spool.write_manifest(folder, manifest_of())
    (folder / "inner").mkdir()
    (folder / "inner" / "file").touch()
    clearing.remove_folder(folder)
    clearing.remove_folder(folder)
    assert list(tmp_path.iterdir()) == []


def test_threads_that_append_at_once_tear_nothing(folder: Path) -> None:
    start = threading.Barrier(4)

    def append(thread: int) -> None:
        start.wait()
        for n in range(50):
            spool.append(folder, [point(1000 * thread + n), point(1000 * thread + n)])

    threads = [threading.Thread(target=append, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    session = spool.read_session(folder)
    assert session.damaged == ()
    assert len(session.resources) == 4 * 50 * 2


@pytest.mark.parametrize("module", ["spool", "measured"])
def test_writing_loads_nothing_heavy(module: str) -> None:
    """Every program that is profiled or measures imports it."""
    code = f"import sys, profkit.store.{module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"psycopg", "rich", "click", "torch", "numpy", "shutil", "zlib"} & set(done.stdout.split())


REFUSES_SYNC = """
import ctypes, os, struct, sys
from pathlib import Path
from profkit.store import spool
from tests.unit.store.test_spool import manifest_of

folder = Path(sys.argv[1])
spool.write_manifest(folder, manifest_of())
spool.append(folder, [])
# Berkeley packet filter of seccomp(2): fsync fails with EIO, everything else is allowed.
number = {"x86_64": 74, "aarch64": 82}[os.uname().machine]
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050005), (0x06, 0, 0, 0x7FFF0000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(Filter(len(code), ctypes.addressof(program))), 0, 0) == 0
for step in (spool.write_manifest, spool.close_folder):
    try:
        step(folder, manifest_of())
    except OSError as error:
        print(step.__name__, error.strerror)
"""


def test_only_the_end_of_a_session_is_synced(tmp_path: Path) -> None:
    """A kernel that refuses to sync shows who asks."""
    done = subprocess.run(
        [sys.executable, "-c", REFUSES_SYNC, tmp_path], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("close_folder Input/output error\n", "")


def test_a_session_that_counted_its_lines_notices_that_one_is_lost(folder: Path) -> None:
    spool.write_manifest(folder, replace(manifest_of(), lines=Lines(regions=3, calls=1, resources=2)))
    spool.append(folder, [region_of("a")])
    spool.append(folder, [CallDelta("a", 5), CallDelta("a", 6)])  # one after the manifest
    spool.append(folder, [point(1), point(2)])
    session = spool.read_session(folder)
    assert session.lost == Lines(regions=2)
    assert [damage.detail for damage in session.damaged] == ["it ends early; 2 lines are lost"]


def test_how_a_session_ended_is_kept_without_any_space(folder: Path) -> None:
    spool_files.make_reserve(folder)
    manifest = replace(manifest_of(), segments=(Segment(0, 1),))
    spool.write_manifest(folder, manifest)
    assert spool.read_session(folder).manifest == manifest, "the reserve is not used yet"
    segments = tuple(Segment(number, 1, error="x" * 50) for number in range(40))
    deltas = tuple(CallDelta("a", number, histogram_of([number])) for number in range(3))
    ending = Ending(7, SessionState.FAILED, "no space \U0001f4a5", 9, segments=segments, calls=deltas)
    spool_files.note_ending(folder, ending)
    assert (folder / spool_files.RESERVE).stat().st_size == spool_files.SIZE_BYTES
    session = spool.read_session(folder)
    found = session.manifest
    assert (found.state, found.error, found.ended_ns) == (SessionState.FAILED, "no space \U0001f4a5", 9)
    assert {found.segments[0].index, found.segments[-1].index} == {0, 39}
    assert session.calls["a"].durations.count == 3
    assert session.damaged == ()


@given(st.text(max_size=5000), st.integers(0, 60), st.integers(0, 60))
def test_any_ending_fits(
    tmp_path_factory: pytest.TempPathFactory, error: str, segments: int, calls: int
) -> None:
    folder = tmp_path_factory.mktemp("ending")
    spool_files.make_reserve(folder)
    ending = Ending(
        7, SessionState.FAILED, error,
        segments=tuple(Segment(number, 1) for number in range(segments)),
        calls=tuple(CallDelta("a", number) for number in range(calls)),
    )  # fmt: skip
    spool_files.note_ending(folder, ending)
    with open_folder(folder) as opened:
        found = spool_files.read_ending(opened)
    assert found is not None
    assert error.startswith(found.error)
    assert found.segments == ending.segments[len(ending.segments) - len(found.segments) :]
