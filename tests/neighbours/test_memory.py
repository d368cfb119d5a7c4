"""memray: peaks, attribution, other trackers, forks, threads, killed programs, damage, commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.model.notes import NoteCode
from profkit.model.profile import Profile, Value
from profkit.model.run import Memory, Run
from profkit.transforms.values import with_value
from tests.integration.harness import WITH_THREADS, listed, profkit, run_program
from tests.neighbours.harness import assert_same, both, environ, program, runs_in

MB = 1_000_000
NEAR = 0.02
"""Part by which a peak may exceed what the program allocates itself."""


def script(folder: Path, text: str, *flags: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder; `hold` allocates, and KEPT keeps."""
    head = (
        "import os, sys, threading\nimport profkit\nKEPT = []\ndef hold(size):\n    return bytearray(size)\n"
    )
    (folder / "program.py").write_text(head + text, "utf-8")
    return run_program(folder, [*flags, "program.py"], environ=environ(**changes))


def by_label(folder: Path) -> dict[str, Run]:
    return {run.info.label: run for run in runs_in(folder)}


def memory(run: Run) -> Memory:
    assert run.info.memory is not None, run
    return run.info.memory


def weights(profile: Profile, *, total: bool = False) -> dict[str, int]:
    """Bytes by function: of itself, or with its callees."""
    found: dict[str, int] = {}
    for sample in profile.samples:
        stack = [profile.frames[frame].name for frame in profile.stacks[sample.stack]]
        for name in set(stack) if total else stack[-1:]:
            found[name] = found.get(name, 0) + sample.weight
    return found


def value_of(run: Run, value: Value) -> Profile:
    assert run.profile is not None
    return with_value(run.profile, value)


def test_a_program_is_the_same_and_its_calls_are_known(tmp_path: Path) -> None:
    pair = both(tmp_path, program("memory_calls.py"))
    assert_same(pair, 4)
    runs = by_label(pair.folder)
    assert set(runs) == {"load", "objects", "threaded", "failing", "block"}

    load = memory(runs["load"])
    assert load.peaks_bytes == (pytest.approx(50 * MB, rel=NEAR), pytest.approx(10 * MB, rel=NEAR))
    assert load.left_bytes == pytest.approx(12 * MB, rel=NEAR)
    assert load.allocated_bytes == pytest.approx(61.2 * MB, rel=NEAR)
    assert 204 <= load.allocations < 250
    assert runs["load"].info.calls == 2

    at_peak = value_of(runs["load"], Value.PEAK)
    assert weights(at_peak)["temporary"] == pytest.approx(40 * MB, rel=NEAR)
    assert weights(at_peak)["result"] == pytest.approx(10 * MB, rel=NEAR)
    assert weights(at_peak, total=True)["load"] == load.peak_bytes
    assert all(at_peak.frames[stack[0]].name == "load" for stack in at_peak.stacks)
    left = value_of(runs["load"], Value.LEFT)
    assert weights(left)["result"] == pytest.approx(12 * MB, rel=NEAR)
    assert "temporary" not in weights(left)
    assert weights(value_of(runs["load"], Value.ALLOCATIONS))["temporary"] == 202

    assert memory(runs["failing"]).left_bytes == pytest.approx(3 * MB, rel=NEAR)
    assert runs["failing"].info.raised == 1
    assert memory(runs["block"]).peak_bytes == pytest.approx(7 * MB, rel=NEAR)


def test_objects_and_threads(tmp_path: Path) -> None:
    run_program(tmp_path, program("memory_calls.py"), environ=environ(), code=4)
    runs = by_label(tmp_path)
    objects = memory(runs["objects"])
    assert objects.python_allocators
    assert objects.allocations >= 20_000
    assert objects.peak_bytes > 20_000 * 90
    threaded = value_of(runs["threaded"], Value.PEAK)
    assert weights(threaded)["temporary"] == pytest.approx(6 * MB, rel=NEAR)
    assert "loader" in {thread.name for thread in threaded.threads}


def test_a_program_under_memray_runs_untracked_with_one_message(tmp_path: Path) -> None:
    text = (
        "@profkit.profile(mode='memory')\ndef load():\n    KEPT.append(hold(10**6))\n    return len(KEPT)\n"
        "print(load(), load())\n"
    )
    done = script(tmp_path, text, "-m", "memray", "run", "-q", "-o", "capture.bin")
    assert done.stdout == "1 2\n"
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("another tracker of memray is active in this process") == 1
    assert (tmp_path / "capture.bin").stat().st_size
    assert all(run.info.memory is None for run in runs_in(tmp_path))


