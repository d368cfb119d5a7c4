"""How data shows itself in a notebook."""

from __future__ import annotations

import importlib
from typing import Protocol

_RENDERER = "profkit.render.notebook"
"""Found by its name when a notebook asks: the model lies below what renders it, and imports none of it."""


class Printer(Protocol):
    """IPython's pretty printer, as far as it is used."""

    def text(self, text: str) -> None:
        """Print text that has no line breaks."""


class ShownInNotebooks:
    """Runs and measurements: Jupyter, VS Code and others show what these methods give."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """A frame with the report's page, small enough to be kept in a notebook."""
        shown: str | None = importlib.import_module(_RENDERER).notebook_html(self)
        return shown

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        """One line: IPython keeps the text beside the page, and all samples would be megabytes of it."""
        printer.text(importlib.import_module(_RENDERER).notebook_text(self))
