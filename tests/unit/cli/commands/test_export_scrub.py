"""`profkit export --scrub`: no format keeps a path, a host, a user, an argument or a variable."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.cli.exports import EXPORTS
from profkit.cli.scrubbing import scrubbed
from profkit.config import Config
from profkit.formats.parquet import PARQUET
from profkit.model.function_counts import CallCount, PythonCounts, PythonFunctionCount
from profkit.model.measurement import AnyRun, MeasuredRun
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run
from profkit.store.records import to_json
from profkit.store.run_files import decode_runs
from tests.support.cli_runs import Profkit, keep
from tests.support.example_measurements import COUNTS, measured, timing
from tests.support.example_runs import PROCESS, made_run

USER, HOST, FOLDER = "ottilie", "node-4711.example.org", "/home/ottilie/geheim/vision"
PRIVATE = (
    USER, "node-4711", "geheim", "/home", "--data=", "hunter2", "MY_VARIABLE", "remote.example.org",
    "/opt/conda", "/srv/private", "child.py",
)  # fmt: skip
"""None of this may be in what was scrubbed."""


def private_run() -> Run:
    builder = ProfileBuilder()
    for name, file in (
        ("train", f"{FOLDER}/train.py"),
        ("forward", "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py"),
        ("helper", "/srv/private/tools/helper.py"),
        ("helper", "/srv/private/other/helper.py"),
        ("dumps", "/usr/lib/python3.11/json/__init__.py"),
        ("python child.py [pid 12]", f"<process 12: python {FOLDER}/child.py --token hunter2>"),
        (f"<module> {FOLDER}/train.py", "<string>"),
        ("sgemm", "/srv/private/lib/libblas.so.3"),
    ):
        builder.add(
            (Frame("main", f"{FOLDER}/main.py", 3), Frame(name, file, 7)), Thread(1, 2, f"{USER}-worker")
        )
    region = Region(
        RegionKey("train", "train", 42, "train_step"), RegionKind.FUNCTION, f"{FOLDER}/train.py",
        expected=("train", f"{FOLDER}/train.py"), user=USER, env=(("MY_VARIABLE", "hunter2"),),
        tags=(f"host:{HOST}",),
    )  # fmt: skip
    process = replace(
        PROCESS,
        host=HOST,
        cwd=FOLDER,
        argv=("python", f"{FOLDER}/train.py", "--data=hunter2"),
        seal="ab" * 16,
    )
    run = made_run()
    note = Note.of(NoteCode.RUN_FAILED, detail=f"the spool {FOLDER}/.profkit/spool is full on {HOST}")
    info = replace(
        run.info, region=region, process=process, links=(("all", f"https://remote.example.org/?user={USER}"),),
        notes=(note,), error=f"cannot read {FOLDER}/x.py",
    )  # fmt: skip
    return replace(run, info=info, profile=builder.build(period_ns=1e7))


def private_measured() -> MeasuredRun:
    run = measured(timing([[2e-6]]), COUNTS)
    assert run.measurement is not None
    order = replace(
        run.info.order, file=f"{FOLDER}/work.py", source_cmd=("env", f"{FOLDER}/bin"), python=f"{FOLDER}/p",
        env=(("MY_VARIABLE", "hunter2"),), setup=f"open('{FOLDER}/data.txt')",
    )  # fmt: skip
    counts = run.measurement.instructions
    assert counts is not None
    functions = tuple(
        replace(one, name=f"/srv/private/src/x{n}.c:f{n}", object="/srv/private/lib/libx.so")
        for n, one in enumerate(counts.functions)
    )
    python = PythonCounts(
        functions=(
            PythonFunctionCount("train", f"{FOLDER}/train.py", 3, 9.0, 10.0, 1.0),
            PythonFunctionCount("helper", "/srv/private/tools/helper.py", 5, 1.0, 1.0, 2.0),
        ),
        calls=(CallCount(f"{FOLDER}/train.py:train", "/srv/private/tools/helper.py:helper", 2.0, 1.0),),
        net=10.0,
    )
    counts = replace(counts, functions=functions, calls=(), python=python)
    numbers = replace(run.measurement, order=order, instructions=counts)
    process = replace(PROCESS, host=HOST, cwd=FOLDER, argv=("profkit", "--data=hunter2"), seal="ab" * 16)
    info = replace(run.info, order=order, process=process, error=f'File "{FOLDER}/work.py", line 3')
    return MeasuredRun(info, numbers)


def everything_in(data: bytes) -> str:
    """All text of a file, what is compressed inside it too."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if data.startswith(b"PAR1"):
        from pyarrow import BufferReader, parquet

        return str(parquet.read_table(BufferReader(data)).to_pylist())
    text = data.decode("utf-8", "replace")
    if text.startswith('{"schema": "profkit.runs-file/1"'):
        runs = decode_runs(data, Path("x"))
        text += "".join(json.dumps(to_json(run), default=sorted) for run in runs)
    return text


