"""Tests beside other libraries: all carry the marker `neighbours`, and need the extra of that name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytest.register_assert_rewrite("tests.neighbours.harness", "tests.neighbours.servers")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.neighbours)


@pytest.fixture(scope="session", autouse=True)
def neighbours() -> None:
    """Name the cause once and clearly if the extra is not installed."""
    if importlib.util.find_spec("numba") is None or importlib.util.find_spec("uvicorn") is None:
        pytest.exit("these tests need more: pip install -c constraints.txt -e '.[test,neighbours]'", 4)
