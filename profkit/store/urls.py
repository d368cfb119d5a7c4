"""URLs of stores: as users write them, and as messages show them, without passwords."""

from __future__ import annotations

import re

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from profkit.errors import StoreUnavailable
from profkit.process.redaction import HIDDEN, without_secrets

_SQLITE = "sqlite:///"
_QUERY = re.compile(r"\?\w+=[^/&?]*(&\w+=[^/&?]*)*")
_PASSWORD = re.compile(r"((?://|^(?!.*://))[^:/@]*:).*@")
_POSTGRES = re.compile(r"postgres(?=(\+\w+)?://)")


def parse_url(text: str) -> URL:
    """Parse a store's URL; read `postgres://`, as hosting services write it, as `postgresql://`.

    The path of a SQLite database is used literally: `?` and `%20` may be part of it. Raises
    StoreUnavailable.
    """
    text = _POSTGRES.sub("postgresql", text, count=1)
    path, mark, query = text.removeprefix(_SQLITE).partition("?")
    if text.startswith(_SQLITE) and not _QUERY.fullmatch(mark + query):
        return URL.create("sqlite", database=path + mark + query)
    try:
        return make_url(text)
    except ArgumentError as error:
        detail = "it is not a database URL such as sqlite:////home/me/runs.db"
        raise StoreUnavailable(hide_password(text), detail) from error
    except ValueError as error:
        raise StoreUnavailable(hide_password(text), "its port is not a number") from error


def shown_url(url: URL) -> str:
    """Return a URL for display: without its password, and with a literal path."""
    if url.get_backend_name() == "sqlite":
        query = "&".join(f"{name}={value}" for name, value in url.query.items())
        return f"{url.drivername}:///{url.database or ''}" + (f"?{query}" if query else "")
    return hide_password(url.render_as_string(hide_password=True))


def hide_password(text: str) -> str:
    """Hide the password of a URL, even of one that cannot be parsed."""
    return without_secrets(_PASSWORD.sub(rf"\1{HIDDEN}@", text))