def test_another_tracker_is_an_error_if_asked_for(tmp_path: Path) -> None:
    text = (
        "import memray\nfrom profkit.samplers.memray.tracker import TrackerBusy\n"
        "@profkit.profile(mode='memory', stop_at_error=True)\ndef load():\n    KEPT.append(1)\n"
        "with memray.Tracker('capture.bin'):\n"
        "    try:\n        load()\n    except TrackerBusy as error:\n        print(type(error).__name__)\n"
        "load()\nprint(KEPT, load.last_run.info.memory.peak_bytes >= 0)\n"
    )
    done = script(tmp_path, text)
    assert done.stdout == "TrackerBusy\n[1] True\n", done.stderr


def test_nested_and_overlapping_calls_run_once_and_are_part_of_the_tracked_one(tmp_path: Path) -> None:
    text = (
        "@profkit.profile(mode='memory')\ndef inner():\n    KEPT.append(hold(2 * 10**6))\n"
        "@profkit.profile(mode='memory')\ndef outer(depth=0):\n    inner()\n"
        "    if depth < 2:\n        outer(depth + 1)\n"
        "    thread = threading.Thread(target=inner)\n    thread.start()\n    thread.join()\n"
        "outer()\nprint(len(KEPT))\ninner()\n"
    )
    done = script(tmp_path, text)
    assert (done.stdout, done.returncode) == ("6\n", 0), done.stderr
    assert done.stderr.count("'inner' is not tracked during a call of 'outer'") == 1
    runs = by_label(tmp_path)
    assert memory(runs["outer"]).peaks_bytes == (pytest.approx(12 * MB, rel=NEAR),)
    assert memory(runs["inner"]).peaks_bytes == (pytest.approx(2 * MB, rel=NEAR),)
    assert runs["inner"].info.skipped == 6


def test_several_threads_at_once(tmp_path: Path) -> None:
    text = (
        "gate = threading.Barrier(2)\n"
        "@profkit.profile(mode='memory')\ndef load():\n"
        "    gate.wait()\n    KEPT.append(hold(10**6))\n    gate.wait()\n"
        "threads = [threading.Thread(target=load) for _ in range(2)]\n"
        "[thread.start() for thread in threads]\n[thread.join() for thread in threads]\nprint(len(KEPT))\n"
    )
    done = script(tmp_path, text)
    assert done.stdout == "2\n", done.stderr
    assert done.stderr.count("is called by several threads at once") == 1
    run = by_label(tmp_path)["load"]
    assert memory(run).peaks_bytes == (pytest.approx(2 * MB, rel=NEAR),)
    assert (run.info.calls, run.info.skipped) == (1, 1)


def test_a_killed_program_leaves_its_call(tmp_path: Path) -> None:
    text = (
        "import signal\n"
        "@profkit.profile(mode='memory')\ndef load(kill):\n    KEPT.append(hold(5 * 10**6))\n"
        "    if kill:\n        os.kill(os.getpid(), signal.SIGKILL)\n"
        "load(False)\nload(True)\n"
    )
    done = script(tmp_path, text)
    assert done.returncode == -signal.SIGKILL
    run = by_label(tmp_path)["load"]
    assert memory(run).peaks_bytes == (pytest.approx(5 * MB, rel=NEAR),) * 2
    assert NoteCode.PROCESS_ENDED in {note.code for note in run.info.notes}
    assert run.info.calls == 1
    profkit(tmp_path, "report", "load")
    assert not list((tmp_path / ".profkit" / "spool").glob("2*")), "captures are deleted when they are kept"


