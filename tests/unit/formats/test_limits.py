"""Limits of imports: each format stops at each of them, by name, while it reads."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.clock import ManualClock
from profkit.errors import DamagedFile, LimitExceeded, UsageError
from profkit.formats.exact import distinct_threads
from profkit.formats.limits import BoundedBuilder, Budget, ImportLimits, enough_memory, gunzipped
from profkit.formats.registry import FORMATS, importable, read_any
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.units import Unit
from tests.support.cli_runs import Profkit
from tests.support.example_runs import made_run
from tests.unit.formats.test_damaged import content

SOURCE = Path("x")
MAIN = Thread(7, 8, "main")


def deep(depth: int, period_ns: float = 1e6) -> Profile:
    """One sample of a stack of this depth, and one of its root."""
    builder = ProfileBuilder()
    stack = tuple(Frame(f"f{n}", "a.py", n + 1) for n in range(depth))
    builder.add(stack, MAIN)
    builder.add(stack[:1], MAIN)
    return builder.build(period_ns=period_ns)


def chain(depth: int, *, calls: bool = True) -> bytes:
    """Statistics, by the module marshal, of functions that call each other in a row, or not at all."""
    import marshal

    def function(n: int) -> tuple[str, int, str]:
        return "a.py", n, f"f{n}"

    return marshal.dumps(
        {
            function(n): (
                1,
                1,
                1.0,
                depth - n,
                {function(n - 1): (1, 1, 1.0, depth - n)} if n and calls else {},
            )
            for n in range(depth)
        }
    )


def dump(depth: int, *, calls: bool = True) -> bytes:
    """A Callgrind dump of the same."""
    lines = ["events: Ir"]
    for n in range(depth):
        lines += [f"fl=a.c\nfn=f{n}\n1 1"]
        lines += [f"cfn=f{n + 1}\ncalls=1 1\n1 {depth - n - 1}"] if calls and n < depth - 1 else []
    return "\n".join([*lines, f"totals: {depth}", ""]).encode()


def cpu_profile(chained: range, samples: list[int]) -> dict[str, object]:
    """A CPU profile of V8, each of whose nodes calls the next one."""
    nodes = [
        {
            "id": n,
            "callFrame": {"functionName": f"f{n}", "lineNumber": 0},
            "children": [n + 1][: chained.stop - n - 1],
        }
        for n in chained
    ]
    return {"nodes": nodes, "samples": samples, "timeDeltas": [5] * len(samples), "endTime": 10**9}


def file_of(name: str, stacks: list[list[str]], profile: Profile, *, calls: bool) -> bytes:
    """A file with a sample of each stack; without stacks, so many functions that call each other, or none."""
    encode = FORMATS[name].encode
    if encode is not None:
        data = encode(profile)
        return gzip.decompress(data) if name == "pprof" else data
    functions = sum(map(len, stacks))
    if name == "pstats":
        return chain(functions, calls=calls)
    if name == "callgrind":
        return dump(functions, calls=calls)
    if name == "austin":
        lines = (";".join(["P7;T8", *(f"a.py:{function}:1" for function in stack)]) for stack in stacks)
        return "".join(f"{line} 5\n" for line in lines).encode()
    if name == "perf-script":
        samples = ("".join(f"\t7f {function} (a)\n" for function in stack) for stack in stacks)
        return "".join(f"p 7/8 1.5: 10 cycles:\n{sample}\n" for sample in samples).encode()
    if name == "cpuprofile":
        chained = len(stacks[0])
        return json.dumps(cpu_profile(range(chained), [chained - 1] * len(stacks))).encode()
    records = [[[f"{function}\0a.py\0001" for function in stack], 0.5] for stack in stacks]
    whole = {"start_time": 1.5, "duration": 1, "start_call_stack": [], "frame_records": records}
    return json.dumps(whole).encode()


def of_depth(name: str, depth: int) -> bytes:
    return file_of(name, [[f"f{n}" for n in range(depth)]], deep(depth), calls=True)


@pytest.mark.parametrize("name", importable())
def test_a_stack_that_is_too_deep(name: str) -> None:
    # Collapsed stacks have the thread as a frame.
    limits = ImportLimits(max_depth=51)
    assert max(map(len, read_any(of_depth(name, 50), name, limits, source=SOURCE).profile.stacks)) == 50
    with pytest.raises(LimitExceeded, match=r"x has a stack of more than 51 frames.*--max-depth") as caught:
        read_any(of_depth(name, 60), name, limits, source=SOURCE)
    assert (caught.value.path, caught.value.option, caught.value.exit_code) == (SOURCE, "--max-depth", 2)


@pytest.mark.parametrize("name", importable())
def test_content_that_is_too_large(name: str) -> None:
    data = content(name)
    read_any(data, name, ImportLimits(max_bytes=len(data)))
    with pytest.raises(LimitExceeded, match="--max-bytes"):
        read_any(data, name, ImportLimits(max_bytes=len(data) - 1))


@pytest.mark.parametrize("name", importable())
def test_too_many_frames_of_stacks(name: str) -> None:
    with pytest.raises(LimitExceeded, match="--max-frames"):
        read_any(of_depth(name, 50), name, ImportLimits(max_frames=49))


def many(name: str, count: int) -> bytes:
    builder = ProfileBuilder()
    for n in range(count):
        builder.add((Frame(f"f{n % 2}", "a.py", 1),), MAIN, 1000)
    profile = builder.build(unit=Unit.NANOSECONDS)
    return file_of(name, [[f"f{n}"] for n in range(count)], profile, calls=False)


# Collapsed stacks of so many samples are one line for each stack.
@pytest.mark.parametrize("name", [name for name in importable() if name != "collapsed"])
def test_too_many_records(name: str) -> None:
    data = many(name, 6000)
    read_any(data, name, ImportLimits(max_depth=10_000))
    with pytest.raises(LimitExceeded, match=r"samples, events, functions or JSON objects.*--max-records"):
        read_any(data, name, ImportLimits(max_depth=10_000, max_records=3000))


def test_too_many_lines() -> None:
    data = b"".join(b"main;f%d 1\n" % n for n in range(5000))
    with pytest.raises(LimitExceeded, match="--max-records"):
        read_any(data, "collapsed", ImportLimits(max_records=3000))


@pytest.mark.parametrize("name", importable())
def test_time_that_is_up(name: str) -> None:
    clock = ManualClock()
    budget = Budget(ImportLimits(max_seconds=30), SOURCE, clock)
    clock.advance(31)
    with pytest.raises(LimitExceeded, match=r"x takes more than 30 s to read.*--max-seconds"):
        read_any(content(name), name, budget=budget)


def test_the_clock_is_looked_at_between_samples() -> None:
    clock = ManualClock()
    builder = BoundedBuilder(Budget(ImportLimits(max_seconds=30), SOURCE, clock))
    frame = builder.frame(Frame("f", "", 0))
    clock.advance(31)

    def add_many() -> None:
        for n in range(10_000):
            builder.add_indexed((frame,) * (n % 3), 0)

    with pytest.raises(LimitExceeded, match="--max-seconds"):
        add_many()


def test_a_builder_with_limits_builds_the_same() -> None:
    plain, bounded = ProfileBuilder(), BoundedBuilder(Budget(ImportLimits()))
    for builder in (plain, bounded):
        for n in (1, 2, 2, 3, 1):
            builder.add((Frame("f", "a.py", n), Frame("g", "", 0)), Thread(n % 2, 0, ""), n)
    assert bounded.build() == plain.build()


@pytest.mark.parametrize("make", [lambda data: data, lambda data: gzip.compress(data)])
def test_bombs_stop_at_the_limit(make: Callable[[bytes], bytes]) -> None:
    """A pprof profile in gzip within gzip, as `--format pprof` would unpack it."""
    bomb = make(gzip.compress(bytes(1 << 26)))
    with pytest.raises((LimitExceeded, DamagedFile)):
        read_any(bomb, "pprof", ImportLimits(max_bytes=1 << 20))
    with pytest.raises(LimitExceeded, match="more than 1,048,576 bytes, uncompressed"):
        gunzipped(gzip.compress(bytes(1 << 26)), Budget(ImportLimits(max_bytes=1 << 20)))


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.integers(0, 9))
def test_all_members_of_gzip_are_unpacked(parts: list[bytes], level: int) -> None:
    packed = b"".join(gzip.compress(part, level) for part in parts)
    assert gunzipped(packed, Budget(ImportLimits())) == b"".join(parts)
    with pytest.raises(ValueError, match="gzip is cut short"):
        gunzipped(packed[:-1], Budget(ImportLimits()))


def test_damaged_gzip_is_said_so() -> None:
    packed = bytearray(gzip.compress(b"main;f 1\n" * 100))
    packed[15] ^= 0xFF
    with pytest.raises((ValueError, zlib.error), match="gzip is damaged"):
        gunzipped(bytes(packed), Budget(ImportLimits()))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 4))))
def test_threads_get_the_first_free_id(told: list[tuple[str, int]]) -> None:
    threads = [Thread(0, tid, name) for name, tid in told]
    expected: list[Thread] = []
    for thread in threads:
        free = thread
        while free in expected:
            free = free._replace(tid=free.tid + 1)
        expected.append(free)
    assert list(distinct_threads(threads)) == expected


def test_no_memory_is_an_error_by_name() -> None:
    with (
        pytest.raises(UsageError, match="x needs more memory than is available to this process"),
        enough_memory(SOURCE),
    ):
        raise MemoryError


def test_whole_runs_are_held_to_the_limits(profkit: Profkit, tmp_path: Path) -> None:
    from dataclasses import replace

    from profkit.store.run_files import encode_runs

    file = tmp_path / "x.profkit.json"
    file.write_bytes(encode_runs([replace(made_run(), profile=deep(60))]))
    said = profkit("import", "--max-depth", "50", str(file))
    assert (said.code, said.out) == (2, "")
    assert "raise the limit with --max-depth" in said.err
    assert profkit("import", "--max-depth", "60", str(file)).code == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [("--max-bytes", "10"), ("--max-depth", "1"), ("--max-frames", "1"), ("--max-seconds", "1e-9")],
)
def test_each_option_lowers_its_limit(option: str, value: str, profkit: Profkit, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes(b"main;f;g 3\n")
    said = profkit("import", option, value, str(file))
    assert (said.code, said.out) == (2, "")
    assert f"raise the limit with {option} of `profkit import`" in said.err
    assert profkit("import", str(file)).code == 0


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--max-bytes", "0", "not a positive whole number such as 5000 or 2G"),
        ("--max-depth", "many", "not a positive whole number"),
        ("--max-seconds", "nan", "not a time above zero"),
        ("--max-seconds", "-1", "not a time above zero"),
    ],
)
def test_limits_that_make_no_sense(option: str, value: str, problem: str, profkit: Profkit) -> None:
    said = profkit("import", option, value, "x")
    assert said.code == 2
    assert problem in said.err


def test_sizes_have_units(profkit: Profkit, tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_bytes(b"main;f 3\n" * 1000)
    assert profkit("import", "--max-bytes", "8K", str(file)).code == 2
    assert profkit("import", "--max-bytes", "9k", "--max-seconds", "inf", str(file)).code == 0
