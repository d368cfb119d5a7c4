"""What is repeated does not grow: profilers, statements and counters of blocks."""

from __future__ import annotations

from typing import Any

import pytest

from profkit import decorators, profiled
from profkit.calls import blocks, with_statements
from profkit.process import guard

REPEATED = 40


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decorators, "_PROFILERS", {})
    monkeypatch.setattr(decorators, "_UNLABELLED", {})
    monkeypatch.setattr(blocks, "_STATEMENTS", {})
    monkeypatch.setattr(with_statements, "_STATEMENTS", {})
    monkeypatch.setattr(guard, "_LOGGED", set())


@pytest.fixture(autouse=True)
def unsampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No session: only what a block keeps counts here."""
    monkeypatch.setattr(blocks, "enter", lambda *_: False)


def entered(label: str | None = None, **options: Any) -> profiled:
    with profiled(label, **options) as block:
        pass
    assert isinstance(block, profiled)
    return block


@pytest.mark.parametrize(
    "options",
    [
        {"sample_tags": ["a", "b"]},
        {"recorded_env_variables": ["HOME"]},
        {"on_run": None},
        {"sample_tags": {"a"}, "rate": 100},
    ],
    ids=str,
)
def test_options_that_are_made_anew_are_known(options: dict[str, Any]) -> None:
    def again() -> dict[str, Any]:
        made = {name: type(value)(value) for name, value in options.items() if name != "on_run"}
        return {**made, **({"on_run": lambda run: None} if "on_run" in options else {})}

    made = [entered(**{"mode": "samples", **again()}) for _ in range(REPEATED)]
    assert len({id(block.counters) for block in made}) == 1
    assert (len(decorators._PROFILERS), len(blocks._STATEMENTS)) == (1, 1)


def test_labels_that_are_made_from_data_end_in_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(decorators, "_MOST_PROFILERS", 10)
    made = [entered(label=f"step {number}", sample_tags=[str(number)]) for number in range(REPEATED)]
    labels = [block.region.key.label for block in made if block.region is not None]
    assert labels == [f"step {number}" for number in range(10)] + [decorators.OTHER_LABELS] * 30
    assert (len(decorators._PROFILERS), len(blocks._STATEMENTS)) == (11, 11)
    assert [record.getMessage()[:40] for record in caplog.records] == [
        "blocks have more than 10 different label"
    ]


def test_labels_on_a_line_are_of_one_statement() -> None:
    made = [entered(label=f"step {number}") for number in range(REPEATED)]
    assert len({id(block.counters) for block in made}) == REPEATED
    assert len(with_statements._STATEMENTS) == 1


def test_statements_of_code_that_is_made_in_a_loop_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(with_statements, "_MOST_STATEMENTS", 10)
    space: dict[str, Any] = {"profiled": profiled, "seen": []}
    for _ in range(REPEATED):
        exec("with profiled('cell') as block:\n    seen.append(block.counters)", space)
    assert len({id(counters) for counters in space["seen"]}) == 1
    assert len(with_statements._STATEMENTS) == len(blocks._STATEMENTS) == 10