def test_a_forked_child_goes_on_and_has_its_own_calls(tmp_path: Path) -> None:
    text = (
        "@profkit.profile(mode='memory')\ndef load(size):\n    KEPT.append(hold(size))\n"
        "@profkit.profile(mode='memory')\ndef forking():\n"
        "    KEPT.append(hold(4 * 10**6))\n    pid = os.fork()\n"
        "    if not pid:\n        KEPT.append(hold(50 * 10**6))\n        return 0\n"
        "    os.waitpid(pid, 0)\n    KEPT.append(hold(10**6))\n    return pid\n"
        "pid = forking()\n"
        "if not pid:\n    load(3 * 10**6)\n    print('child', sys.getprofile(), flush=True)\n"
        "else:\n    load(2 * 10**6)\n"
    )
    done = script(tmp_path, text, *WITH_THREADS)
    assert (done.stdout, done.stderr, done.returncode) == ("child None\n", "", 0)
    runs = runs_in(tmp_path)
    assert [memory(run).peaks_bytes for run in runs if run.info.label == "forking"] == [
        (pytest.approx(5 * MB, rel=NEAR),)
    ]
    loads = sorted(memory(run).peak_bytes for run in runs if run.info.label == "load")
    assert loads == [pytest.approx(2 * MB, rel=NEAR), pytest.approx(3 * MB, rel=NEAR)]


def test_a_profile_function_is_not_replaced(tmp_path: Path) -> None:
    text = (
        "seen = []\n@profkit.profile(mode='memory')\ndef load():\n    return 5\n"
        "sys.setprofile(lambda *event: seen.append(1))\nprint(load())\nassert sys.getprofile()\n"
        "sys.setprofile(None)\nprint(load.runs)\n"
    )
    done = script(tmp_path, text)
    assert done.stdout.startswith("5\n"), done.stderr
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("a profile function is set") == 1


def test_a_block_around_a_running_event_loop(tmp_path: Path) -> None:
    text = (
        "import asyncio\nasync def work():\n    await asyncio.sleep(0)\n    KEPT.append(hold(8 * 10**6))\n"
        "async def main():\n    with profkit.profiled('tasks', mode='memory') as block:\n"
        "        await asyncio.gather(work(), work())\n    return block.run\n"
        "print(asyncio.run(main()).info.label)\n"
    )
    done = script(tmp_path, text)
    assert done.stdout == "tasks\n", done.stderr
    run = by_label(tmp_path)["tasks"]
    assert memory(run).peak_bytes == pytest.approx(16 * MB, rel=NEAR)
    assert run.profile is not None
    assert weights(run.profile, total=True)["work"] == pytest.approx(16 * MB, rel=NEAR)


def test_a_sampled_caller_keeps_its_samples(tmp_path: Path) -> None:
    text = (
        "@profkit.profile(mode='memory')\ndef load():\n    KEPT.append(hold(3 * 10**6))\n"
        "@profkit.profile(sampler='none')\ndef main():\n    load()\n"
        "main()\n"
    )
    done = script(tmp_path, text)
    assert done.stderr == ""
    runs = by_label(tmp_path)
    assert runs["main"].info.calls == 1
    assert runs["main"].info.memory is None
    assert memory(runs["load"]).peak_bytes == pytest.approx(3 * MB, rel=NEAR)


def test_a_damaged_capture_is_set_aside(tmp_path: Path) -> None:
    text = (
        "@profkit.profile(mode='memory')\ndef load(size):\n    KEPT.append(hold(size))\n"
        "for size in (10**6, 2 * 10**6, 3 * 10**6):\n    load(size)\n"
    )
    assert script(tmp_path, text).returncode == 0
    (capture,) = (tmp_path / ".profkit" / "spool").glob("2*/segment-001.memray")
    data = bytearray(capture.read_bytes())
    data[: len(data) // 2] = b"\xff" * (len(data) // 2)
    capture.write_bytes(data)
    done = profkit(tmp_path, "report", "load", code=7)
    assert "segment-001.memray cannot be read" in done.stderr
    assert "largest of 2 calls" in done.stdout
    assert list((tmp_path / ".profkit" / "spool" / "damaged").rglob("segment-001.memray*"))


def test_a_capture_that_no_line_names_is_kept(tmp_path: Path) -> None:
    text = "@profkit.profile(mode='memory')\ndef load(size):\n    KEPT.append(hold(size))\nload(5)\nload(6)\n"
    assert script(tmp_path, text).returncode == 0
    (journal,) = (tmp_path / ".profkit" / "spool").glob("2*/captures.jsonl")
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:2]))
    done = profkit(tmp_path, "list")
    assert "no line of captures.jsonl names it" in done.stderr
    assert list((tmp_path / ".profkit" / "spool" / "damaged").rglob("segment-001.memray*"))


