"""Signatures such as `f(x, y) -> z`: the names that go into a computation, and the one that comes out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from profkit.errors import UsageError
from profkit.model.workorder import Language

_SIGNATURE = re.compile(r"\w+\((?P<parameters>[\w, ]*)\)\s*->\s*(?P<result>\w+)")


@dataclass(frozen=True, slots=True)
class Signature:
    """What goes in and what comes out."""

    parameters: tuple[str, ...]
    result: str | None
    """None: nothing, as it changes what goes in."""

    @property
    def assigned(self) -> str:
        """What comes before a call in Python."""
        return "" if self.result is None else f"{self.result} = "

    def call_in(self, language: Language) -> str:
        """Return the statement that calls `model`."""
        parameters = ", ".join(self.parameters)
        if language is Language.PYTHON:
            return f"{self.assigned}model({parameters})"
        declared = "" if self.result is None else f"auto {self.result} = "
        return f"{declared}model->forward({parameters});"


def read_signature(text: str | None) -> Signature | None:
    """Parse a signature; raise `UsageError` if it is none."""
    if text is None:
        return None
    match = _SIGNATURE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"it has the signature {text!r}", "write it as 'f(x, y) -> z'")
    names = (name.strip() for name in match["parameters"].split(","))
    result = match["result"]
    return Signature(tuple(name for name in names if name), None if result == "None" else result)
