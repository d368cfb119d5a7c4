"""Golden files: named after what goes in and the options; RENEW_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os
import re

from tests.support.folders import GOLDEN

_LONG_NUMBER = re.compile(r"\d+\.\d{12,}(?:e-?\d+)?")


def check_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("RENEW_GOLDEN"):
        path.write_text(text, "utf-8")
    kept = path.read_text("utf-8")
    assert _rounded(text) == _rounded(kept), f"{name}: look at the difference; RENEW_GOLDEN=1 accepts it"


def _rounded(text: str) -> str:
    """Round to what C libraries have in common: their `erfc` differs in the last digits."""
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.12g}", text)
