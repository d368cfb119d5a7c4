from __future__ import annotations

import dataclasses
import enum
import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.function_counts import CallCount, FunctionCount
from profkit.model.histogram import Histogram
from profkit.model.measurement import (
    InstructionCounts,
    MeasuredIn,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    MeasurementWarning,
    OrderInfo,
    Preload,
    ProcessTimes,
    Timing,
    Tool,
    WarningCode,
)
from profkit.model.notes import Note, NoteCode
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Imported, RunInfo
from profkit.model.session import (
    CallDelta,
    ChildUsage,
    Cover,
    Manifest,
    ProcessInfo,
    ResourcePoint,
    SamplerPlan,
    Segment,
    SessionState,
)
from profkit.model.workorder import Language, Level, Mode
from profkit.store.records import from_json, to_json
from profkit.units import Unit

# Lone surrogates as os.fsdecode makes them; a high one before a low one is what JSON calls one character.
TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)
    ),
    max_size=8,
)
INTS = st.integers(-(2**70), 2**70)
FLOATS = st.floats(allow_nan=False)


def tuples(items: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(items, max_size=3).map(tuple)


PAIRS = st.tuples(TEXT, TEXT)
OPTIONAL_TEXT, OPTIONAL_INT = st.none() | TEXT, st.none() | INTS
HISTOGRAMS = st.builds(Histogram, tuples(st.tuples(INTS, INTS)), INTS, INTS, INTS, INTS)
REGIONS = st.builds(
    Region,
    key=st.builds(RegionKey, TEXT, TEXT, INTS, TEXT),
    kind=st.sampled_from(RegionKind),
    file=TEXT,
    expected=st.none() | PAIRS,
    body=tuples(INTS),
    detached=st.booleans(),
    all_threads=st.booleans(),
    stack_max_len=INTS,
    tags=tuples(TEXT),
    user=TEXT,
    env=tuples(PAIRS),
)
PROCESSES = st.builds(
    ProcessInfo, INTS, INTS, TEXT, TEXT, tuples(TEXT), TEXT, OPTIONAL_TEXT, TEXT, OPTIONAL_TEXT
)
FIGURES = tuples(st.tuples(TEXT, INTS | FLOATS | TEXT))
NOTES = tuples(st.builds(Note, st.sampled_from(NoteCode), FIGURES))
PLANS = st.builds(
    SamplerPlan,
    sampler=TEXT,
    rate_hz=FLOATS,
    blocking=st.booleans(),
    idle=st.booleans(),
    native=st.booleans(),
    subprocesses=st.booleans(),
    scope=TEXT,
    max_duration_s=FLOATS,
    tags=tuples(TEXT),
    sample_each=st.none() | FLOATS,
    notes=NOTES,
    gil=st.booleans(),
    async_stacks=st.booleans(),
)
SEGMENTS = st.builds(
    Segment,
    index=INTS,
    started_ns=INTS,
    running_ns=OPTIONAL_INT,
    pid=OPTIONAL_INT,
    links=tuples(PAIRS),
    covers=tuples(st.builds(Cover, TEXT, OPTIONAL_INT)),
    error=OPTIONAL_TEXT,
)
ORDERS = st.builds(
    OrderInfo,
    label=TEXT,
    what=TEXT,
    setup=TEXT,
    global_setup=TEXT,
    mode=st.sampled_from(Mode),
    language=st.sampled_from(Language),
    level=st.sampled_from(Level),
    num_threads=INTS,
    quick=st.booleans(),
    labels=tuples(PAIRS),
    source_cmd=tuples(TEXT),
)
MEASURED_IN = st.builds(
    MeasuredIn, st.sampled_from(Tool), st.sampled_from(Preload), TEXT, tuples(PAIRS), st.booleans()
)
WARNINGS = tuples(st.builds(MeasurementWarning, st.sampled_from(WarningCode), FIGURES))
TIMINGS = st.builds(
    Timing, INTS, tuples(st.builds(ProcessTimes, tuples(FLOATS), INTS, FLOATS, INTS)), MEASURED_IN
)
COUNTS = st.builds(
    InstructionCounts,
    number=INTS,
    raw=tuples(INTS),
    baseline=FLOATS,
    net=FLOATS,
    stripped=FLOATS,
    measured_in=MEASURED_IN,
    functions=tuples(st.builds(FunctionCount, TEXT, FLOATS, FLOATS, FLOATS, TEXT)),
    calls=tuples(st.builds(CallCount, TEXT, TEXT, FLOATS, FLOATS)),
    events=tuples(st.tuples(TEXT, FLOATS)),
)
MEASURED_INFOS = st.builds(
    MeasuredInfo,
    id=TEXT,
    batch=TEXT,
    started_ns=INTS,
    duration_s=FLOATS,
    process=PROCESSES,
    order=ORDERS,
    min_s=st.none() | FLOATS,
    instructions=st.none() | FLOATS,
    warnings=WARNINGS,
    error=OPTIONAL_TEXT,
)
RECORDS = st.one_of(
    st.builds(
        MeasuredRun,
        MEASURED_INFOS,
        st.none() | st.builds(Measurement, ORDERS, st.none() | TIMINGS, st.none() | COUNTS, WARNINGS),
    ),
    REGIONS,
    st.builds(
        Manifest,
        session=TEXT,
        state=st.sampled_from(SessionState),
        created_ns=INTS,
        process=PROCESSES,
        plan=PLANS,
        segments=tuples(SEGMENTS),
        notes=NOTES,
    ),
    st.builds(CallDelta, region=TEXT, at_ns=INTS, durations=HISTOGRAMS, first_call_ns=OPTIONAL_INT),
    st.builds(
        ResourcePoint, INTS, FLOATS, INTS, INTS, st.none() | st.builds(ChildUsage, FLOATS, FLOATS, INTS)
    ),
    st.builds(
        RunInfo,
        id=TEXT,
        session=TEXT,
        region=REGIONS,
        state=st.sampled_from(SessionState),
        started_ns=INTS,
        process=PROCESSES,
        plan=PLANS,
        achieved_hz=st.none() | FLOATS,
        imported=st.none() | st.builds(Imported, TEXT, TEXT, TEXT, st.sampled_from(Unit), INTS),
    ),
)


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


@given(RECORDS)
def test_every_record_of_the_spool_and_the_store_comes_back(record: object) -> None:
    assert from_json(type(record), json.loads(json.dumps(to_json(record)))) == record


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
