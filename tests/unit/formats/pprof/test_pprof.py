from __future__ import annotations

import base64
import gzip
import re
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profkit.errors import DamagedFile, LimitExceeded
from profkit.formats import pprof, wire
from profkit.formats.exact import escape_text, unescape_text
from profkit.formats.limits import Budget, ImportLimits
from profkit.formats.pprof import foreign
from profkit.formats.pprof.schema import InProfile
from profkit.model.profile import Frame, Profile, ProfileBuilder, Sample, Thread, ThreadState
from profkit.units import Unit
from tests.support.folders import SAMPLES
from tests.support.profile_strategies import thread_states
from tests.unit.formats.pprof.pprof_messages import PprofProfile

INT64 = st.integers(-(2**63), 2**63 - 1)
# Every code point, lone surrogates among them, with extra weight on what the spelling of those looks like.
TEXT = st.one_of(
    st.text(st.characters(), max_size=8),
    st.text(st.sampled_from("\\ud8fF0\udc80\ud800\0 é😀"), max_size=12),
    st.sampled_from(["\\udc80", "\\\\udc80", "\\\udc80", "a\\ud8", "C:\\udder", ""]),
)
FRAMES = st.builds(Frame, TEXT, TEXT, st.one_of(st.just(0), st.integers(0, 500), INT64))
TOTALS = st.none() | st.integers(0, 2**63 - 1)
THREADS = st.builds(Thread, st.integers(0, 2**31), st.one_of(st.integers(0, 2**31), INT64), TEXT)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Profiles with frames that no stack has, equal frames, equal samples in a row, and states."""
    frames = tuple(draw(st.lists(FRAMES, max_size=6)))
    stack = st.lists(st.integers(0, len(frames) - 1), max_size=6).map(tuple) if frames else st.just(())
    thread = st.sampled_from(draw(st.lists(THREADS, min_size=1, max_size=3)))
    stacks: dict[tuple[tuple[int, ...], ThreadState], int] = {}
    threads: dict[Thread, int] = {}
    samples = [
        Sample(stacks.setdefault(key, len(stacks)), threads.setdefault(where, len(threads)), weight)
        for key, where, weight in draw(
            st.lists(
                st.tuples(st.tuples(stack, thread_states), thread, st.one_of(st.just(1), INT64)), max_size=12
            )
        )
    ]
    return Profile(
        unit=draw(st.sampled_from(Unit)),
        period_ns=draw(st.floats(0, 1e12)),
        frames=frames,
        stacks=tuple(stack for stack, _ in stacks),
        threads=tuple(threads),
        samples=tuple(samples),
        ordered=draw(st.booleans()),
        totals=draw(st.tuples(*[TOTALS] * len(frames)) | st.just(())),
        states=tuple(state for _, state in stacks) if any(state for _, state in stacks) else (),
    )


def message_of(data: bytes) -> PprofProfile:
    message = PprofProfile()
    message.ParseFromString(gzip.decompress(data))
    return message


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def small_profile() -> Profile:
    builder = ProfileBuilder()
    main, other = Thread(7, 7, "MainThread"), Thread(7, 9, 'a "b"; c\n')
    root, leaf = Frame("run", "/a/app.py", 3), Frame("Leaf.go", "/a/leaf.py", 0)
    for stack, thread in (((root, leaf), main), ((root,), other), ((root, leaf), main), ((), main)):
        builder.add(stack, thread, 2)
    return builder.build(period_ns=1e7)


@given(profiles())
@example(Profile())
@example(small_profile())
def test_decoding_gives_the_profile_that_was_encoded(profile: Profile) -> None:
    assert pprof.decode(pprof.encode(profile)) == profile


@given(profiles())
def test_the_bytes_are_those_that_protobuf_would_write(profile: Profile) -> None:
    data = gzip.decompress(pprof.encode(profile))
    message = PprofProfile()
    message.ParseFromString(data)
    assert message.SerializeToString(deterministic=True) == data


@given(profiles())
def test_equal_profiles_give_equal_bytes_without_a_time(profile: Profile) -> None:
    data = pprof.encode(profile)
    assert data == pprof.encode(replace(profile))
    assert data[4:8] == bytes(4), "gzip's mtime"


def test_pprof_reads_stacks_from_the_leaf_with_values_and_labels() -> None:
    message = message_of(pprof.encode(small_profile()))
    text = message.string_table
    assert text[0] == ""
    assert [(text[t.type], text[t.unit]) for t in message.sample_type] == [
        ("samples", "count"), ("wall", "nanoseconds"),
    ]  # fmt: skip
    assert (text[message.period_type.unit], message.period) == ("nanoseconds", 10**7)
    functions = {function.id: function for function in message.function}
    places = {
        location.id: (
            text[functions[line.function_id].name],
            text[functions[line.function_id].filename],
            line.line,
        )
        for location in message.location
        for line in location.line
    }
    first = message.sample[0]
    assert [places[number] for number in first.location_id] == [
        ("Leaf.go", "/a/leaf.py", 0), ("run", "/a/app.py", 3),
    ]  # fmt: skip
    assert list(first.value) == [4, 4 * 10**7]
    labels = [{text[label.key]: text[label.str] or label.num for label in s.label} for s in message.sample]
    assert labels[0] == {"pid": 7, "tid": 7, "thread": "MainThread"}
    assert labels[1] == {"pid": 7, "tid": 9, "thread": 'a "b"; c\n'}
    assert [len(sample.location_id) for sample in message.sample] == [2, 1, 0]


def test_a_profile_without_a_period_has_one_value_in_its_unit() -> None:
    profile = Profile(
        Unit.INSTRUCTIONS, 0.0, (Frame("f", "a.py", 1),), ((0,),), (Thread(1, 1, ""),), (Sample(0, 0, 5),)
    )
    message = message_of(pprof.encode(profile))
    assert [message.string_table[t.type] for t in message.sample_type] == ["instructions"]
    assert list(message.sample[0].value) == [5]
    assert not message.HasField("period_type")


def test_what_another_program_wrote_again_is_read() -> None:
    """Other orders, ids and string tables, unpacked integers and additions of its own mean the same."""
    profile = small_profile()
    message = message_of(pprof.encode(profile))
    again = PprofProfile()
    again.CopyFrom(message)
    again.time_nanos, again.duration_nanos = 5, 6
    again.mapping.add(id=1, has_functions=True)
    again.string_table.append("a comment of another program")
    again.comment.insert(0, len(again.string_table) - 1)
    for location in again.location:
        location.id += 1000
    for sample in again.sample:
        ids = [number + 1000 for number in sample.location_id]
        sample.ClearField("location_id")
        sample.location_id.extend(ids)
    data = again.SerializeToString()
    assert pprof.decode(gzip.compress(data)) == profile


def test_unpacked_integers_are_read_like_packed_ones() -> None:
    numbers = [0, 1, 127, 128, -1, 2**63 - 1, -(2**63)]
    packed = wire.packed(2, numbers)
    one_by_one = b"".join(wire.varint(2 << 3) + wire.varint(number) for number in numbers)
    for data in (packed, one_by_one):
        assert [n for _, value in wire.fields(data) for n in wire.integers(value)] == numbers


def test_tables_come_back_in_the_order_of_first_use() -> None:
    frames = (Frame("unused", "a.py", 1), Frame("f", "a.py", 2), Frame("f", "a.py", 2))
    threads = (Thread(1, 1, "idle"), Thread(1, 2, "busy"))
    odd = Profile(
        Unit.SAMPLES, 1.0, frames, ((0,), (1, 2), (2,)), threads, (Sample(2, 1, 1), Sample(1, 1, 1))
    )
    back = pprof.decode(pprof.encode(odd))
    assert back.frames == frames
    assert back.stacks == ((2,), (1, 2))
    assert back.threads == (threads[1],)
    assert back.samples == (Sample(0, 0, 1), Sample(1, 0, 1))
    assert pprof.decode(pprof.encode(back)) == back


@given(TEXT)
def test_any_text_can_be_spelled_in_utf8_and_back(text: str) -> None:
    spelled = escape_text(text)
    spelled.encode("utf-8")
    assert unescape_text(spelled) == text


@given(st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"])))
def test_ordinary_text_is_spelled_as_it_is(text: str) -> None:
    assert escape_text(text) == text


@given(st.data())
def test_cut_bytes_are_reported(data: st.DataObject) -> None:
    whole = pprof.encode(small_profile())
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(DamagedFile):
        pprof.decode(whole[:cut])


@given(st.data())
def test_a_wrong_message_in_whole_gzip_is_reported_or_read_but_never_crashes(data: st.DataObject) -> None:
    message = bytearray(gzip.decompress(pprof.encode(small_profile())))
    at = data.draw(st.integers(0, len(message) - 1))
    message[at] = data.draw(st.integers(0, 255))
    try:
        assert isinstance(pprof.decode(gzip.compress(bytes(message))), Profile)
    except DamagedFile:
        return


@given(st.binary(max_size=60))
def test_any_message_is_reported_or_read_but_never_crashes(message: bytes) -> None:
    with pytest.raises(DamagedFile, match="not a profile written by profkit"):
        pprof.decode(gzip.compress(message))


def test_a_damaged_profile_is_named() -> None:
    with pytest.raises(DamagedFile, match=r"the profile of run 12 cannot be read: .*incorrect header"):
        pprof.decode(b"not gzip", Path("the profile of run 12"))


def test_another_programs_profile_is_not_mistaken_for_ours() -> None:
    message = PprofProfile(string_table=["", "made elsewhere"], comment=[1])
    with pytest.raises(DamagedFile, match="made elsewhere"):
        pprof.decode(gzip.compress(message.SerializeToString()))


def test_a_function_that_is_missing_is_reported() -> None:
    message = message_of(pprof.encode(small_profile()))
    message.location[0].line[0].function_id = 99
    with pytest.raises(DamagedFile, match="there is no function 99"):
        pprof.decode(gzip.compress(message.SerializeToString()))


def test_a_weight_beyond_64_bits_is_refused() -> None:
    profile = Profile(stacks=((),), threads=(Thread(1, 1, ""),), samples=(Sample(0, 0, 2**63),))
    with pytest.raises(OverflowError, match="64 bits"):
        pprof.encode(profile)


def test_equal_samples_are_one_with_their_whole_weight_for_other_readers() -> None:
    message = message_of(pprof.encode(small_profile()))
    assert [sample.value[0] for sample in message.sample] == [4, 2, 2]


NOTHING = Profile(stacks=((),), threads=(Thread(0, 0, ""),), samples=(Sample(0, 0, 0), Sample(0, 0, 0)))


@given(profiles())
@example(NOTHING)
def test_where_another_tool_drops_their_order_samples_are_unordered(profile: Profile) -> None:
    message = message_of(pprof.encode(profile))
    del message.comment[1:]
    profile = replace(profile, totals=())
    read = pprof.decode(gzip.compress(message.SerializeToString()))
    assert read.weights_by_stack == profile.weights_by_stack
    assert read.ordered == (profile.ordered and read.samples == profile.samples)


def test_files_that_have_the_order_in_fields_are_still_read() -> None:
    data = (SAMPLES / "profkit-fields.pb.gz").read_bytes()
    assert InProfile.OLD_TURNS in {field for field, _ in wire.fields(gzip.decompress(data))}
    assert pprof.decode(data) == small_profile()
    assert foreign.decode(data, Path("x")) == small_profile()


def test_all_fields_are_those_of_the_format() -> None:
    message = message_of(pprof.encode(small_profile()))
    before = message.SerializeToString()
    message.DiscardUnknownFields()
    assert message.SerializeToString() == before


def test_an_order_that_is_too_long_is_refused() -> None:
    message = message_of(pprof.encode(small_profile()))
    bomb = packed(bytes(1 << 24))
    message.string_table[message.comment[1]] = f"#profkit.turns/1 {bomb}"
    budget = Budget(ImportLimits(max_records=1000))
    with pytest.raises(LimitExceeded, match="--max-records"):
        pprof.decode(gzip.compress(message.SerializeToString()), Path("x"), budget)


def test_where_another_tool_changes_samples_their_order_is_not_trusted() -> None:
    message = message_of(pprof.encode(small_profile()))
    message.sample[0].value[0] -= 1
    read = pprof.decode(gzip.compress(message.SerializeToString()))
    assert [sample.weight for sample in read.samples] == [3, 2, 2]
    assert not read.ordered


def stated_profile() -> Profile:
    return replace(small_profile(), totals=(12, None))


def test_stated_totals_are_in_a_comment_that_go_does_not_show() -> None:
    message = message_of(pprof.encode(stated_profile()))
    about, totals, turns = (message.string_table[number] for number in message.comment)
    assert turns.startswith("#")
    assert about.startswith("profkit.pprof/1 ")
    assert totals.startswith("#profkit.totals/1 8 ")
    assert totals.endswith(" 12 -")
    assert len(message_of(pprof.encode(small_profile())).comment) == 2


def test_stated_totals_stay_if_another_tool_changes_nothing_that_they_are_about() -> None:
    message = message_of(pprof.encode(stated_profile()))
    message.time_nanos = 5
    message.DiscardUnknownFields()
    assert pprof.decode(gzip.compress(message.SerializeToString())).totals == (12, None)


def test_stated_totals_are_dropped_with_samples_or_functions() -> None:
    fewer = message_of(pprof.encode(stated_profile()))
    del fewer.sample[0]
    renamed = message_of(pprof.encode(stated_profile()))
    renamed.string_table[renamed.function[0].name] += "x"
    for message in (fewer, renamed):
        assert pprof.decode(gzip.compress(message.SerializeToString())).totals == ()


def test_a_million_samples_of_few_stacks_stay_small() -> None:
    frames = tuple(Frame(f"f{n}", "a.py", n) for n in range(200))
    stacks = tuple(tuple(range(n, n + 20)) for n in range(100))
    samples = tuple(Sample(n % 100, n % 2, 1) for n in range(10**6))
    profile = Profile(Unit.SAMPLES, 1e7, frames, stacks, (Thread(1, 1, "a"), Thread(1, 2, "b")), samples)
    data = pprof.encode(profile)
    assert len(data) < 10**6
    assert len(zlib.decompress(data, wbits=31)) < 2 * 10**7
    assert pprof.decode(data).samples[:3] == samples[:3]


@given(profiles())
def test_without_their_order_equal_samples_come_as_one(profile: Profile) -> None:
    loose = pprof.decode(pprof.encode(profile), in_order=False)
    assert loose == replace(profile, samples=loose.samples, ordered=False)
    assert loose.weights_by_stack == profile.weights_by_stack
    assert len(loose.samples) <= len(set(profile.samples))


@given(profiles(), st.data())
def test_starts_of_samples_are_kept(profile: Profile, data: st.DataObject) -> None:
    known = st.integers(0, 2**40)
    starts = tuple(data.draw(known) for _ in profile.samples)
    samples = tuple(sample._replace(weight=1 + sample.weight % 1000) for sample in profile.samples)
    timed = replace(profile, ordered=True, samples=samples, starts=starts)
    assert pprof.decode(pprof.encode(timed)) == timed
    assert pprof.decode(pprof.encode(timed), in_order=False).starts == ()


def timed_profile() -> Profile:
    profile = small_profile()
    return replace(profile, starts=tuple(range(0, 10 * len(profile.samples), 10)))


def test_starts_of_other_samples_are_not_taken() -> None:
    message = message_of(pprof.encode(timed_profile()))
    message.sample.pop()
    read = pprof.decode(gzip.compress(message.SerializeToString()))
    assert read.samples
    assert read.starts == ()


@pytest.mark.parametrize(
    ("profile", "name", "damaged"),
    [
        *((small_profile(), "turns", text) for text in ("!", "eJw=", packed(b"x" * 13))),
        *((timed_profile(), "starts", text) for text in ("?", "AAAA")),
        *((stated_profile(), "totals", text) for text in ("12 x", "12 -1", "1e3 -", "12 " + "9" * 5000)),
    ],
)
def test_comments_that_are_damaged_are_reported(profile: Profile, name: str, damaged: str) -> None:
    message = message_of(pprof.encode(profile))
    head, comment = f"#profkit.{name}/1 ", ""
    (place,) = (n for n, text in enumerate(message.string_table) if text.startswith(head))
    if name == "totals":
        comment = message.string_table[place].removeprefix(head).removesuffix("12 -")
    message.string_table[place] = head + comment + damaged
    with pytest.raises(DamagedFile):
        pprof.decode(gzip.compress(message.SerializeToString()))


def test_starts_that_are_too_long_are_ignored() -> None:
    message = message_of(pprof.encode(timed_profile()))
    (place,) = (n for n, text in enumerate(message.string_table) if text.startswith("#profkit.starts"))
    message.string_table[place] = f"#profkit.starts/1 {packed(bytes(10**6))}"
    assert pprof.decode(gzip.compress(message.SerializeToString())).starts == ()


def test_samples_have_a_label_with_their_state() -> None:
    builder = ProfileBuilder()
    for state in ThreadState:
        builder.add((Frame("f", "f.py", 1),), Thread(7, 7, "t"), state=state)
    message = message_of(pprof.encode(builder.build()))
    text = message.string_table
    labels = [{text[label.key]: text[label.str] for label in sample.label} for sample in message.sample]
    assert [found.get("state") for found in labels] == [None, "working", "waiting", "waiting for the GIL"]
    assert message.sample[0].location_id == message.sample[1].location_id


def test_idle_samples_of_earlier_versions_wait() -> None:
    builder = ProfileBuilder()
    for state in (ThreadState.UNKNOWN, ThreadState.WAITING):
        builder.add((Frame("f", "f.py", 1),), Thread(7, 7, "t"), state=state)
    profile = builder.build()
    message = message_of(pprof.encode(profile))
    place = list(message.string_table).index("waiting")
    message.string_table[place] = "idle"
    assert pprof.decode(gzip.compress(message.SerializeToString())) == profile


def test_a_period_that_is_no_time_is_reported() -> None:
    """A file with one was imported, and reports of it failed."""
    message = message_of(pprof.encode(small_profile()))
    texts = list(message.string_table)  # type: ignore[attr-defined]
    (place,) = [place for place, text in enumerate(texts) if '"period_ns"' in text]
    for period in ("-1e7", "NaN", "Infinity"):
        message.string_table[place] = re.sub(r'("period_ns": ?)[^,}]+', rf"\g<1>{period}", texts[place])  # type: ignore[attr-defined]
        with pytest.raises(DamagedFile, match="not a time"):
            pprof.decode(gzip.compress(message.SerializeToString()))
