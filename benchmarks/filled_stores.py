"""Stores of many runs: half of them are windows of services, and a tenth are ranks of jobs.

The others have labels of four hundred runs each. The runs are of the last sixty days, and the newest tenth of
them, or more in a small store, have samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import chain
from time import time_ns

from benchmarks.made_profiles import made_profile, run_of
from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.model.session import Member
from profkit.store.database import CONTENTS, RUNS, TURNS, open_database
from profkit.store.lookups import places
from profkit.store.rows import RUN_COLUMNS, Values, rows_of

_LABELS, _RANKS = 0.001, 8
_WINDOW_S = 60.0
_OF_RANKS = (16, 18)
"""Places of ranks among twenty runs."""
_DAYS = 60
_WITH_SAMPLES, _LEAST_WITH_SAMPLES = 0.1, 1_000
_SAMPLES, _STACKS, _DEPTH = 200, 20, 20
_BATCH = 2_000
_PROFILE = RUN_COLUMNS.index("profile")
_STARTED_NS = 1_234_567_890_123_456_789


def fill(url: str, number: int, windows: int = 10_000) -> None:
    """Add a number of runs to an empty store, with this number of windows of each service."""
    services = max(2, number // 2 // windows)
    forms = [rows_of(run) for run in _forms()]
    insert = f"INSERT INTO {RUNS} ({', '.join(RUN_COLUMNS)}) VALUES {places(RUN_COLUMNS)}"
    database = open_database(url)
    with database.writing() as connection:
        connection.execute(f"INSERT INTO {CONTENTS} VALUES (?, ?)", *forms[0][CONTENTS])
    for start in range(0, number, _BATCH):
        with database.writing() as connection:
            numbers = range(start, min(number, start + _BATCH))
            rows = [_row(forms[_form(n)][RUNS], n, number, services) for n in numbers]
            connection.execute_many(insert, rows)
            turns = [(row[0], forms[0][TURNS][1]) for row in rows if row[_PROFILE] is not None]
            connection.execute_many(f"INSERT INTO {TURNS} VALUES (?, ?)", turns)
    database.close()


def _forms() -> Iterator[Run]:
    """Yield a run of a label, a window, and the ranks of a job."""
    run = run_of(_seen(made_profile(_SAMPLES, _STACKS, _DEPTH)), "@label@")
    info = replace(run.info, id="@id@", session="@session@", started_ns=_STARTED_NS)
    yield replace(run, info=info)
    yield replace(run, info=replace(info, plan=replace(info.plan, window_s=_WINDOW_S)))
    for rank in range(_RANKS):
        process = replace(info.process, pid=info.process.pid + rank)
        process = replace(process, member=Member("@job@", rank, rank, _RANKS))
        yield replace(run, info=replace(info, process=process))


def _seen(profile: Profile) -> Profile:
    """Return a profile with those frames alone that its stacks have, as samplers make it."""
    places_of = {frame: n for n, frame in enumerate(sorted(set(chain(*profile.stacks))))}
    stacks = tuple(tuple(places_of[frame] for frame in stack) for stack in profile.stacks)
    return replace(profile, frames=tuple(profile.frames[frame] for frame in places_of), stacks=stacks)


def _form(n: int) -> int:
    """Return the form of a run: of twenty, ten are windows, and two are of ranks."""
    if n % 2:
        return 1
    rank = n // 20 * 2 + (n % 20 == 18)
    return 2 + rank % _RANKS if n % 20 in _OF_RANKS else 0


def _row(form: Values, n: int, number: int, services: int) -> Values:
    started_ns = time_ns() - (number - n) * _DAYS * 86_400 * 10**9 // number
    names = {
        "@id@": blake2b(f"{n}".encode(), digest_size=10).hexdigest(),
        "@session@": f"session-{n}",
        "@label@": _label(n, number, services),
        "@job@": f"job-{n // 20 * 2 // _RANKS}",
        f"{_STARTED_NS}": f"{started_ns}",
    }
    row: dict[str, str | int | bytes | None] = {
        column: _named(value, names) for column, value in zip(RUN_COLUMNS, form, strict=True)
    }
    row["started_ns"] = started_ns
    if number - n > max(number * _WITH_SAMPLES, _LEAST_WITH_SAMPLES):
        row["profile"] = None
    return tuple(row.values())


def _label(n: int, number: int, services: int) -> str:
    if n % 2:
        return f"service-{n // 2 % services}"
    if n % 20 in _OF_RANKS:
        return "train"
    return f"step-{n // 2 % max(10, round(number * _LABELS))}"


def _named(value: str | int | bytes | None, names: Mapping[str, str]) -> str | int | bytes | None:
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace(name, text)
    return value
