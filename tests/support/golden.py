"""Golden files: named after what goes in and the options; RENEW_GOLDEN=1 writes them anew."""

from __future__ import annotations

import os

from tests.support.folders import GOLDEN


def check_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("RENEW_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name}: look at the difference; RENEW_GOLDEN=1 accepts it"
