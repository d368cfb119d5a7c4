"""`profkit export` and `profkit import`: formats, files, what is refused, whole runs there and back."""

from __future__ import annotations

import gzip
import io
import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings

from profkit.cli.files import runs_of_file
from profkit.config import Config
from profkit.errors import DamagedFile, UsageError
from profkit.formats.registry import FORMATS
from profkit.model.measurement import AnyRun
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Profile
from profkit.model.run import Imported, Run
from profkit.store.run_files import decode_runs, encode_runs
from profkit.store.runs import open_store
from profkit.units import Unit
from tests.support.call_traces import FUNCTIONS, Call, statistics_of
from tests.support.cli_runs import Profkit, keep
from tests.support.example_measured_runs import counted_run, measured_run, timed_run
from tests.support.example_measurements import COUNTS, PYTHON_COUNTS
from tests.support.example_runs import made_profile, made_run
from tests.support.folders import SAMPLES
from tests.support.profile_strategies import profiles
from tests.unit.formats.pprof.pprof_messages import PprofProfile

FOLDED = b"main (a.py:1);f (a.py:2) 30\nmain (a.py:1) 10\n"
MEMORY = b"# mode: memory\nP1;T0:2;a.py:f:1 4096\n"


def kept(config: Config, run_id: str) -> AnyRun:
    with open_store(config.store_url) as store:
        return store.load(run_id)


@pytest.mark.parametrize("name", ["x.profkit.json", "x.profkit.json.gz"])
@pytest.mark.parametrize("run", [made_run(), measured_run()], ids=["sampled", "measured"])
def test_a_whole_run_comes_back_as_it_was(
    run: AnyRun, name: str, profkit: Profkit, config: Config, tmp_path: Path
) -> None:
    keep(config, run)
    file = str(tmp_path / name)
    assert profkit("export", run.info.id, "-o", file).code == 0
    assert profkit("rm", run.info.id).code == 0
    said = profkit("import", file, "--json")
    assert (said.code, said.err) == (0, "")
    assert kept(config, run.info.id) == run
    assert runs_of_file(file) == (run,)


@settings(max_examples=20)
@given(profiles())
def test_a_document_loses_nothing_of_a_profile(profile: Profile) -> None:
    run = replace(made_run(notes=(Note.of(NoteCode.RUN_FAILED, detail="a\udc80"),)), profile=profile)
    assert decode_runs(encode_runs([run]), Path("x")) == (run,)


@pytest.mark.parametrize(
    "broken",
    [
        b"{}",
        b"[1]",
        b'{"schema": "profkit.runs-file/2", "runs": []}',
        b'{"schema": "profkit.runs-file/1", "runs": [{}]}',
        b'{"schema": "profkit.runs-file/1", "runs": 3}',
        encode_runs([made_run()]).replace(b'"profile": "', b'"profile": "?'),
        encode_runs([made_run()]).replace(b'"samples": 291', b'"samples": "x"'),
        encode_runs([made_run()])[:-10],
    ],
)
def test_a_damaged_document_is_named(broken: bytes) -> None:
    with pytest.raises(DamagedFile, match=r"b\.json"):
        decode_runs(broken, Path("b.json"))


def test_a_foreign_profile_is_kept_once(profkit: Profkit, config: Config, tmp_path: Path) -> None:
    file = tmp_path / "night.folded"
    file.write_bytes(FOLDED)
    os.utime(file, ns=(10**18, 10**18))
    (tmp_path / "copy.gz").write_bytes(gzip.compress(FOLDED[:20]) + gzip.compress(FOLDED[20:]))
    first = profkit("import", str(file))
    assert "night" in first.out
    assert "do not contain the time between samples" in first.err
    again = profkit("import", str(tmp_path / "copy.gz"), "--label", "other")
    assert "(night) is already stored; to change its label" in again.err
    (run,) = runs_of_file(file)
    assert isinstance(run, Run)
    found = kept(config, run.info.id)
    assert found == run
    assert (run.info.label, run.info.samples, run.info.started_ns) == ("night", 40, 10**18)
    assert run.info.imported == Imported("collapsed", "", str(file), Unit.SAMPLES, 40)


