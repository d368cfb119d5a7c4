from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.browser import chromium, page_of, pages
from tests.integration.postgres_server import running_server
from tests.integration.targets import running_target

__all__ = ["chromium", "page_of", "pages", "postgres"]


@pytest.fixture
def target() -> Iterator[int]:
    """The pid of a busy program."""
    with running_target() as process:
        yield process.pid


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server that is there for these tests alone."""
    with running_server() as url:
        yield url
