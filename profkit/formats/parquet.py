"""Samples of many runs as one Parquet table, for DuckDB and pandas: one row per stack and thread of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import add, itemgetter
from typing import TYPE_CHECKING

from profkit.errors import UsageError
from profkit.model.measurement import AnyInfo
from profkit.model.profile import Profile, ThreadState, Value
from profkit.units import Unit

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET = "parquet"
"""Name of the format."""
ENDING = ".parquet"

_UNITS = {
    Unit.SAMPLES: "samples",
    Unit.NANOSECONDS: "seconds",
    Unit.INSTRUCTIONS: "instructions",
    Unit.BYTES: "bytes",
    Unit.ALLOCATIONS: "allocations",
}
_VALUES = {
    Value.PEAK: "peak_bytes",
    Value.ALLOCATED: "allocated_bytes",
    Value.ALLOCATIONS: "allocations",
    Value.LEFT: "left_bytes",
}
_NUMBERS = tuple(name for name in dict.fromkeys((*_UNITS.values(), *_VALUES.values())) if name != "seconds")
"""Columns of values that are whole numbers."""
_STATES = {state: state.name.lower() for state in ThreadState if state} | {ThreadState.UNKNOWN: None}
_FRAME = ("function", "file", "line")
_MOST_FRAMES = 2**20
"""Number of frames in the stacks of a row group, which limits memory."""


def parquet_parts(runs: Iterable[tuple[AnyInfo, Profile]]) -> Iterator[bytes]:
    """Yield the file in pieces, of which each needs a limited number of runs; raises UsageError."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            f"the format {PARQUET} needs pyarrow ({error})", "install it: pip install 'profkit[parquet]'"
        ) from error
    sink = _Sink()
    schema, file = _schema(), pyarrow.PythonFile(sink, mode="w")
    # Without Arrow's own schema, readers see texts and not Arrow's dictionaries.
    with parquet.ParquetWriter(file, schema, compression="zstd", store_schema=False) as writer:
        for group in _groups(runs, schema):
            writer.write_table(group)
            yield sink.take()
    yield sink.take()


class _Sink:
    """A file in memory, from which what was written is taken."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing: what was written can still be taken."""

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, number, seconds = pa.dictionary(pa.int32(), pa.string()), pa.int64(), pa.float64()
    frame = {"function": text, "file": text, "line": pa.int32()}
    columns = {
        **dict.fromkeys(("run", "label", "job"), text),
        "rank": pa.int32(),
        **dict.fromkeys(("worker", "host", "commit"), text),
        "started": pa.timestamp("ns", tz="UTC"),
        **dict.fromkeys(("pid", "tid"), number),
        **dict.fromkeys(("thread", "state"), text),
        "seconds": seconds,
        **dict.fromkeys(_NUMBERS, number),
        **dict.fromkeys(("first_s", "last_s"), seconds),
        **frame,
        "stack": pa.list_(pa.struct(list(frame.items()))),
    }
    return pa.schema(list(columns.items()))


