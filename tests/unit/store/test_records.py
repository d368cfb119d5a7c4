from __future__ import annotations

import dataclasses
import enum
import json
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profkit.model.histogram import LARGEST_BUCKET, Histogram
from profkit.model.measurement import MeasuredRun
from profkit.model.region import Region
from profkit.model.run import RunInfo
from profkit.model.session import (
    CallDelta,
    Capture,
    CellName,
    Dropped,
    Ending,
    Manifest,
    ResourcePoint,
    SamplerPlan,
    ThreadName,
    Unprofiled,
)
from profkit.model.trace import Trace
from profkit.store.records import from_json, to_json

# Lone surrogates as os.fsdecode makes them; a high one before a low one is what JSON calls one character.
TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)
    ),
    max_size=8,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
BUCKET = st.tuples(st.integers(0, LARGEST_BUCKET), st.integers(0, 2**63 - 1))


@cache
def records_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type hint: dataclasses with any value in each field."""
    arguments = get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        fields = {field.name: records_of(hints[field.name]) for field in dataclasses.fields(hint)}
        return st.builds(hint, **fields)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return st.sampled_from(list(hint))
    if get_origin(hint) is not tuple:
        return st.one_of(*map(records_of, arguments))
    if arguments[-1] is Ellipsis:
        return st.lists(records_of(arguments[0]), max_size=2).map(tuple)
    return st.tuples(*map(records_of, arguments))


PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT, int: INT64, float: st.floats(allow_nan=False, allow_infinity=False), bool: st.booleans(),
    NoneType: st.none(),
    Histogram: st.builds(Histogram, st.lists(BUCKET, max_size=2).map(tuple), INT64, INT64, INT64, INT64),
}  # fmt: skip
KINDS = (
    CallDelta, Capture, CellName, Dropped, Ending, Manifest, MeasuredRun, Region, ResourcePoint, RunInfo,
    ThreadName, Trace, Unprofiled,
)  # fmt: skip


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    pair: tuple[int, str]


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner
    many: tuple[Inner, ...] = ()
    colour: Colour = Colour.RED
    share: float = 0.5
    on: bool = False
    maybe: int | None = None
    new: str = dataclasses.field(default="unknown", metadata={"later": True})


GOOD = to_json(Outer("n", Inner((1, "a")), (Inner((2, "b")),)))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_every_record_of_the_spool_and_the_store_comes_back(kind: type, data: st.DataObject) -> None:
    record = data.draw(records_of(kind))
    assert from_json(kind, json.loads(json.dumps(to_json(record)))) == record


def test_what_is_written_is_plain() -> None:
    assert GOOD == {
        "name": "n",
        "inner": {"pair": [1, "a"]},
        "many": [{"pair": [2, "b"]}],
        "colour": "red",
        "share": 0.5,
        "on": False,
        "maybe": None,
        "new": "unknown",
    }


def test_a_plan_from_before_some_options_can_be_read() -> None:
    plan = SamplerPlan.unknown("pyspy", scope="call")
    older = to_json(plan)
    assert isinstance(older, dict)
    del older["gil"], older["async_stacks"]
    assert from_json(SamplerPlan, older) == plan


def test_a_field_that_came_later_may_be_missing() -> None:
    older = {name: value for name, value in GOOD.items() if name != "new"}
    assert from_json(Outer, older).new == "unknown"


def test_a_whole_number_will_do_for_a_float() -> None:
    outer = from_json(Outer, {**GOOD, "share": 1})
    assert (outer.share, type(outer.share)) == (1.0, float)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": None}, "name is None, not of type str"),
        ({"name": 7}, "name is 7, not of type str"),
        ({"inner": None}, "inner is not a JSON object"),
        ({"inner": {}}, r"inner lacks \['pair'\]"),
        ({"inner": {"pair": [1]}}, r"inner.pair has 1 items, not 2"),
        ({"inner": {"pair": [1, 2]}}, r"inner.pair\[1\] is 2, not of type str"),
        ({"many": {}}, "many is not a JSON array"),
        ({"many": [{"pair": [True, "a"]}]}, r"many\[0\].pair\[0\] is True, not of type int"),
        ({"colour": "blue"}, r"colour is 'blue', not one of \['red'\]"),
        ({"share": "0.5"}, "share is '0.5', not of type float"),
        ({"share": True}, "share is True, not of type float"),
        ({"on": 1}, "on is 1, not of type bool"),
        ({"maybe": 1.5}, "maybe is 1.5, not of type int"),
        ({"inner": {"pair": [2**63, "a"]}}, r"inner.pair\[0\] has more than 64 bits"),
        ({"maybe": -(2**63) - 1}, "maybe has more than 64 bits"),
        ({"share": float("nan")}, "share is nan"),
        ({"share": float("-inf")}, "share is -inf"),
        ({"share": 10**400}, "share is an integer of 1329 bits"),
        ({"later": 1}, r"Outer has unknown \['later'\]"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        from_json(Outer, {**GOOD, **changes})


def test_a_missing_field_is_named_though_it_has_a_default() -> None:
    with pytest.raises(ValueError, match=r"Outer lacks \['maybe'\]"):
        from_json(Outer, {key: value for key, value in GOOD.items() if key != "maybe"})


def test_a_type_without_a_json_form_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        things: dict[str, int]

    with pytest.raises(TypeError, match="no JSON form"):
        from_json(Odd, {"things": {}})


@pytest.mark.parametrize("bucket", [(LARGEST_BUCKET + 1, 1), (-1, 1), (0, -1)])
def test_an_impossible_histogram_is_refused(bucket: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"Histogram has {bucket[1]} durations in bucket {bucket[0]}"):
        from_json(Histogram, to_json(Histogram((bucket,))))
