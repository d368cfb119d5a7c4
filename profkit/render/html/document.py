"""HTML page as one offline file: skeleton, styles, scripts, packed data, and Content Security Policy."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from profkit.errors import UsageError
from profkit.render.escape import visible
from profkit.render.options import ReportOptions
from profkit.version import VERSION

STYLES: tuple[str, ...] = (
    "tokens.css",
    "frame.css",
    "graph.css",
    "tables.css",
    "panels.css",
    "plots.css",
    "print.css",
)
_FOLDER = Path(__file__).with_name("page")


@cache
def asset(name: str) -> str:
    """Return the text of a file in the folder `page`."""
    return (_FOLDER / name).read_text("utf-8")


@cache
def script() -> str:
    """Return the page's scripts, bundled by `npm run build` in the folder `page`."""
    return _FOLDER.with_suffix(".js").read_text("utf-8")


Kind = Literal["u8", "u16", "u32", "f64"]

_CODES: dict[Kind, str] = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}
_ALIGNMENT = 8
"""JavaScript's typed arrays begin at a multiple of their element size; eight fits all kinds."""
_LEVEL = 4
"""zlib's level. For columns of samples, level 6 takes over twice the time and saves a thousandth."""


class Columns:
    """Named columns of numbers, stored one after the other as little-endian bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._directory: dict[str, dict[str, object]] = {}

    def add(self, name: str, kind: Kind, values: Iterable[int] | Iterable[float]) -> None:
        """Append a column; raise OverflowError for numbers that its kind cannot hold."""
        numbers = array(_CODES[kind], values)
        self._directory[name] = {"kind": kind, "offset": self._size, "count": len(numbers)}
        if sys.byteorder == "big":
            numbers.byteswap()
        data = numbers.tobytes()
        self._parts += [data, bytes(-len(data) % _ALIGNMENT)]
        self._size += len(data) + len(self._parts[-1])

    def directory(self) -> dict[str, dict[str, object]]:
        """Return each column's kind, offset in the unpacked bytes and count."""
        return dict(self._directory)

    def packed(self) -> bytes:
        """Return all columns in zlib's format; equal columns give equal bytes."""
        packer = zlib.compressobj(_LEVEL)
        return b"".join([*map(packer.compress, self._parts), packer.flush()])


SCHEMA = "profkit.page/1"

_NOTHING = "'none'"
_SLOT = re.compile(r"<!--(\w+)-->")
_MARKUP = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&"})


def html_page(head: Mapping[str, object], columns: Columns) -> str:
    """Return the page of this data; equal data give equal bytes.

    The page shows texts in the head unchanged. Texts from a program must have been through `visible`.
    """
    styles, scripts = [asset(name) for name in STYLES], [script()]
    slots = {
        "policy": _policy(styles, scripts),
        "title": html.escape(visible(str(head["title"]))),
        "styles": _elements("style", styles),
        "data": _data(
            {"schema": SCHEMA, "profkit": VERSION, **head, "columns": columns.directory()}, columns
        ),
        "scripts": _elements("script", scripts),
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], asset("page.html"))


def safe_json(value: object) -> str:
    """Return ASCII JSON without markup; lone surrogates and line separators are escaped as well."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).translate(_MARKUP)


def _data(head: Mapping[str, object], columns: Columns) -> str:
    packed = base64.b64encode(columns.packed()).decode("ascii")
    return (
        f'<script id="profkit-head" type="application/json">{safe_json(head)}</script>\n'
        f'<script id="profkit-columns" type="text/plain">{packed}</script>'
    )


def _elements(name: str, texts: Sequence[str]) -> str:
    return "\n".join(f"<{name}>{text}</{name}>" for text in texts)


def _policy(styles: Sequence[str], scripts: Sequence[str]) -> str:
    """Return a Content Security Policy: the page loads nothing and runs only these texts."""
    rules = {
        "default-src": _NOTHING,
        "script-src": " ".join(map(_hash, scripts)) or _NOTHING,
        "style-src": " ".join(map(_hash, styles)) or _NOTHING,
        "img-src": "data:",
        "base-uri": _NOTHING,
        "form-action": _NOTHING,
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def refuse_limits(options: ReportOptions) -> None:
    """Raise `UsageError` for options that limit a report: a page shows everything."""
    given = {
        "--limit": options.limit is not None,
        "--min-share": options.min_share is not None,
        "--depth": options.depth is not None,
        "--show-all": options.show_all,
    }
    if wrong := ", ".join(option for option, is_given in given.items() if is_given):
        raise UsageError(f"{wrong} cannot be combined with HTML, which shows everything", "leave it out")
