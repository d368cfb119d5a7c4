"""What can be decorated, and what is told where it cannot."""

from __future__ import annotations

import pytest

from profkit import profile, profiled
from profkit.errors import UsageError


@pytest.mark.parametrize("decorator", [profile, profile(label="x"), profiled("x")])
def test_a_class_is_not_decorated(decorator: object) -> None:
    class Owner:
        pass

    with pytest.raises(UsageError, match="Owner'> is a class; decorate its methods"):
        decorator(Owner)  # type: ignore[operator]


@pytest.mark.parametrize("thing", [5, None, "name", object()])
def test_what_cannot_be_called_is_not_decorated(thing: object) -> None:
    with pytest.raises(UsageError, match="is not callable"):
        profile()(thing)  # type: ignore[arg-type]


def test_a_block_needs_parentheses() -> None:
    with pytest.raises(UsageError, match="@profiled needs parentheses"):

        @profiled  # type: ignore[arg-type]
        def function() -> None: ...


def test_what_is_not_enabled_is_the_function_itself() -> None:
    def function() -> int:
        return 1

    assert profile(function, enabled=False) is function