def test_another_value_of_a_file_is_another_run(profkit: Profkit) -> None:
    file = str(SAMPLES / "memray.speedscope.json")
    first, other = profkit("import", file), profkit("import", file, "--value", "Allocations", "--label", "n")
    assert "Memory is kept. `profkit import --value` imports another: Allocations." in first.err
    assert "Allocations is kept" in other.err
    assert "already stored" in profkit("import", file, "--value", "Memory").err
    assert "1.04 MiB" in profkit("report", "memray").out
    assert "51" in profkit("report", "n").out
    said = profkit("import", file, "--value", "Bytes")
    assert (said.code, said.out) == (2, "")
    assert "no value 'Bytes'; give one of these with --value: Memory, Allocations" in said.err


def test_a_file_with_one_value_takes_only_its_name(profkit: Profkit, tmp_path: Path) -> None:
    (file := tmp_path / "x.folded").write_bytes(FOLDED)
    said = profkit("import", str(file), "--value", "bytes")
    assert (said.code, said.out) == (2, "")
    assert "x.folded has no value 'bytes'; its only value is samples: leave out --value" in said.err
    assert profkit("import", str(file), "--value", "samples").code == 0
    assert "already stored" in profkit("import", str(file)).err
    whole = tmp_path / "x.profkit.json"
    whole.write_bytes(encode_runs([made_run()]))
    assert "one value each; leave out --value" in profkit("import", str(whole), "--value", "samples").err


