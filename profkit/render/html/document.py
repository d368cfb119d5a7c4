"""A page as one file: skeleton, styles, scripts and data, and a policy that lets nothing else run.

What comes from a profile stands in three places: the title, escaped; a block of JSON in which no
character can end the block; and a block of base64. No script is ever made of it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence

from profkit.render.escape import visible
from profkit.render.html.assets import SCRIPTS, STYLES, asset
from profkit.render.html.columns import Columns
from profkit.version import VERSION

SCHEMA = "profkit.page/1"

_NOTHING = "'none'"
_STRICT = '"use strict";\n'
"""Functions are their block's own then; else those named `print` or `focus` would be the window's."""
_SLOT = re.compile(r"<!--(\w+)-->")
_MARKUP = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&"})


def html_page(head: Mapping[str, object], columns: Columns) -> str:
    """The page of this data; equal data give equal bytes.

    Texts in the head are shown as they are, so whatever comes from a program has been through `visible`.
    """
    styles, scripts = [asset(name) for name in STYLES], [_STRICT + asset(name) for name in SCRIPTS]
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
    """JSON in ASCII that holds no markup; lone surrogates and line separators are escapes as well."""
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
    """Content Security Policy: nothing is loaded, and only these very texts run."""
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
