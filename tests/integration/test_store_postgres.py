from __future__ import annotations

import uuid

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.integration.store_suite import StoreSuite


@pytest.mark.postgres
class TestPostgres(StoreSuite):
    @pytest.fixture
    def url(self, postgres: str) -> str:
        """A database of its own on the test's server."""
        name = f"test_{uuid.uuid4().hex}"
        engine = create_engine(postgres, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"create database {name}"))
        engine.dispose()
        return make_url(postgres).set(database=name).render_as_string(hide_password=False)
