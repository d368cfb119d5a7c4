from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile, UsageError
from profkit.formats import pprof, wire
from profkit.formats.pprof.foreign import decode, origin_of, select, sniff
from profkit.formats.registry import TimeSpan
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, Thread
from profkit.units import Unit
from tests.support.profile_strategies import profiles
from tests.unit.formats.pprof.pprof_messages import PprofProfile

HERE = Path("x.pb.gz")


class Written:
    """A profile as another tool writes it, by protobuf's own library."""

    def __init__(self, *types: tuple[str, str], **fields: int) -> None:
        self._strings = {"": 0}
        self.message: Message = PprofProfile(**fields)
        for kind, unit in types:
            self.message.sample_type.add(type=self.text(kind), unit=self.text(unit))  # type: ignore[attr-defined]

    def text(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def location(self, number: int, *lines: tuple[str, str, int], **fields: int) -> Written:
        location = self.message.location.add(id=number, **fields)  # type: ignore[attr-defined]
        for name, file, line in lines:
            function = self.message.function.add(  # type: ignore[attr-defined]
                id=100 * number + len(location.line) + 1, name=self.text(name), filename=self.text(file)
            )
            location.line.add(function_id=function.id, line=line)
        return self

    def sample(self, locations: list[int], values: list[int], **labels: int | str) -> Written:
        sample = self.message.sample.add(location_id=locations, value=values)  # type: ignore[attr-defined]
        for key, value in labels.items():
            kind = {"str": self.text(value)} if isinstance(value, str) else {"num": value}
            sample.label.add(key=self.text(key.replace("_", " ")), **kind)
        return self

    def data(self) -> bytes:
        del self.message.string_table[:]  # type: ignore[attr-defined]
        self.message.string_table.extend(self._strings)  # type: ignore[attr-defined]
        return self.message.SerializeToString()


def stacks_of(profile: Profile) -> dict[tuple[str, ...], int]:
    return {
        tuple(profile.frames[frame].name for frame in profile.stacks[sample.stack]): sample.weight
        for sample in profile.samples
    }


def cpu(period: int = 10) -> Written:
    written = Written(("samples", "count"), ("cpu", "nanoseconds"), time_nanos=5, period=period)
    kind = written.message.period_type  # type: ignore[attr-defined]
    kind.type, kind.unit = written.text("cpu"), written.text("nanoseconds")
    written.location(1, ("main", "a.go", 3)).location(2, ("leaf", "b.go", 9), ("outer", "a.go", 7))
    return written


def test_inlined_functions_are_above_what_they_are_in() -> None:
    profile = decode(cpu().sample([2, 1], [3, 30]).data(), HERE)
    assert stacks_of(profile) == {("main", "outer", "leaf"): 3}
    assert set(profile.frames) == {
        Frame("main", "a.go", 3),
        Frame("outer", "a.go", 7),
        Frame("leaf", "b.go", 9),
    }
    assert (profile.unit, profile.period_ns, profile.ordered) == (Unit.SAMPLES, 10.0, False)


def test_times_that_are_no_samples_times_period_are_times() -> None:
    profile = decode(cpu().sample([1], [3, 31]).data(), HERE)
    assert (profile.unit, profile.period_ns, profile.total_weight) == (Unit.NANOSECONDS, 0.0, 31)


@pytest.mark.parametrize(
    ("unit", "kind", "weight"),
    [
        ("microseconds", Unit.NANOSECONDS, 7000), ("seconds", Unit.NANOSECONDS, 7 * 10**9),
        ("bytes", Unit.BYTES, 7), ("kilobytes", Unit.BYTES, 7168), ("count", Unit.SAMPLES, 7),
    ],
)  # fmt: skip
def test_units(unit: str, kind: Unit, weight: int) -> None:
    profile = decode(Written(("x", unit)).location(1, ("f", "", 1)).sample([1], [7]).data(), HERE)
    assert (profile.unit, profile.total_weight) == (kind, weight)


def test_the_default_type_is_the_last_unless_the_file_names_one() -> None:
    heap = Written(("alloc_space", "bytes"), ("inuse_space", "bytes")).location(1, ("f", "", 1))
    heap.sample([1], [100, 0]).sample([1], [50, 20])
    assert decode(heap.data(), HERE).total_weight == 20
    assert select(heap.data(), HERE).notes == (
        Note.of(NoteCode.VALUES_LEFT_OUT, kept="inuse_space", left_out="alloc_space"),
    )
    heap.message.default_sample_type = heap.text("alloc_space")  # type: ignore[attr-defined]
    assert decode(heap.data(), HERE).total_weight == 150


def test_another_value_is_chosen_by_name() -> None:
    heap = Written(("objects", "count"), ("alloc_space", "bytes"), ("inuse_space", "bytes"))
    heap.location(1, ("f", "", 1)).sample([1], [2, 100, 0]).sample([1], [1, 50, 20])
    profile, value, notes = select(heap.data(), HERE, None, "objects")
    assert (profile.unit, profile.total_weight, value) == (Unit.SAMPLES, 3, "objects")
    assert notes == (Note.of(NoteCode.VALUES_LEFT_OUT, kept="objects", left_out="alloc_space, inuse_space"),)
    assert select(heap.data(), HERE, None, "inuse_space") == select(heap.data(), HERE)
    with pytest.raises(UsageError, match=r"no value 'x'; give one .*: objects, alloc_space, inuse_space"):
        select(heap.data(), HERE, None, "x")


def test_samples_and_their_times_are_one_value() -> None:
    data = cpu().sample([1], [3, 30]).data()
    assert select(data, HERE) == select(data, HERE, None, "samples") == select(data, HERE, None, "cpu")
    assert select(data, HERE).notes == ()
    differing = cpu().sample([1], [3, 31]).data()
    times, samples = select(differing, HERE), select(differing, HERE, None, "samples")
    assert (times.profile.total_weight, samples.profile.total_weight) == (31, 3)
    assert (samples.value, samples.profile.period_ns) == ("samples", 10.0)


def test_other_counts_beside_samples_have_no_period() -> None:
    written = Written(("samples", "count"), ("faults", "count"), time_nanos=5, period=10)
    kind = written.message.period_type  # type: ignore[attr-defined]
    kind.type, kind.unit = written.text("cpu"), written.text("nanoseconds")
    data = written.location(1, ("f", "", 1)).sample([1], [3, 4]).data()
    assert select(data, HERE, None, "samples").profile.period_ns == 10
    assert select(data, HERE, None, "faults").profile.period_ns == 0


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)), min_size=1, max_size=5))
def test_each_value_has_its_own_column(values: list[tuple[int, int]]) -> None:
    written = Written(("a", "count"), ("b", "bytes")).location(1, ("f", "", 1))
    for first, second in values:
        written.sample([1], [first, second])
    for place, name in enumerate(("a", "b")):
        profile = select(written.data(), HERE, None, name).profile
        assert profile.total_weight == sum(pair[place] for pair in values)


