"""Sentences for notes, warnings and findings: templates by code, which are filled with figures.

A field of a template is `{name}` or `{name:format}`; `{a/b}` is a ratio of two figures. Its format is one of
Python's or one of `_FORMATS`, or `count NOUN`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar, cast

from profkit.model.notes import Figure
from profkit.render.formatting import change, count, count_text
from profkit.units import format_bytes, format_duration


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

    def fill(self, template: str) -> str:
        """Return a template with its fields filled."""
        return template.format_map(_Fields(self.values))


class _Fields(dict[str, Figure]):
    def __getitem__(self, name: str) -> _Field:  # type: ignore[override]
        above, slash, below = name.partition("/")
        value = super().__getitem__(above)
        return _Field(cast(float, value) / cast(float, super().__getitem__(below)) if slash else value)


@dataclass(frozen=True, slots=True, repr=False)
class _Field:
    value: Figure

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, form: str) -> str:
        kind, _, noun = form.partition(" ")
        if kind == "count":
            return count(cast(int, self.value), noun)
        if kind in _FORMATS:
            return _FORMATS[kind](cast(float, self.value))
        return format(self.value, form)


_FORMATS: Mapping[str, Callable[[float], str]] = {
    "percent": lambda part: f"{100 * part:.0f} %",
    "percent1": lambda part: f"{100 * part:.1f} %",
    "limit": lambda part: f"{100 * part:.3g} %",
    "change": change,
    "amount": count_text,
    "bytes": format_bytes,
    "duration": format_duration,
    "known": lambda text: str(text or "not known"),
    "sentence": lambda text: f"{str(text).removesuffix('.')}.",
}


Sentence: TypeAlias = str | Callable[[Figures], str]
"""A template, or a function for what templates cannot say."""

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
    text = figures.fill(sentence) if isinstance(sentence, str) else sentence(figures)
    return figures.fill("In {in_runs:,} of {of_runs:count run}: ") + text if "in_runs" in figures else text


def text(coded: Coded[CodeT], sentences: Mapping[CodeT, Sentence]) -> str:
    """Return the sentence for a code.

    If its figures are unsuitable, which only a damaged or foreign file can cause, return the code and them.
    """
    try:
        return strict_text(coded, sentences)
    except (KeyError, TypeError, ValueError, ArithmeticError, OSError):
        figures = ", ".join(f"{name}={value}" for name, value in coded.figures)
        return f"{coded.code.value} ({figures or 'without figures'})"