def test_without_memray_captures_wait(tmp_path: Path) -> None:
    assert script(tmp_path, "@profkit.profile(mode='memory')\ndef f(): hold(9)\nf()\n").returncode == 0
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "memray.py").write_text("raise ImportError('no memray here')\n")
    path = os.pathsep.join([str(hidden), environ()["PYTHONPATH"]])
    done = run_program(tmp_path, ["-m", "profkit", "list"], environ=environ(PYTHONPATH=path))
    assert "pip install 'profkit[memory]'" in done.stderr
    assert list((tmp_path / ".profkit" / "spool").glob("2*/segment-000.memray"))
    assert "f" in profkit(tmp_path, "list").stdout


def test_a_whole_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sys, profkit\nx = bytearray(9 * 10**6)\ndef make():\n    return bytearray(10**6)\n"
        "y = make()\nprint('out')\nsys.exit(3)\n"
    )
    arguments = ["-m", "profkit", "run", "--mode", "memory", "--label", "whole", "program.py"]
    done = run_program(tmp_path, arguments, environ=environ())
    assert (done.returncode, done.stdout) == (3, "out\n"), done.stderr
    assert "make" in done.stderr
    kept = listed(tmp_path)
    assert [(run["label"], run["mode"], run["kind"]) for run in kept] == [("whole", "memory", "program")]
    assert kept[0]["memory"]["peak_bytes"] >= 10 * MB
    wrong = run_program(tmp_path, ["-m", "profkit", "run", "--mode", "memory", "--rate", "5", "x.py"])
    assert wrong.returncode == 2
    assert "--rate does not apply to --mode memory" in wrong.stderr


LOADS = (
    "@profkit.profile(mode='memory')\ndef load(size):\n    return hold(size)\n"
    "def fast():\n    return sum(range(10**6))\n"
    "KEPT.append(load(int(sys.argv[1]) * 10**6))\n"
)


@pytest.fixture
def two_versions(tmp_path: Path) -> tuple[str, str]:
    """Ids of two runs, of a call that allocates 40 MB and one that allocates 60 MB."""
    for size in ("40", "60"):
        assert script(tmp_path, LOADS.replace("sys.argv[1]", repr(size))).returncode == 0
    newest, oldest = listed(tmp_path)
    return oldest["id"], newest["id"]


def test_bytes_are_compared_with_bytes_only(tmp_path: Path, two_versions: tuple[str, str]) -> None:
    a, b = two_versions
    found = json.loads(profkit(tmp_path, "compare", a, b, "--json").stdout)
    assert found["mode"] == "memory"
    assert found["figures"]["peak"]["change"] == "more"
    assert found["figures"]["peak"]["ratio"] == pytest.approx(1.5, rel=NEAR)
    changed = {function["name"]: function["self"]["difference"] for function in found["functions"]}
    assert changed["hold"] == pytest.approx(20 * MB, rel=NEAR)
    for format in ("text", "markdown", "html"):
        out = tmp_path / f"compared.{format}"
        profkit(tmp_path, "compare", a, b, "--format", format, "-o", str(out))
        assert "19.1 MiB" in out.read_text("utf-8") or format == "html"

    sampled = "@profkit.profile(sampler='none', label='s')\ndef f(): pass\nf()\n"
    assert script(tmp_path, sampled).returncode == 0
    done = profkit(tmp_path, "compare", a, "s", code=2)
    assert "compare bytes with bytes" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_gate_on_the_peak(tmp_path: Path, two_versions: tuple[str, str]) -> None:
    a, b = two_versions

    def gate(run: str, baseline: str, *more: str) -> subprocess.CompletedProcess[str]:
        arguments = ["-m", "profkit", "gate", run, "--baseline", baseline, *more]
        return run_program(tmp_path, arguments, environ=environ())

    assert gate(b, a).returncode == 1
    assert gate(a, b).returncode == 0
    assert gate(a, b, "--fail-if-faster").returncode == 1
    assert gate(b, a, "--max-slowdown", "60%").returncode == 0
    assert "a peak 50 % higher; the limit is 3 %" in gate(b, a).stdout