def test_profkits_own_files_have_one_value_and_their_time() -> None:
    profile = decode(cpu().sample([1], [3, 30]).data(), HERE)
    data = pprof.encode_timed(profile, TimeSpan(7, 5))
    assert select(data, HERE, None, "samples") == select(data, HERE)
    with pytest.raises(UsageError, match="its only value is samples"):
        select(data, HERE, None, "wall")
    message = PprofProfile.FromString(gzip.decompress(data))
    assert (message.time_nanos, message.duration_nanos) == (7, 5)
    assert origin_of(gzip.decompress(data)).started_ns == 7
    assert origin_of(gzip.decompress(pprof.encode(profile))).started_ns is None


def test_threads_and_labels() -> None:
    written = (
        cpu().sample([1], [1, 10], pid=7, tid=9, thread="main").sample([1], [1, 10], thread_id="8", user="x")
    )
    assert decode(written.data(), HERE).threads == (Thread(7, 9, "main"), Thread(0, 8, ""))
    origin = origin_of(written.data())
    assert (origin.tool, origin.started_ns) == ("", 5)
    assert origin.notes == (Note.of(NoteCode.LABELS_LEFT_OUT, labels="user"),)


def test_code_without_symbols_has_its_address_and_what_was_mapped() -> None:
    written = Written(("samples", "count")).location(1, mapping_id=4, address=2**64 - 16)
    written.location(2, ("f", "", 3), mapping_id=4)
    written.message.mapping.add(id=4, filename=written.text("/lib/libc.so.6"))  # type: ignore[attr-defined]
    profile = decode(written.sample([1, 2], [1]).data(), HERE)
    assert profile.frames == (Frame("f", "/lib/libc.so.6", 3), Frame("0xfffffffffffffff0", "/lib/libc.so.6"))


@settings(max_examples=30)
@given(profiles())
def test_profkits_own_files_lose_nothing(profile: Profile) -> None:
    data = pprof.encode(profile)
    assert decode(data, HERE) == decode(gzip.decompress(data), HERE) == pprof.decode(data)
    assert origin_of(gzip.decompress(data)).tool == "profkit"
    assert sniff(gzip.decompress(data))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\x04\x08\x01",
        Written().data(),
        Written(("a", "count")).sample([1], [1]).data(),
        cpu().sample([1], [1]).data(),
        cpu().sample([1], [1, -10]).data(),
        b"\x1f\x8b\x08nonsense",
        wire.blob(1, wire.blob(1, b"text")),
        wire.integer(1, 5),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes) -> None:
    with pytest.raises(DamagedFile, match=r"x\.pb\.gz"):
        decode(data, HERE)


def test_sniffing() -> None:
    assert sniff(cpu().data())
    # Go's runtime writes times first.
    assert sniff(bytes.fromhex("48b8dac99186c588f5180a04080110020a0408031004"))
    assert not any(map(sniff, (b"", b"{}", b"\n", b"\n\n", b"Hello", b"a;b 1\n", b"\nf;g 1\n", b"H\x01")))
