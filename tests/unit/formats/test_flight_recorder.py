"""Dumps of the flight recorder: which ranks wait in a collective, and which are not there."""

from __future__ import annotations

import json
import pickle
import time
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profkit.errors import DamagedFile, UsageError
from profkit.formats.flight_recorder import read_dump, stacks_of
from profkit.formats.limits import Budget, ImportLimits, LimitExceeded
from profkit.formats.plain_pickle import read_plain_pickle
from profkit.model.job_stacks import JobStacks
from profkit.render.registry import JOB_STACKS
from tests.support.flight_recorder import dump, entry

SOURCE = Path("dump_rank_3")
DONE = entry(117)
WAITS = dump(DONE, entry(118, "started"))


def budget(records: int = 10**6) -> Budget:
    return Budget(ImportLimits(max_records=records), SOURCE)


def stacks(*dumps: dict[str, object]) -> JobStacks:
    read = (
        read_dump(pickle.dumps(one, 2), Path(f"/tmp/x.1/dump_rank_{rank}.pkl"), budget())
        for rank, one in enumerate(dumps)
    )
    return stacks_of(tuple(read), 10**18)


def text_of(*dumps: dict[str, object]) -> list[str]:
    return JOB_STACKS.text(stacks(*dumps)).rstrip("\n").split("\n")


def test_the_rank_that_has_not_entered_a_collective_is_named() -> None:
    head, *lines = text_of(WAITS, WAITS, WAITS, dump(DONE))
    assert head.startswith("4 of 4 ranks in dumps of the flight recorder · 2001-09-09")
    assert lines[:2] == [
        "Rank 3 has not entered all_reduce #118 (group default_pg); ranks 0–2 wait in it.",
        "Ranks 0–2 wait for other ranks in all_reduce, called by train (/app/train.py:13).",
    ]
    assert any("<module>" in line and line.startswith("0–2") for line in lines)


def test_ranks_that_call_another_collective_or_of_another_size() -> None:
    gather, larger = (entry(118, "scheduled", "nccl:_all_gather_base"), entry(118, "started", sizes=(3, 4)))
    lines = text_of(WAITS, WAITS, dump(DONE, gather), dump(DONE, larger))
    assert lines[1:3] == [
        "Rank 2 has called _all_gather_base of 1000, not all_reduce of 1000, as #118 (group default_pg); "
        "ranks 0–1 wait in it.",
        "Rank 3 has called all_reduce of 3×4, not all_reduce of 1000, as #118 (group default_pg); "
        "ranks 0–1 wait in it.",
    ]


def test_a_collective_that_all_have_entered() -> None:
    said = "Ranks 0–3 have entered all_reduce #118 (group default_pg), and it has not ended."
    assert text_of(WAITS, WAITS, WAITS, WAITS)[1] == said


def test_a_rank_without_a_dump_is_not_said_to_be_missing() -> None:
    lines = text_of(WAITS, WAITS, WAITS)
    assert lines[1] == "Ranks 0–2 have entered all_reduce #118 (group default_pg), and it has not ended."
    assert "not read: rank 3" in lines


def test_all_collectives_have_ended() -> None:
    assert text_of(dump(DONE), dump(DONE))[1] == "All collectives in the dumps have ended."
    assert text_of(dump())[1] == "All collectives in the dumps have ended."


def test_groups_of_one_description_are_distinct() -> None:
    def of(group: str, ranks: list[int], *entries: dict[str, object]) -> dict[str, object]:
        found = dump(*(one | {"process_group": (group, "mesh_dp")} for one in entries))
        return found | {"pg_config": {group: {"name": group, "desc": "mesh_dp", "ranks": str(ranks)}}}

    lines = text_of(
        of("5", [0, 1], entry(7, "started")), of("5", [0, 1], entry(6)),
        of("6", [2, 3], entry(3)), of("6", [2, 3], entry(3)),
    )  # fmt: skip
    assert lines[1] == "Rank 1 has not entered all_reduce #7 (group mesh_dp 5); rank 0 waits in it."


def test_json_has_the_collectives() -> None:
    found = json.loads(JOB_STACKS.renderer("json")(stacks(WAITS, dump(DONE))))
    (collective,) = found["collectives"]
    assert (collective["name"], collective["number"], collective["absent"]) == ("all_reduce", 118, [1])


