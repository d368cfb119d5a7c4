"""Profiles as the store keeps them: columns of integers in two blobs, of which one has the order of samples.

Reports as text and comparisons need no order, which takes as long to read as all the rest. The other blob
begins with a document for what is not a column. Earlier versions of profkit kept gzipped pprof, which is
still read.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, repeat
from operator import itemgetter
from pathlib import Path
from sys import intern
from typing import NamedTuple, TypeVar

from profkit.errors import DamagedFile
from profkit.formats import pprof
from profkit.formats.columns import ColumnReader, column_of, pack_columns
from profkit.formats.exact import escape_texts, period_of, unescape_texts
from profkit.formats.limits import MAGIC
from profkit.formats.turns import Turns, gaps_of, samples_in_order, starts_of, take_turns
from profkit.model.profile import Column, Frame, Profile, Sample, Thread, ThreadState, Value
from profkit.store.records import document_bytes, parse_document
from profkit.transforms.trees import picked
from profkit.units import Unit

SCHEMA = "profkit.profile/1"

_T = TypeVar("_T")


class Kept(NamedTuple):
    """A profile in two blobs."""

    profile: bytes
    turns: bytes | None
    """The order and the starts of samples; None if it has nothing to add."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What is not a column."""

    unit: Unit
    period_ns: float
    ordered: bool
    summed: bool
    """Whether samples are summed, with their order in the other blob."""
    timed: bool
    """Whether that has the starts of samples."""
    values: tuple[Value, ...]
    """Values of each sample, of a memory profile; else none."""
    names: tuple[str, ...]
    """Names of functions."""
    files: tuple[str, ...]
    threads: tuple[str, ...]
    """Names of threads."""


def encode(profile: Profile) -> Kept:
    """Return the blobs of a profile; raises OverflowError for a weight, line or id that exceeds 64 bits."""
    samples, turns = (profile.samples, None) if profile.columns else take_turns(profile.samples)
    gaps = gaps_of(profile)
    function_of = list(map(itemgetter(0, 1), profile.frames))
    functions = _numbered(function_of)
    files = _numbered(file for _, file in functions)
    head = _Head(
        unit=profile.unit,
        period_ns=profile.period_ns,
        ordered=profile.ordered,
        summed=turns is not None,
        timed=gaps is not None,
        values=() if profile.value is None else (profile.value, *(one.value for one in profile.columns)),
        names=escape_texts(name for name, _ in functions),
        files=escape_texts(files),
        threads=escape_texts(thread.name for thread in profile.threads),
    )
    columns: list[Iterable[int]] = [
        (files[file] for _, file in functions),
        map(functions.__getitem__, function_of),
        map(itemgetter(2), profile.frames),
        (0 if total is None else total + 1 for total in profile.totals),
        map(len, profile.stacks),
        chain.from_iterable(profile.stacks),
        profile.states,
        *(map(itemgetter(place), profile.threads) for place in (0, 1)),
        *(map(itemgetter(place), samples) for place in range(3)),
        *(column.weights for column in profile.columns),
    ]
    packed = zlib.compress(document_bytes(SCHEMA, head)) + pack_columns(map(column_of, columns))
    if turns is None and gaps is None:
        return Kept(packed, None)
    order = (*(turns or ()), *(() if gaps is None else (gaps,)))
    return Kept(packed, pack_columns(map(column_of, order)))


def _numbered(things: Iterable[_T]) -> dict[_T, int]:
    return {thing: number for number, thing in enumerate(dict.fromkeys(things))}


