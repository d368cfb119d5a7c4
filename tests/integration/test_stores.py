"""Stores in SQLite and in PostgreSQL do the same."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from profkit.errors import StoreUnavailable
from profkit.model.notes import Note, NoteCode
from profkit.model.run import Run
from profkit.store.runs import open_store
from tests.integration.postgres_server import new_database
from tests.integration.store_suite import StoreSuite
from tests.support.example_runs import INFO, made_run


class TestSqlite(StoreSuite):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/a folder/runs.db"

    def test_space_of_removed_runs_is_given_back(self, url: str, tmp_path: Path) -> None:
        texts = (os.urandom(4000).hex() for _ in range(100))
        noise = tuple(Note.of(NoteCode.RUN_FAILED, detail=text) for text in texts)
        with open_store(url) as store:
            store.add([made_run(id="a1", notes=noise)])
            file = tmp_path / "a folder" / "runs.db"
            full = file.stat().st_size
            store.remove(["a1"])
            assert file.stat().st_size < full / 2

    def test_a_look_needs_no_lock_and_writes_nothing(self, url: str, tmp_path: Path) -> None:
        with open_store(url) as store:
            store.add([Run(INFO)])
        other = sqlite3.connect(tmp_path / "a folder" / "runs.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with open_store(url) as store:
            assert store.runs() == (INFO,)
        other.close()

    def test_a_store_that_may_not_be_written_can_be_read(self, url: str, tmp_path: Path) -> None:
        with open_store(url) as store:
            store.add([made_run()])
        read_only = f"sqlite:///file:{tmp_path}/a folder/runs.db?mode=ro&uri=true"
        with open_store(read_only) as store:
            assert store.load(INFO.id) == made_run()
            with pytest.raises(StoreUnavailable, match="readonly"):
                store.remove([INFO.id])


@pytest.mark.postgres
class TestPostgres(StoreSuite):
    @pytest.fixture
    def url(self, postgres: str) -> str:
        """A database of its own on the test's server."""
        return new_database(postgres)
