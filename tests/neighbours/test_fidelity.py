"""A decorated function is the function, to whoever asks: the standard library, pydantic, typer, click."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neighbours.harness import assert_same, both, program

SCENES = [
    "attributes", "inspection", "hints", "standard_functools", "class_hooks", "classes", "lifetimes",
    "recursion", "pickled", "processes", "pydantic_models", "typer_commands", "click_commands",
    "asynchronous", "mocks",
]  # fmt: skip


@pytest.mark.parametrize("scene", SCENES)
def test_same_answers(tmp_path: Path, scene: str) -> None:
    assert_same(both(tmp_path, program("fidelity.py", scene)))
