from __future__ import annotations

import pytest

import benchmarks.suite as suite
from benchmarks.figures import Figure

HOLDS = Figure("what", 1.0, bound=2.0, certain=True)
BREAKS = Figure("what", 3.0, bound=2.0, certain=True)


@pytest.mark.parametrize(
    ("found", "arguments", "code"),
    [
        ([HOLDS], [], 0),
        ([BREAKS], [], 0),
        ([HOLDS], ["--check"], 0),
        ([BREAKS], ["--check"], 1),
        (None, [], 1),
    ],
)
def test_a_suite_ends_with_what_was_requested(
    monkeypatch: pytest.MonkeyPatch,
    found: list[Figure] | None,
    arguments: list[str],
    code: int,
) -> None:
    monkeypatch.setattr(suite, "_measured", lambda *_: found)
    assert suite.run_suite("some", {"a": "what a is"}, arguments) == code