def test_files_for_other_tools(tmp_path: Path, two_versions: tuple[str, str]) -> None:
    newest = two_versions[1]
    profkit(tmp_path, "export", newest, "-o", "run.speedscope.json")
    written = json.loads((tmp_path / "run.speedscope.json").read_text())
    assert written["profiles"][0]["unit"] == "bytes"
    assert sum(written["profiles"][0]["weights"]) == pytest.approx(60 * MB, rel=NEAR)
    collapsed = profkit(tmp_path, "export", newest, "--format", "collapsed", "--value", "allocations").stdout
    assert sum(int(line.rpartition(" ")[2]) for line in collapsed.splitlines()) < 20
    profkit(tmp_path, "export", newest, "-o", "whole.profkit.json", "--scrub")
    profkit(tmp_path, "rm", newest)
    profkit(tmp_path, "import", "whole.profkit.json")
    report = json.loads(profkit(tmp_path, "report", newest, "--json", "--value", "left").stdout)
    assert (report["value"], report["unit"]) == ("left", "bytes")
    assert report["run"]["memory"]["peak_bytes"] == pytest.approx(60 * MB, rel=NEAR)


@pytest.mark.go
def test_go_reads_all_values(tmp_path: Path, two_versions: tuple[str, str]) -> None:
    profkit(tmp_path, "export", two_versions[1], "-o", "run.pb.gz")
    for index, word in (("inuse_space", "MB"), ("alloc_space", "MB"), ("alloc_objects", "")):
        command = ["go", "tool", "pprof", "-top", f"-sample_index={index}", "run.pb.gz"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
        assert "hold" in done.stdout
        assert f"Type: {index}" in done.stdout
        assert word in done.stdout


def test_a_page_has_every_value(tmp_path: Path, two_versions: tuple[str, str]) -> None:
    profkit(tmp_path, "report", two_versions[0], "-o", "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    for title in ("memory at the peak", "allocated bytes", "allocations", "memory left"):
        assert f"load: {title}" in page


def test_thousands_of_calls_become_several_runs(tmp_path: Path) -> None:
    text = (
        "from profkit.session import memory\nmemory.MOST_CAPTURES = 3\n"
        "@profkit.profile(mode='memory')\ndef load(size):\n    return hold(size)\n"
        "for number in range(7):\n    load(10**6)\n"
    )
    assert script(tmp_path, text).returncode == 0
    assert [len(memory(run).peaks_bytes) for run in runs_in(tmp_path)] == [3, 3, 1]


def test_every_nth_call_and_the_callback(tmp_path: Path) -> None:
    text = (
        "def told(run):\n    print(len(run.info.memory.peaks_bytes), flush=True)\n"
        "@profkit.profile(mode='memory', every=3, on_run=told)\ndef load():\n    hold(10**6)\n"
        "for number in range(7):\n    load()\n"
    )
    done = script(tmp_path, text)
    assert done.stdout == "3\n", done.stderr
    assert by_label(tmp_path)["load"].info.skipped == 4


def test_methods_and_exceptions_of_signals(tmp_path: Path) -> None:
    text = (
        "import signal\nclass Model:\n    @profkit.profile(mode='memory')\n    def fit(self, size):\n"
        "        self.data = hold(size)\n        return self\n"
        "    @classmethod\n    @profkit.profile(mode='memory')\n"
        "    def make(cls):\n        return cls().fit(5)\n"
        "def handler(*_): raise TimeoutError('late')\nsignal.signal(signal.SIGALRM, handler)\n"
        "@profkit.profile(mode='memory')\ndef endless():\n    signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "    while True: pass\n"
        "try:\n    endless()\nexcept TimeoutError as error:\n    print(error)\n"
        "print(type(Model().fit(10**6)).__name__, type(Model.make()).__name__)\n"
    )
    done = script(tmp_path, text)
    assert done.stdout == "late\nModel Model\n", done.stderr
    runs = by_label(tmp_path)
    assert memory(runs["Model.fit"]).peak_bytes == pytest.approx(MB, rel=NEAR)
    assert runs["endless"].info.raised == 1


def test_the_import_of_profkit_and_samples_load_no_memray(tmp_path: Path) -> None:
    text = (
        "@profkit.profile(sampler='none')\ndef f(): pass\nf()\n"
        "@profkit.profile(mode='memory')\ndef g(): pass\n"
        "print([name for name in sys.modules if 'memray' in name and not name.startswith('profkit')])\n"
        "g()\nprint('memray' in sys.modules)\n"
    )
    assert script(tmp_path, text).stdout == "[]\nTrue\n"
    code = "import sys, profkit; profkit.profile(mode='memory')(lambda: 0); print('memray' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def test_a_call_after_an_interrupted_one_is_tracked(tmp_path: Path) -> None:
    done = run_program(tmp_path, program("interrupted_tracking.py"), environ=environ(), code=0)
    found = json.loads(done.stdout)
    assert found["problems"] == []
    assert found["places"] > 50