@pytest.mark.parametrize("name", [*EXPORTS, pytest.param(PARQUET, marks=pytest.mark.neighbours)])
def test_no_format_keeps_what_is_private(profkit: Profkit, config: Config, tmp_path: Path, name: str) -> None:
    keep(config, private_run())
    plain, clean = tmp_path / "plain", tmp_path / "clean"
    assert profkit("export", "--format", name, "-o", str(plain)).code == 0
    assert profkit("export", "--format", name, "-o", str(clean), "--scrub").code == 0
    before, after = everything_in(plain.read_bytes()), everything_in(clean.read_bytes())
    assert any(word in before for word in PRIVATE)
    assert [word for word in PRIVATE if word in after] == []
    assert "train" in after


@pytest.mark.parametrize("name", ["profkit", "pprof"])
def test_a_measured_run(profkit: Profkit, config: Config, tmp_path: Path, name: str) -> None:
    keep(config, private_measured())
    clean = tmp_path / "clean"
    assert profkit("export", "--format", name, "-o", str(clean), "--scrub").code == 0
    assert [word for word in PRIVATE if word in everything_in(clean.read_bytes())] == []


def test_python_functions_still_call_each_other() -> None:
    (clean,) = scrubbed([private_measured()])
    assert isinstance(clean, MeasuredRun)
    assert clean.measurement is not None
    counts = clean.measurement.instructions
    assert counts is not None
    assert counts.python is not None
    assert [row.key for row in counts.python.functions] == ["train.py:train", "helper.py:helper"]
    assert [(call.caller, call.callee) for call in counts.python.calls] == [
        ("train.py:train", "helper.py:helper")
    ]


def test_files_are_named_as_their_code_is_imported() -> None:
    (run,) = scrubbed([private_run()])
    assert isinstance(run, Run)
    assert run.profile is not None
    assert [frame.file for frame in run.profile.frames] == [
        "main.py", "train.py", "torch/nn/modules/module.py", "helper.py", "2/helper.py", "json/__init__.py",
        "<process 12>", "<string>", "libblas.so.3",
    ]  # fmt: skip
    assert run.info.region.expected == ("train", "train.py")
    assert (run.info.process.host, run.info.process.cwd, run.info.process.argv) == ("", "", ())


def test_numbers_stay() -> None:
    run = private_run()
    (clean,) = scrubbed([run])
    assert isinstance(clean, Run)
    assert clean.profile is not None
    assert run.profile is not None
    assert (clean.profile.samples, clean.profile.stacks) == (run.profile.samples, run.profile.stacks)
    assert clean.info.durations == run.info.durations
    assert clean.info.id == run.info.id


NAMES = st.text("abcdefgh_", min_size=3, max_size=8)


@given(NAMES, NAMES, NAMES, st.lists(NAMES, min_size=1, max_size=4))
def test_no_folder_is_left_of_any_path(user: str, host: str, secret: str, parts: list[str]) -> None:
    folder = f"/home/{user}_x/{secret}_y"
    file = f"{folder}/{'/'.join(parts)}.py"
    builder = ProfileBuilder()
    builder.add(
        (Frame("f", file, 1), Frame("g", f"/elsewhere/{secret}_y/{parts[-1]}.py", 1)), Thread(1, 1, "t")
    )
    run = made_run()
    process = replace(PROCESS, cwd=folder, host=f"{host}_z", argv=(file,))
    region = replace(run.info.region, file=file, expected=("f", file))
    note = Note.of(NoteCode.RUN_FAILED, detail=f"see {file} on {host}_z")
    info = replace(run.info, process=process, region=region, notes=(note,))
    clean: tuple[AnyRun, ...] = scrubbed([replace(run, info=info, profile=builder.build())])
    text = json.dumps(to_json(clean), default=sorted)
    assert f"{user}_x" not in text
    assert f"{secret}_y" not in text
    assert f"{host}_z" not in text


def test_the_route_of_requests_is_no_path() -> None:
    label = "GET /api/users/{name}"
    run = made_run()
    region = replace(run.info.region, key=RegionKey("web", label, 0, label), kind=RegionKind.REQUEST, file="")
    (shared,) = scrubbed((replace(run, info=replace(run.info, region=region)),))
    assert isinstance(shared, Run)
    assert shared.info.label == label
    (other,) = scrubbed(
        (replace(run, info=replace(run.info, region=replace(region, kind=RegionKind.BLOCK))),)
    )
    assert isinstance(other, Run)
    assert "/api" not in other.info.label
