"""Messages of errors, split for checks; a module of its own, since the program that is tried needs it."""

from __future__ import annotations


def without_fix(error: Exception) -> tuple[str, str]:
    """Return an error's message without its fix and without output of others, and the fix."""
    first = (str(error) or type(error).__name__).partition("\n")[0]
    fix = str(getattr(error, "fix", "")) or first.rpartition("; ")[2]
    return (first.replace(f"; {fix}", ""), fix) if f"; {fix}" in first else (first, "")
