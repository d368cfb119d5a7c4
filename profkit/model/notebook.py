"""How data shows itself in a notebook."""

from __future__ import annotations

import importlib

_RENDERER = "profkit.render.notebook"
"""Found by its name when a notebook asks: the model lies below what renders it, and imports none of it."""


class ShownInNotebooks:
    """Runs and measurements: Jupyter, VS Code and others show what `_repr_html_` gives."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """A frame with the report's page, small enough to be kept in a notebook; None if there is none."""
        shown: str | None = importlib.import_module(_RENDERER).notebook_html(self)
        return shown
