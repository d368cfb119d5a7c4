"""When a stream has colours and a width."""

from __future__ import annotations

import io

import pytest

from profkit.render.options import Terminal, terminal_of


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colour(environ: dict[str, str], terminal: bool, pipe: bool) -> None:
    assert terminal_of(_Terminal(), environ).color is terminal
    assert terminal_of(io.StringIO(), environ).color is pipe


def test_only_terminals_have_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "123")
    assert terminal_of(_Terminal(), {}).width == 123
    assert terminal_of(io.StringIO(), {}) == Terminal(None, False)
    monkeypatch.setenv("COLUMNS", "7")
    assert terminal_of(_Terminal(), {}).width == 40