def decode(kept: Kept, source: Path, *, in_order: bool = True) -> Profile:
    """Return the profile of these blobs; raises DamagedFile, naming `source`, for any other bytes.

    Without `in_order`, which needs no turns, equal samples are summed.
    """
    if kept.profile.startswith(MAGIC):
        return pprof.decode(kept.profile, source, in_order=in_order)
    try:
        return _profile(kept, in_order)
    except (zlib.error, struct.error, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise DamagedFile(source, f"it is not a profile written by profkit: {error}") from error


def _profile(kept: Kept, in_order: bool) -> Profile:
    unpacker = zlib.decompressobj()
    head = parse_document(unpacker.decompress(kept.profile), SCHEMA, _Head)
    columns = ColumnReader(unpacker.unused_data)
    frames = _frames(head, columns.take(), columns.take(), columns.take())
    totals, depths, path = columns.take(), columns.take(), columns.take()
    profile = Profile(
        unit=head.unit,
        period_ns=period_of(head.period_ns, "period_ns"),
        frames=frames,
        totals=tuple(total - 1 if total else None for total in totals),
        stacks=_stacks(depths, path, len(frames)),
        states=tuple(map(ThreadState, columns.take())),
        threads=tuple(map(Thread, columns.take(), columns.take(), unescape_texts(head.threads))),
        samples=tuple(
            map(tuple.__new__, repeat(Sample), zip(*(columns.take() for _ in range(3)), strict=True))
        ),
        ordered=head.ordered and in_order,
        value=next(iter(head.values), None),
        columns=tuple(Column(value, tuple(columns.take())) for value in head.values[1:]),
    )
    columns.close()
    _check(profile)
    return _in_order(profile, head, kept.turns) if in_order and (head.summed or head.timed) else profile


def _frames(
    head: _Head, file_of: Sequence[int], functions: Sequence[int], lines: Sequence[int]
) -> tuple[Frame, ...]:
    # Profiles of a job have the same names, of which each is one object: that saves memory, and comparing.
    texts = list(map(intern, unescape_texts(head.files)))
    files = list(map(texts.__getitem__, file_of))
    names = list(map(intern, unescape_texts(head.names)))
    # Equal lines are one object, which saves memory.
    known = {line: line for line in set(lines)}
    rows = zip(
        map(names.__getitem__, functions),
        map(files.__getitem__, functions),
        map(known.__getitem__, lines),
        strict=True,
    )
    # Without the constructor of the named tuple, millions take a quarter of the time.
    return tuple(map(tuple.__new__, repeat(Frame), rows))


def _stacks(depths: Sequence[int], path: Sequence[int], frames: int) -> tuple[tuple[int, ...], ...]:
    if sum(depths) != len(path):
        raise ValueError(f"its stacks have {len(path)} frames, not {sum(depths)}")
    # Equal numbers are one object, which saves memory.
    numbers = list(range(frames))
    ends = accumulate(depths)
    return tuple([picked(path[end - depth : end], numbers) for depth, end in zip(depths, ends, strict=True)])


def _check(profile: Profile) -> None:
    """Raise ValueError if tables do not have the sizes of those that they refer to."""
    sizes = {
        "totals": (len(profile.totals), len(profile.frames)),
        "states": (len(profile.states), len(profile.stacks)),
        **{f"weights of {one.value}": (len(one.weights), len(profile.samples)) for one in profile.columns},
    }
    for name, (size, wanted) in sizes.items():
        if size not in (0, wanted):
            raise ValueError(f"it has {size} {name}, not {wanted}")
    for place, table in enumerate((profile.stacks, profile.threads)):
        numbers = [sample[place] for sample in profile.samples]
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(table):
            raise ValueError(f"a sample has no {('stack', 'thread')[place]}")


def _in_order(profile: Profile, head: _Head, turns: bytes | None) -> Profile:
    if turns is None:
        raise ValueError("the order of its samples is missing")
    columns = ColumnReader(turns)
    samples: tuple[Sample, ...] | None = profile.samples
    if head.summed:
        samples = samples_in_order(profile.samples, Turns(columns.take(), columns.take()))
    if samples is None:
        raise ValueError("the order of its samples is another profile's")
    starts = tuple(starts_of(samples, columns.take())) if head.timed else ()
    columns.close()
    return replace(profile, samples=samples, starts=starts)
