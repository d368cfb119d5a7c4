"""What arguments look like: the same for calls that cost the same, and cheap to say."""

from __future__ import annotations

import enum
from collections import OrderedDict, deque, namedtuple
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.transfer.signature import signature_of


class Colour(enum.Enum):
    RED = 1


class Owner:
    pass


class Hostile:
    """Answers nothing, and minds being asked."""

    dtype = "float"

    @property
    def shape(self) -> Any:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


class HostileList(list[int]):
    def __len__(self) -> int:
        raise RuntimeError("no")


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (numpy.ones((2, 3)), "numpy.float64[2,3]"),
        ([1, 2, 3], "list[3]"),
        ((), "tuple[0]"),
        ({"a": 1}, "dict[1]"),
        (OrderedDict(a=1), "OrderedDict[1]"),
        (deque([1]), "deque[1]"),
        (Pair(1, 2), "Pair[2]"),
        (range(7), "range[7]"),
        (bytearray(5), "bytearray[5]"),
        (HostileList([1, 2]), "HostileList[2]"),
        (5, "5"),
        (-0.5, "-0.5"),
        (float("nan"), "nan"),
        (True, "True"),
        (None, "None"),
        (1 << 100, "int[101 bits]"),
        ("short", "'short'"),
        ("x" * 33, "str[33]"),
        (b"x" * 33, "bytes[33]"),
        (b"\0", "b'\\x00'"),
        (Colour.RED, "Colour.RED"),
        (Owner(), "Owner"),
        (Owner, "class Owner"),
        (Colour, "class Colour"),
        (Hostile(), "Hostile"),
        (len, "builtin_function_or_method"),
    ],
)
def test_a_value(value: object, said: str) -> None:
    assert signature_of((value,), {}) == said


def test_arguments() -> None:
    assert signature_of((), {}) == ""
    assert signature_of((1, "a"), {"z": [1], "b": None}) == "1, 'a', b=None, z=list[1]"
    assert signature_of((), {"a": 1, "b": 2}) == signature_of((), {"b": 2, "a": 1})


def test_many_arguments_are_counted() -> None:
    said = signature_of(range(1_000_000), {str(n): n for n in range(100)})
    assert said.endswith(f", and {1_000_000 - 24 + 100 - 24} more")
    assert len(said) < 500


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
)


@given(st.lists(anything), st.dictionaries(st.text(), anything))
def test_it_says_something_of_anything(args: list[object], kwargs: dict[str, object]) -> None:
    said = signature_of(args, kwargs)
    assert said == signature_of(list(args), dict(kwargs))
    assert said.isprintable() or any(not name.isprintable() for name in kwargs)


def test_what_holds_itself() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert signature_of((endless,), {}) == "list[1]"
