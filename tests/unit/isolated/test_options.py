"""Options of isolated calls: what is refused, and which interpreter is meant."""

from __future__ import annotations

import sys

import pytest

from profkit.errors import UsageError
from profkit.isolated.options import settings_of


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kwarg": 1}, "kwargs="), ({"timeout_s": "1"}, "timeout_s"),
        ({"source_cmd": "a && b"}, "not run in a shell"),
        ({"python": "x", "source_cmd": "y"}, "one of them"), ({"num_threads": 0}, "num_threads"),
    ],
)  # fmt: skip
def test_options_are_checked(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings_of(len, options)  # type: ignore[arg-type]


def test_this_interpreter_is_not_another_one() -> None:
    assert settings_of(len, {"python": sys.executable}).is_own
    assert not settings_of(len, {"python": "/usr/bin/python3"}).is_own
    assert not settings_of(len, {"source_cmd": "env A=1"}).is_own
