"""Samples as a Parquet table, as DuckDB and pandas read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from profkit.formats import parquet as module
from profkit.formats.parquet import parquet_parts
from profkit.model.profile import Column, Frame, Profile, ProfileBuilder, Thread, ThreadState, Value
from profkit.model.run import RunInfo
from profkit.model.session import Member
from profkit.units import Unit
from tests.support.example_runs import INFO, made_run
from tests.support.folders import ROOT

if TYPE_CHECKING:
    import pandas as pd

pytestmark = pytest.mark.neighbours

GUIDE = (ROOT / "docs" / "guides" / "many-workers.md").read_text("utf-8")
QUERIES = re.findall(r"^```sql\n(.*?)^```\n\n```text\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
MAIN, STEP, AUGMENT, REDUCE = (
    Frame(name, "/home/ada/train.py", line)
    for name, line in (("<module>", 9), ("step", 5), ("augment", 3), ("all_reduce", 7))
)


def of_rank(rank: int) -> tuple[RunInfo, Profile]:
    """A rank that works for 3 s in augment, if it is rank 1, else for 1 s, and waits for the others."""
    builder = ProfileBuilder()
    working = 30 if rank == 1 else 10
    stack = (MAIN, STEP, AUGMENT)
    builder.add(stack, Thread(7, 8, "MainThread"), working, state=ThreadState.WORKING)
    builder.add((MAIN, REDUCE), Thread(7, 8, "MainThread"), 31 - working, state=ThreadState.WAITING)
    builder.add(stack, Thread(7, 9, "other"), 1, state=ThreadState.WORKING)
    builder.add(stack, Thread(7, 8, "MainThread"), 2, state=ThreadState.WORKING)
    process = replace(INFO.process, member=Member("resnet", rank, rank, 2), host=f"node-{rank}")
    info = replace(INFO, id=f"a{rank}", process=process)
    return info, builder.build(period_ns=1e8)


def written(path: Path, *runs: tuple[RunInfo, Profile]) -> pd.DataFrame:
    import pandas as pd

    path.write_bytes(b"".join(parquet_parts(runs)))
    return pd.read_parquet(path)


def test_a_row_has_the_sum_of_a_stack_of_a_thread(tmp_path: Path) -> None:
    rows = written(tmp_path / "x.parquet", of_rank(0), of_rank(1))
    assert len(rows) == 6
    first = rows.iloc[0]
    assert (first["run"], first["label"], first["job"], first["rank"]) == ("a0", "train_step", "resnet", 0)
    assert (first["host"], first["pid"], first["tid"], first["thread"]) == ("node-0", 7, 8, "MainThread")
    assert (first["samples"], first["state"], first["started"].value) == (12, "working", INFO.started_ns)
    assert first["seconds"] == pytest.approx(1.2)
    assert (first["function"], first["file"], first["line"]) == ("augment", "/home/ada/train.py", 3)
    assert [(frame["function"], frame["line"]) for frame in first["stack"]] == [
        ("<module>", 9), ("step", 5), ("augment", 3),
    ]  # fmt: skip
    by_rank = rows.groupby("rank")["samples"].sum()
    assert list(by_rank) == [34, 34]
    nothing = ["worker", "instructions", "bytes", "allocations", "peak_bytes", "first_s", "last_s"]
    assert rows[nothing].isna().all(axis=None)


def test_times_are_those_of_the_first_and_the_last_sample(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    for start, weight in ((0, 1), (10, 2), (20, 5)):
        builder.add_indexed((builder.frame(STEP),), builder.thread(Thread(1, 1, "")), weight, start)
    rows = written(tmp_path / "x.parquet", (INFO, builder.build(period_ns=1e9)))
    assert rows[["first_s", "last_s", "seconds"]].to_numpy().tolist() == [[0.0, 25.0, 8.0]]


def test_memory_has_a_column_for_each_value(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    builder.add((STEP,), Thread(1, 1, "main"), 100)
    profile = replace(builder.build(unit=Unit.BYTES), value=Value.PEAK)
    others = [Column(value, (number,)) for number, value in enumerate(list(Value)[1:], 1)]
    rows = written(tmp_path / "x.parquet", (INFO, replace(profile, columns=tuple(others))))
    columns = ["peak_bytes", "allocated_bytes", "allocations", "left_bytes"]
    assert rows[columns].to_numpy().tolist() == [[100, 1, 2, 3]]
    assert rows[["seconds", "samples", "bytes"]].isna().all(axis=None)


@pytest.mark.parametrize(("unit", "column"), [(Unit.INSTRUCTIONS, "instructions"), (Unit.BYTES, "bytes")])
def test_other_units(tmp_path: Path, unit: Unit, column: str) -> None:
    builder = ProfileBuilder()
    builder.add((), Thread(0, 0, "\udc80"), 2**40)
    rows = written(tmp_path / "x.parquet", (INFO, builder.build(unit=unit)))
    assert rows[column].tolist() == [2**40]
    assert rows["thread"].tolist() == ["\\udc80"]
    assert rows[["seconds", "function", "line", "pid"]].isna().all(axis=None)
    assert [len(stack) for stack in rows["stack"]] == [0]


def test_times_of_imported_runs_are_seconds(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    builder.add((STEP,), Thread(1, 1, "main"), 1_500_000_000)
    rows = written(tmp_path / "x.parquet", (INFO, builder.build(unit=Unit.NANOSECONDS)))
    assert rows["seconds"].tolist() == [1.5]
    assert rows["samples"].isna().all()


def test_runs_are_read_when_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import parquet

    monkeypatch.setattr(module, "_MOST_FRAMES", 10)
    read: list[int] = []

    def runs() -> Sequence[tuple[RunInfo, Profile]]:
        for rank in range(6):
            read.append(rank)
            yield of_rank(rank)

    parts = parquet_parts(runs())  # type: ignore[arg-type]
    next(parts)
    assert len(read) <= 2, "the others are read when this was taken"
    path = tmp_path / "x.parquet"
    path.write_bytes(b"".join(parquet_parts(of_rank(rank) for rank in range(6))))
    table = parquet.ParquetFile(path)
    assert table.metadata.num_rows == 18
    assert table.num_row_groups == 3
    assert sorted(set(table.read()["rank"].to_pylist())) == list(range(6))


def test_no_runs_are_an_empty_table(tmp_path: Path) -> None:
    assert len(written(tmp_path / "x.parquet")) == 0
    assert len(written(tmp_path / "x.parquet", (INFO, Profile()))) == 0


def test_an_ordinary_run(tmp_path: Path) -> None:
    run = made_run()
    assert run.profile is not None
    rows = written(tmp_path / "x.parquet", (run.info, run.profile))
    assert rows["samples"].sum() == run.profile.total_weight


def test_the_guides_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    written(tmp_path / "samples.parquet", of_rank(0), of_rank(1))
    worked, waited, differing = (duckdb.sql(query).fetchall() for query, _ in QUERIES)
    assert worked == [(1, "augment", 3.3), (0, "augment", 1.3)]
    assert waited == [(0, 2.1), (1, 0.1)]
    assert sorted(differing[:3]) == [("all_reduce", 2.0, 0), ("augment", 2.0, 1), ("step", 2.0, 1)]
    for query, printed in QUERIES:
        columns = len(duckdb.sql(query).columns)
        assert all(line.count("│") == columns + 1 for line in printed.splitlines())
