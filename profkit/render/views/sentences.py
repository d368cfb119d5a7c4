"""Figures of notes, warnings and findings by name and type, and the choice of the sentence for a code."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar, cast

from profkit.model.notes import Figure
from profkit.render.formatting import count


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures by name; a missing one raises KeyError."""

    values: Mapping[str, Figure]

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __getitem__(self, name: str) -> Figure:
        return self.values[name]

    def integer(self, name: str) -> int:
        """Return a whole number."""
        return cast(int, self.values[name])

    def number(self, name: str) -> float:
        """Return a number."""
        return cast(float, self.values[name])

    def percent(self, name: str = "share", digits: int = 0) -> str:
        """Format a part of 1 as a percentage."""
        return f"{100 * self.number(name):.{digits}f} %"

    def detail(self, name: str = "detail") -> str:
        """Return a message from elsewhere, with a full stop."""
        return f"{str(self.values[name]).removesuffix('.')}."


Sentence: TypeAlias = str | Callable[[Figures], str]

CodeT = TypeVar("CodeT", bound=enum.Enum, covariant=True)


class Coded(Protocol[CodeT]):
    """A code with its figures: a note, a warning or a finding."""

    @property
    def code(self) -> CodeT:
        """Subject of the sentence."""

    @property
    def figures(self) -> tuple[tuple[str, Figure], ...]:
        """(name, figure)."""


def strict_text(coded: Coded[CodeT], sentences: Mapping[CodeT, Sentence]) -> str:
    """Return the sentence for a code; raises various errors if its figures are unsuitable.

    If it is about some runs of a merged run, it begins with their number.
    """
    sentence, figures = sentences[coded.code], Figures(dict(coded.figures))
    text = sentence if isinstance(sentence, str) else sentence(figures)
    if "in_runs" not in figures:
        return text
    return f"In {figures.integer('in_runs'):,} of {count(figures.integer('of_runs'), 'run')}: {text}"


def text(coded: Coded[CodeT], sentences: Mapping[CodeT, Sentence]) -> str:
    """Return the sentence for a code.

    If its figures are unsuitable, which only a damaged or foreign file can cause, return the code and them.
    """
    try:
        return strict_text(coded, sentences)
    except (KeyError, TypeError, ValueError, ArithmeticError, OSError):
        figures = ", ".join(f"{name}={value}" for name, value in coded.figures)
        return f"{coded.code.value} ({figures or 'without figures'})"
