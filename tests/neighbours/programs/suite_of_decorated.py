"""A suite whose results and coverage are compared; one of its tests fails."""

from __future__ import annotations

import asyncio

import pytest
from decorated_code import classify, fails, numbers, wait


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (0, "zero"),
        (2, "prime"),
        (3, "prime"),
        (4, "composite"),
        (9, "composite"),
        (7, "prime"),
        (8, "composite"),
    ],
)
def test_classify(number, kind):
    assert classify(number) == kind


@pytest.mark.parametrize("count", [3, 5])
def test_numbers(count):
    assert list(numbers(count)) == list(range(count))


@pytest.mark.parametrize("value", [1, 2])
def test_wait(value):
    assert asyncio.run(wait(value)) == value


@pytest.mark.parametrize("kind", [ValueError, OSError])
def test_fails(kind):
    with pytest.raises(kind, match="mine"):
        fails(kind)


def test_that_fails(monkeypatch):
    monkeypatch.setattr("decorated_code.numbers", None)
    assert classify(5) == "composite"