def test_messages_between_two_ranks_are_no_collectives() -> None:
    sent = entry(0, "started", "nccl:send 0->1") | {"is_p2p": True}
    assert text_of(dump(DONE, sent))[1] == "All collectives in the dumps have ended."


@pytest.mark.parametrize("name", ["dump", "rank_x.json", "3_dump", "rank_1234567"])
def test_a_name_without_a_rank(name: str) -> None:
    with pytest.raises(UsageError, match="does not end in the number of a rank"):
        read_dump(b"{}", Path(name), budget())


@pytest.mark.parametrize(
    "document",
    [[], {"entries": 3}, {"entries": [3]}, {"entries": [{}]}, {"pg_config": []}, {"pg_config": {"0": 3}},
     dump(DONE | {"collective_seq_id": 2**64}), dump(DONE | {"input_sizes": [[2**64]]}),
     dump(DONE | {"frames": [{"name": "f", "line": 2**64}]}),
     dump(DONE | {"process_group": "0"}), dump(DONE | {"state": None}), dump(DONE | {"frames": [{}]})],
)  # fmt: skip
@pytest.mark.parametrize("write", [lambda one: json.dumps(one).encode(), lambda one: pickle.dumps(one, 4)])
def test_other_documents_are_refused(document: object, write: object) -> None:
    assert callable(write)
    with pytest.raises(DamagedFile, match="dump_rank_3"):
        read_dump(write(document), SOURCE, budget())


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner)
        | st.tuples(inner, inner)
        | st.tuples(inner, inner, inner, inner)
    ),
)


@given(PLAIN, st.integers(2, 5))
def test_plain_values_are_read_as_pickle_reads_them(value: object, protocol: int) -> None:
    assert read_plain_pickle(pickle.dumps(value, protocol), budget()) == value


class Harm:
    def __reduce__(self) -> tuple[object, ...]:
        return (Path("/tmp/profkit-harm").write_text, ("harm",))


@pytest.mark.parametrize("value", [Harm(), OrderedDict(a=1), {1}, b"bytes", print, 1j])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_what_is_not_plain_is_refused(value: object, protocol: int) -> None:
    with pytest.raises(ValueError, match="which can run code or is not expected"):
        read_plain_pickle(pickle.dumps([value], protocol), budget())
    assert not Path("/tmp/profkit-harm").exists()


def laughs() -> object:
    value: object = (1,)
    for _ in range(60):
        value = (value, value)
    return value


def deep(depth: int = 10**5) -> bytes:
    return b"\x80\x02" + b"]" * depth + b"a" * (depth - 1) + b"."


@pytest.mark.parametrize(
    "data",
    [b"\x80\x02", b"\x80\x02.", b"\x80\x02a.", b"\x80\x02u.", b"\x80\x02h\x05.", b"\x80\x02K\x01K\x02a.",
     b"\x80\x02K\x01(u.", b"\x80\x02}(K\x01u.", b"\x80\x02}(]K\x01u.", b"\x80\x02X\xff\xff\xff\x7fabc",
     b"\x80\x02r\xff\xff\xff\xff.", b"\x80\x02\x85.", b"\x80\x02cos\nsystem\n(S'x'\ntR.", b"\x80\x02(."],
)  # fmt: skip
def test_damaged_pickles_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedFile, match="pickle"):
        read_dump(data, SOURCE, budget())


def test_hostile_pickles_take_little_time() -> None:
    begin = time.process_time()
    hostile = dump(DONE | {"input_sizes": laughs()})
    assert read_dump(pickle.dumps(hostile, 4), SOURCE, budget()).groups
    with pytest.raises(DamagedFile):
        read_dump(deep(), SOURCE, budget())
    with pytest.raises(LimitExceeded):
        read_plain_pickle(deep(), budget(10_000))
    assert time.process_time() - begin < 10


WHOLE = [pickle.dumps(WAITS, 2), json.dumps(WAITS).encode()]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 9), st.binary(max_size=3)), max_size=4),
)
def test_whatever_a_file_holds_it_is_read_or_refused(
    data: bytes, edits: list[tuple[float, int, bytes]]
) -> None:
    for place, length, word in edits:
        at = int(place * len(data))
        data = data[:at] + word + data[at + length :]
    with suppress(DamagedFile):
        found = read_dump(data, SOURCE, budget())
        assert JOB_STACKS.text(stacks_of((found,), 10**18))
