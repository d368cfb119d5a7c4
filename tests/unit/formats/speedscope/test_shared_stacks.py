"""Documents whose equal lists of numbers are one object are those that Python's parser returns."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.formats.json_members import read_json, read_json_with_stacks
from profkit.formats.limits import unlimited

TEXTS = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["[1,2]", 'a"[3]', "\\[4]", "samples", 'x"samples', "\\samples", '"samples":[[1]]']),
)
STACKS = st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=4)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 300), st.floats(-3, 3), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(TEXTS, st.one_of(inner, STACKS), max_size=3),
        st.fixed_dictionaries({"samples": st.one_of(STACKS, st.lists(STACKS, max_size=3), inner)}),
    ),
    max_leaves=20,
)


@given(st.one_of(VALUES, STACKS), st.booleans(), st.sampled_from([None, 1]))
def test_any_document(document: object, ascii_only: bool, indent: int | None) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert read_json_with_stacks(data, unlimited()) == read_json(data) == document


@pytest.mark.parametrize(
    "text",
    ["[1,,2]", "[01]", "[[1,2],[3 4]]", '{"a":[1,2', "[1,]", '"[1', "[1\f]", "[[1],[2]", "[[1]\f,[2]]"],
)
@pytest.mark.parametrize("member", ["%s", '{"samples":%s}'])
def test_errors_name_their_place(text: str, member: str) -> None:
    text = member % text
    with pytest.raises(ValueError, match="not JSON") as expected:
        read_json(text.encode())
    with pytest.raises(ValueError, match="not JSON") as found:
        read_json_with_stacks(text.encode(), unlimited())
    assert str(found.value) == str(expected.value)


def test_other_encodings() -> None:
    data = json.dumps({"\u5b31\u5d31": [[1, 2], [1, 2]]}, ensure_ascii=False).encode("utf-16")
    assert read_json_with_stacks(data, unlimited()) == {"\u5b31\u5d31": [[1, 2], [1, 2]]}


def test_equal_lists_are_one_object() -> None:
    found = read_json_with_stacks(b'[{"samples":[[1,2000],[3]]}, {"samples" : [ [1,2000] ]}]', unlimited())
    assert found == [{"samples": [[1, 2000], [3]]}, {"samples": [[1, 2000]]}]
    assert isinstance(found, list)
    assert found[0]["samples"][0] is found[1]["samples"][0]
