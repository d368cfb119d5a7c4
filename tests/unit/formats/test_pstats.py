from __future__ import annotations

import cProfile
import marshal
import profile as tracing
import pstats
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile
from profkit.formats.pstats import decode, origin_of, read_marshalled, sniff
from profkit.model.profile import Frame
from profkit.transforms.tables import function_rows
from profkit.units import Unit

TEXT = st.text(st.characters(exclude_categories=[]), max_size=6)
SCALARS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXT | st.booleans() | st.none()
FUNCTIONS = st.tuples(TEXT, st.integers(0, 10**6), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.dictionaries(FUNCTIONS, inner, max_size=3),
    max_leaves=12,
)
VERSIONS = st.integers(0, 4)


def dumps(value: object, version: int = 4) -> bytes:
    return marshal.dumps(value, version)  # type: ignore[arg-type]


def helper(n: int) -> int:
    return sum(x * x for x in range(n))


def recursive(n: int) -> int:
    return helper(50) if n == 0 else recursive(n - 1) + 1


def program() -> None:
    for n in range(30):
        helper(100)
        recursive(n % 5)


@given(VALUES, VERSIONS)
def test_what_marshal_writes_is_read(value: object, version: int) -> None:
    assert read_marshalled(dumps(value, version)) == value


@settings(max_examples=200)
@given(st.dictionaries(FUNCTIONS, VALUES, max_size=3), VERSIONS, st.data())
def test_damaged_bytes_are_refused_and_nothing_else_happens(
    value: object, version: int, data: st.DataObject
) -> None:
    written = bytearray(dumps(value, version))
    for _ in range(data.draw(st.integers(1, 3))):
        written[data.draw(st.integers(0, len(written) - 1))] = data.draw(st.integers(0, 255))
    for read in (bytes(written), bytes(written[: data.draw(st.integers(0, len(written)))])):
        with suppress(DamagedFile):
            assert decode(read).unit is Unit.NANOSECONDS


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"0",
        b"(\xff\xff\xff\x7f",
        b"(" * 50,
        b"l\xff\xff\xff\x7f",
        b"{" + marshal.dumps((("a", 1, "b"), 2)) + b"N0",
        # A tuple that holds itself, and pairs of pairs of pairs.
        b"\xa9\x01r\x00\x00\x00\x00",
        b"{\xa9\x02NN" + b"".join(b"\xa9\x02" + b"r" + n.to_bytes(4, "little") * 2 for n in range(60)),
        marshal.dumps(compile("1", "x", "eval")),
    ],
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedFile):
        decode(data)


@pytest.mark.parametrize("value", [{}, {("f", 1, "g"): (1, 1, 0.5, 0.5)}, {("f", 1): 3}, 7, [1]])
def test_other_objects_are_no_statistics(value: object) -> None:
    data = dumps(value)
    if value == {}:
        assert decode(data).samples == ()
    else:
        with pytest.raises(DamagedFile, match=r"x\.prof"):
            decode(data, Path("x.prof"))


@pytest.mark.parametrize("profiler", [cProfile.Profile, tracing.Profile])
def test_times_of_functions_are_those_of_pstats(profiler: type[cProfile.Profile], tmp_path: Path) -> None:
    taken = profiler()
    taken.runcall(program)
    path = tmp_path / "x.prof"
    taken.dump_stats(path)
    data = path.read_bytes()
    assert sniff(data)
    assert origin_of(data).tool == "cProfile"
    stats = pstats.Stats(str(path))
    own = {(name, line): round(times[2] * 1e9) for (_, line, name), times in stats.stats.items()}  # type: ignore[attr-defined]
    decoded = decode(data)
    assert (decoded.unit, decoded.ordered, decoded.total_weight) == (
        Unit.NANOSECONDS,
        False,
        sum(own.values()),
    )
    rows = {(row.name, row.line): row for row in function_rows(decoded)}
    assert {key: row.self_weight for key, row in rows.items() if row.self_weight} == {
        key: weight for key, weight in own.items() if weight
    }
    line = helper.__code__.co_firstlineno
    total = stats.stats[__file__, line, "helper"][3]  # type: ignore[attr-defined]
    assert rows["helper", line].total_weight == pytest.approx(total * 1e9, rel=0.02)


def test_built_in_functions_have_no_file() -> None:
    main, built_in = ("a.py", 3, "main"), ("~", 0, "<built-in method time.sleep>")
    stats = {main: (1, 1, 0.25, 1.25, {}), built_in: (2, 2, 1.0, 1.0, {main: (2, 2, 1.0, 1.0)})}
    decoded = decode(marshal.dumps(stats))
    frames = [[decoded.frames[frame] for frame in stack] for stack in decoded.stacks]
    assert sorted(frames) == sorted(
        [[Frame("main", "a.py", 3)], [Frame("main", "a.py", 3), Frame("<built-in method time.sleep>", "")]]
    )
    assert decoded.total_weight == 1_250_000_000


@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"a": 1}', b"a;b 1\n", marshal.dumps({}), marshal.dumps((1, 2, 3))]
)
def test_other_contents_are_not_sniffed(data: bytes) -> None:
    assert not sniff(data)