def test_what_was_removed_can_be_imported_again(profkit: Profkit, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(FOLDED)
    for _ in range(2):
        assert "kept already" not in profkit("import", str(file)).err
        assert profkit("rm", "a").code == 0


def test_nothing_is_kept_unless_every_file_can_be_read(profkit: Profkit, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_bytes(FOLDED)
    bad.write_bytes(b"Dear reader\n")
    said = profkit("import", str(good), str(bad))
    assert (said.code, said.out) == (2, "")
    assert "is not known; give one with --format: profkit, pprof, " in said.err
    assert profkit("list").code == 6


def test_reports_of_imported_runs_say_where_they_come_from(profkit: Profkit, tmp_path: Path) -> None:
    file = tmp_path / "m.austin"
    file.write_bytes(MEMORY)
    listed = profkit("import", str(file))
    assert "4.00 KiB" in listed.out
    text = profkit("report", "m").out
    for word in (
        "imported",
        "format austin",
        "m.austin",
        "4.00 KiB",
        "Freed memory is left out",
        "by self bytes",
    ):
        assert word in text
    assert " time " not in text
    for absent in ("calls", "sampler", "session"):
        assert f"{absent}  " not in text
    assert "format austin" in profkit("report", "m", "--format", "markdown").out
    run = profkit("report", "m", "--json").json()["run"]
    assert isinstance(run, dict)
    assert run["imported"] == {
        "format": "austin", "tool": "austin", "file": str(file), "unit": "bytes", "total": 4096,
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name, known in FORMATS.items() if known.encode and known.decode])
def test_what_is_exported_is_recognized_and_read(
    name: str, profkit: Profkit, config: Config, tmp_path: Path
) -> None:
    keep(config, made_run())
    file = tmp_path / f"x{FORMATS[name].endings[0]}"
    said = profkit("export", "train_step", "-o", str(file))
    assert (said.code, said.out) == (0, "")
    (run,) = runs_of_file(file)
    assert isinstance(run, Run)
    assert run.info.imported is not None
    assert (run.info.imported.format, run.info.label) == (name, "x")
    assert run.profile is not None
    if run.profile.unit is Unit.SAMPLES:
        assert run.profile.total_weight == 291
    else:
        assert run.profile.total_weight == pytest.approx(291 * made_profile().period_ns)
    assert (f"{name} does not keep" in said.err) == bool(FORMATS[name].loses)


def test_totals_of_a_call_graph_stay_through_the_store_and_files(profkit: Profkit, tmp_path: Path) -> None:
    inner = Call(FUNCTIONS[0], 3000, (Call(FUNCTIONS[4], 4000),))
    (tmp_path / "x.prof").write_bytes(
        statistics_of([Call(FUNCTIONS[0], 1000, (Call(FUNCTIONS[4], 2000, (inner,)),))])
    )
    profkit("import", str(tmp_path / "x.prof"))
    whole = tmp_path / "x.profkit.json"
    assert "does not keep" not in profkit("export", "x", "-o", str(whole)).err
    assert "does not keep" not in profkit("export", "x", "-o", str(tmp_path / "y.pb.gz")).err
    assert "does not keep the exact totals" in profkit("export", "x", "-o", str(tmp_path / "y.folded")).err
    reports = [profkit("report", "x", "--json").json()]
    profkit("rm", "x")
    for file in (whole, tmp_path / "y.pb.gz"):
        profkit("import", str(file))
        reports.append(profkit("report", file.name.partition(".")[0], "--json").json())
    assert "The profile is of a call graph" in profkit("report", "y").out
    for report in reports:
        functions = report["functions"]
        assert isinstance(functions, list)
        assert {row["name"]: row["total_samples"] for row in functions} == {"main": 10_000, "find": 9_000}


@pytest.mark.parametrize("run", [made_run(), counted_run()], ids=["sampled", "counted"])
def test_a_pprof_file_has_the_time_of_the_run(
    run: AnyRun, profkit: Profkit, config: Config, tmp_path: Path
) -> None:
    keep(config, run)
    file = tmp_path / "x.pb.gz"
    assert profkit("export", run.info.id, "-o", str(file)).code == 0
    message = PprofProfile.FromString(gzip.decompress(file.read_bytes()))
    duration_s = run.info.session_s if isinstance(run, Run) else run.info.duration_s
    assert duration_s > 0
    assert message.duration_nanos == round(duration_s * 1e9)
    assert message.time_nanos == run.info.started_ns
    (again,) = runs_of_file(file)
    assert again.info.started_ns == run.info.started_ns


def test_files_are_written_where_their_names_lead(profkit: Profkit, config: Config, tmp_path: Path) -> None:
    keep(config, made_run())
    loop, link, target = tmp_path / "loop.folded", tmp_path / "link.folded", tmp_path / "target"
    loop.symlink_to("loop.folded")
    link.symlink_to("target")
    for file in (loop, link, tmp_path / "LOUD.FOLDED"):
        assert profkit("export", "-o", str(file)).code == 0
        assert file.read_bytes().startswith(b"thread (4242): MainThread;")
    assert link.is_symlink()
    assert target.exists()


def test_export_to_stdout(profkit: Profkit, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(config, made_run())
    out = profkit("export", "--format", "collapsed").out
    assert out.splitlines()[0].endswith(" 118")
    assert (
        json.loads(profkit("export", "--format", "profkit", "-o", "-").out)["schema"] == "profkit.runs-file/1"
    )
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    said = profkit("export", "--format", "pprof")
    assert said.code == 2
    assert "pprof is a binary format, and stdout is a terminal" in said.err


def test_python_functions_of_a_counted_run_are_exported(profkit: Profkit, config: Config) -> None:
    run = counted_run()
    assert run.measurement is not None
    counts = replace(COUNTS, python=PYTHON_COUNTS)
    keep(config, replace(run, measurement=replace(run.measurement, instructions=counts)))
    out = profkit("export", "--format", "collapsed").out
    assert "Model.fit (/home/u/app.py:12) 4000\n" in out
    native = profkit("export", "--format", "collapsed", "--native-functions").out
    assert native != out
    assert "Model.fit" not in native


@pytest.mark.parametrize("format_name", ["collapsed", "profkit"])
def test_native_functions_need_a_run_that_has_both(
    format_name: str, profkit: Profkit, config: Config
) -> None:
    keep(config, made_run() if format_name == "collapsed" else counted_run())
    said = profkit("export", "--format", format_name, "--native-functions")
    assert said.code == 2
    assert "--native-functions needs a run with counts by Python function" in said.err


def test_import_of_stdin(profkit: Profkit, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FOLDED)))
    said = profkit("import", "-", "--json")
    (listed,) = said.json()["imported"]  # type: ignore[misc]
    assert (listed["label"], listed["imported"]["file"]) == ("stdin", "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["export"], "the format is not given"),
        (["export", "-o", "x.jpg"], "x.jpg has none of the endings"),
        (["export", "--format", "pprof", "-o", "/proc/none/x.pb.gz"], "cannot be written"),
        (["export", "--format", "nonsense"], "nonsense"),
        (["import", "/nonexistent/x.txt"], "No such file"),
        (["import", "/"], "directory"),
        (["import", "x.txt", "--format", "nonsense"], "nonsense"),
        (["import"], "missing argument 'FILE...'; see `profkit import --help`"),
        (["import", "/dev/null"], "/dev/null is empty"),
    ],
)
def test_wrong_use(arguments: list[str], problem: str, profkit: Profkit, config: Config) -> None:
    keep(config, made_run())
    said = profkit(*arguments)
    assert said.code == 2
    assert problem in said.err
    assert said.err.startswith("profkit: error: ")
    assert said.err.count("\n") == 1


