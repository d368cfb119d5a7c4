"""Fields of the messages in a pprof file, by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from profkit.formats import wire
from profkit.formats.limits import Budget

Fields = Mapping[int, Sequence[int | bytes]]


def fields_of(message: int | bytes, budget: Budget | None = None) -> Fields:
    """Return the values of a message; fields are counted if there is a budget.

    Raises ValueError for a number, and as `wire.fields` does.
    """
    fields: dict[int, list[int | bytes]] = {}
    data = bytes_of(message)
    for field, value in wire.fields(data) if budget is None else wire.counted_fields(data, budget):
        fields.setdefault(field, []).append(value)
    return fields


def integer(fields: Fields, field: int) -> int:
    """Return an integer field; 0 if it is absent."""
    value = fields.get(field, (0,))[-1]
    if isinstance(value, bytes):
        raise ValueError(f"field {field} contains bytes instead of a number")
    return value


def integers_of(values: Iterable[int | bytes]) -> list[int]:
    """Return a repeated integer field, packed or not."""
    return [number for value in values for number in wire.integers(value)]


def bytes_of(value: int | bytes) -> bytes:
    """Return bytes; raises ValueError for a number."""
    if isinstance(value, int):
        raise ValueError("a field contains a number instead of bytes")
    return value