def _groups(runs: Iterable[tuple[AnyInfo, Profile]], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of many rows: small runs together, and large ones in parts."""
    import pyarrow as pa

    tables: list[pa.Table] = []
    frames = 0
    for info, profile in runs:
        for table, depth in _tables(info, profile, schema):
            tables.append(table)
            frames += depth
            if frames >= _MOST_FRAMES:
                yield pa.concat_tables(tables)
                tables, frames = [], 0
    if tables:
        yield pa.concat_tables(tables)


def _tables(info: AnyInfo, profile: Profile, schema: pa.Schema) -> Iterator[tuple[pa.Table, int]]:
    """Yield tables of a run's rows, each with the number of frames in its stacks."""
    import pyarrow as pa

    summed = _summed(profile)
    known = _frames(profile)
    start = frames = 0
    for row, stack in enumerate(summed["stack"].to_pylist(), 1):
        frames += len(profile.stacks[stack])
        if frames >= _MOST_FRAMES or row == len(summed):
            part = summed.slice(start, row - start)
            columns = {**_of_run(info, len(part)), **_of_rows(profile, part, known)}
            for field in schema:
                columns.setdefault(field.name, pa.nulls(len(part), field.type))
            yield pa.table(columns).select(schema.names).cast(schema), frames
            start, frames = row, 0


def _summed(profile: Profile) -> pa.Table:
    """Return the sums of each value by stack and thread, with the times of the first and last sample."""
    import pyarrow as pa

    columns: dict[str, Iterable[int]] = {
        name: map(itemgetter(place), profile.samples) for place, name in enumerate(("stack", "thread"))
    }
    columns[_name(profile)] = map(itemgetter(2), profile.samples)
    columns |= {_VALUES[column.value]: iter(column.weights) for column in profile.columns}
    wanted = [(name, "sum") for name in columns if name not in ("stack", "thread")]
    if profile.starts:
        columns["first_s"] = iter(profile.starts)
        columns["last_s"] = map(add, profile.starts, map(itemgetter(2), profile.samples))
        wanted += [("first_s", "min"), ("last_s", "max")]
    table = pa.table({name: pa.array(list(column), pa.int64()) for name, column in columns.items()})
    summed = table.group_by(["stack", "thread"], use_threads=False).aggregate(wanted)
    return summed.rename_columns({f"{name}_{how}": name for name, how in wanted})


def _name(profile: Profile) -> str:
    """Return the column of a profile's weights."""
    return _UNITS[profile.unit] if profile.value is None else _VALUES[profile.value]


def _of_run(info: AnyInfo, rows: int) -> dict[str, pa.Array]:
    """Return the columns that have one value for all rows of a run."""
    import pyarrow as pa

    process, member = info.process, info.process.member
    texts = {
        "run": info.id, "label": info.label, "job": member.job, "worker": member.worker, "host": process.host,
        "commit": process.git_commit,
    }  # fmt: skip
    columns = {name: _texts([text or None]).take(pa.repeat(0, rows)) for name, text in texts.items()}
    if member.rank is not None:
        columns["rank"] = pa.repeat(pa.scalar(member.rank, pa.int32()), rows)
    columns["started"] = pa.repeat(pa.scalar(info.started_ns, pa.timestamp("ns", tz="UTC")), rows)
    return columns


def _of_rows(profile: Profile, summed: pa.Table, frames: pa.StructArray) -> dict[str, pa.Array]:
    import pyarrow as pa

    numbers: list[int] = summed["stack"].to_pylist()
    stacks = [profile.stacks[number] for number in numbers]
    leaves = frames.take(pa.array([stack[-1] if stack else None for stack in stacks], pa.int32()))
    paths = frames.take(pa.array(list(chain.from_iterable(stacks)), pa.int32()))
    offsets = pa.array(list(accumulate(map(len, stacks), initial=0)), pa.int32())
    pids, tids = ([thread[place] or None for thread in profile.threads] for place in (0, 1))
    names = [thread.name or None for thread in profile.threads]
    threads = summed["thread"].combine_chunks()
    return {
        "pid": pa.array(pids, pa.int64()).take(threads),
        "tid": pa.array(tids, pa.int64()).take(threads),
        "thread": _texts(names).take(threads),
        "state": _texts([_STATES[profile.state_of(number)] for number in numbers]),
        **_values(profile, summed),
        **dict(zip(_FRAME, leaves.flatten(), strict=True)),
        "stack": pa.ListArray.from_arrays(offsets, paths),
    }


def _values(profile: Profile, summed: pa.Table) -> dict[str, pa.Array]:
    """Return the columns of values; times are in seconds."""
    import pyarrow as pa

    kept = (_name(profile), *(_VALUES[column.value] for column in profile.columns))
    columns = {name: summed[name].combine_chunks() for name in kept}
    weight_s = {Unit.SAMPLES: profile.period_ns / 1e9, Unit.NANOSECONDS: 1e-9}.get(profile.unit, 0.0)
    if weight_s:
        times = {"seconds": kept[0]} | {name: name for name in ("first_s", "last_s") if profile.starts}
        for name, source in times.items():
            weights: list[int] = summed[source].to_pylist()
            columns[name] = pa.array([weight * weight_s for weight in weights], pa.float64())
    return columns


def _frames(profile: Profile) -> pa.StructArray:
    import pyarrow as pa

    functions = _texts([frame.name or None for frame in profile.frames])
    files = _texts([frame.file or None for frame in profile.frames])
    lines = pa.array([frame.line or None for frame in profile.frames], pa.int32())
    return pa.StructArray.from_arrays([functions, files, lines], _FRAME)


def _texts(texts: Sequence[str | None]) -> pa.DictionaryArray:
    """Return texts, of which most are equal, without lone surrogates."""
    import pyarrow as pa

    plain = [text and text.encode("utf-8", "backslashreplace").decode("utf-8") for text in texts]
    return pa.array(plain, pa.string()).dictionary_encode()