def test_a_label_is_not_given_to_runs_that_have_one(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(encode_runs([made_run()]))
    with pytest.raises(UsageError, match="--label"):
        runs_of_file(file, label="x")
    with pytest.raises(DamagedFile):
        runs_of_file(file, format="pprof")


@pytest.mark.parametrize("name", ["speedscope", "firefox", "chrome-trace", "pyinstrument", "profkit"])
@pytest.mark.parametrize("content", [b"\n", b'{"a": [', b"\xff\xfe\x00\x01garbage"])
def test_what_is_no_json_is_reported_so(name: str, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"x cannot be read: it is not JSON.*; leave out --format"):
        runs_of_file(file, format=name)


@pytest.mark.parametrize("weight", ["1e308", "1e299", "9e18"])
def test_times_beyond_centuries_are_refused(weight: str, profkit: Profkit, tmp_path: Path) -> None:
    file = tmp_path / "x.speedscope.json"
    file.write_text(
        '{"$schema": "https://www.speedscope.app/file-format-schema.json",'
        ' "shared": {"frames": [{"name": "f"}]},'
        ' "profiles": [{"type": "sampled", "name": "t", "unit": "seconds", "startValue": 0, "endValue": 1,'
        f' "samples": [[0], [0]], "weights": [{weight}, {weight}]}}]}}'
    )
    said = profkit("import", str(file))
    assert (said.code, said.out) == (7, "")
    assert "the largest of profiles[0].weights is " in said.err
    assert "more than 64 bits" in said.err


def test_a_compressed_file_that_is_cut_short(tmp_path: Path) -> None:
    file = tmp_path / "x.gz"
    file.write_bytes(gzip.compress(FOLDED * 9)[:-12])
    with pytest.raises(DamagedFile, match="cut short; export it again"):
        runs_of_file(file)


def test_what_was_measured(profkit: Profkit, config: Config) -> None:
    keep(config, timed_run(id="aa"), counted_run(id="bb"))
    said = profkit("export", "aa", "--format", "collapsed")
    assert said.code == 2
    assert "times but no stacks" in said.err
    counted = profkit("export", "bb", "--format", "collapsed").out
    total = math.fsum(function.exclusive for function in COUNTS.functions)
    assert sum(int(line.rpartition(" ")[2]) for line in counted.splitlines()) == math.floor(total + 0.5)


def test_runs_that_were_measured_together_are_one_document(profkit: Profkit, config: Config) -> None:
    runs = timed_run(id="aa"), counted_run(id="bb")
    keep(config, *runs)
    said = profkit("export", "--format", "profkit")
    assert sorted(run.info.id for run in decode_runs(said.out.encode(), Path("x"))) == ["aa", "bb"]
    said = profkit("export", "--format", "collapsed")
    assert said.code == 2
    assert "2 runs were measured together" in said.err
