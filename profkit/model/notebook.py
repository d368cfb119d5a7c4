"""Display of runs, measurements and comparisons in notebooks."""

from __future__ import annotations

import importlib
from typing import Protocol

_RENDERER = "profkit.render.notebook"
"""Imported by name on display, since the model must not import its renderer, a higher package."""


class Printer(Protocol):
    """The used part of IPython's pretty printer."""

    def text(self, text: str) -> None:
        """Print text that has no line breaks."""


class ShownInNotebooks:
    """Base of runs, measurements and comparisons, with the methods that Jupyter, VS Code and others call."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return a frame with the report's page, small enough for a notebook file."""
        shown: str | None = importlib.import_module(_RENDERER).notebook_html(self)
        return shown

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        """Print one line: IPython keeps the text with the page, and all samples would take megabytes."""
        printer.text(importlib.import_module(_RENDERER).notebook_text(self))
