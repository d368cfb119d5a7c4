"""Names of a profiled program, made safe to print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.render.escape import MAX_NAME, short, visible

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_whatever_is_shown_prints(text: str) -> None:
    assert visible(text).isprintable()
    assert short(text).isprintable()
    assert len(short(text)) <= MAX_NAME


@given(ANY_TEXT.filter(str.isprintable))
def test_what_prints_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb", "a\\nb"),
        ("\u202eabc", "\\u202eabc"),
        ("\udc80", "\\udc80"),
        ("naïve 漢字 🚀", "naïve 漢字 🚀"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_name_loses_its_middle() -> None:
    assert short("begin" + "x" * 500 + "end", 11) == "begin…xxend"
    assert short("just fits", 9) == "just fits"
