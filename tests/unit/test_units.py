from __future__ import annotations

from profkit.units import short_repr


def test_a_long_text_loses_its_middle() -> None:
    assert short_repr("abcdefgh", 5) == "'ab…gh'"
    assert short_repr("two\nlines") == r"'two\nlines'"
