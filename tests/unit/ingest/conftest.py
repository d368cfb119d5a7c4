"""Fixtures of the tests of ingestion: a spool and a store in a temporary folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.store.runs import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"
