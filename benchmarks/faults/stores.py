"""Unusable stores: locked, damaged, of a newer profkit, of another program, or no file at all."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import Sandbox, record, sandbox

_COMMANDS = (("list", "--json"), ("report",), ("export", "--format", "collapsed"), ("gc", "--keep", "1"))
_CODES = (0, 2, 6, 7)
_LABELS = frozenset({"first", "second", "third"})


def inject(injection: Injection) -> Outcome:
    """Make the store unusable, run each command, and check that the spool keeps its runs."""
    variant, rng = injection.variant(tuple(_VARIANTS)), injection.generator()
    with sandbox() as box:
        record(box)
        store = box.work / ".profkit" / "runs.db"
        _made_store(box, store)
        record(box)
        _VARIANTS[variant](store, rng)
        before = _content(store)
        outcome = Outcome(taken=len(_LABELS))
        with _locked(store) if variant == "locked" else nullcontext():
            for command in _COMMANDS[:1] if variant == "locked" else _COMMANDS:
                if (problem := box.command(*command).problem(_CODES)) is not None:
                    outcome = outcome.with_problem(f"{variant}: {problem}")
        if variant in _FOREIGN and _content(store) != before:
            outcome = outcome.with_problem(f"{variant}: the file was changed", changed=1)
        if variant != "locked":
            kept = _labels(box) if variant not in _FOREIGN else set()
            _remove(store)
        else:
            kept = set()
        found = kept | _labels(box)
        outcome = replace(outcome, recovered=len(found & _LABELS))
        return box.counted(outcome)


def _made_store(box: Sandbox, store: Path) -> None:
    """Make a store with runs in it."""
    listed = box.command("list")
    if listed.problem() is not None or not store.exists():
        raise RuntimeError(f"no store was made: {listed}")


def _labels(box: Sandbox) -> set[str]:
    return box.command("list", "--json").sampled_labels()


def _flip(store: Path, rng: random.Random) -> None:
    data = bytearray(store.read_bytes())
    for _ in range(rng.choice((1, 10, 1000))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    store.write_bytes(data)


def _flip_header(store: Path, rng: random.Random) -> None:
    data = bytearray(store.read_bytes())
    data[rng.randrange(100)] ^= 1 << rng.randrange(8)
    store.write_bytes(data)


def _cut(store: Path, rng: random.Random) -> None:
    os.truncate(store, rng.randrange(store.stat().st_size))


def _newer(store: Path, _rng: random.Random) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("INSERT INTO profkit_migrations VALUES ('from the future', 0)")
    connection.close()


def _other_database(store: Path, _rng: random.Random) -> None:
    """Write a database of another program, with tables named like profkit's."""
    store.unlink()
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE profkit_runs (id INTEGER, customer TEXT)")
        connection.execute("INSERT INTO profkit_runs VALUES (1, 'somebody')")
    connection.close()


def _text(store: Path, _rng: random.Random) -> None:
    store.write_text("Dear diary,\n" * 400, "utf-8")


def _folder(store: Path, _rng: random.Random) -> None:
    store.unlink()
    store.mkdir()
    (store / "mine").write_text("mine", "utf-8")


def _pipe(store: Path, _rng: random.Random) -> None:
    store.unlink()
    os.mkfifo(store)


def _dangling(store: Path, _rng: random.Random) -> None:
    store.unlink()
    store.symlink_to(store.parent / "nowhere" / "runs.db")


def _nothing(_store: Path, _rng: random.Random) -> None:
    """Change nothing: another process holds what makes the store unusable."""


_VARIANTS: dict[str, Callable[[Path, random.Random], None]] = {
    "locked": _nothing, "damaged": _flip, "damaged header": _flip_header, "cut": _cut, "newer": _newer,
    "another database": _other_database, "text": _text, "folder": _folder, "pipe": _pipe,
    "dangling link": _dangling,
}  # fmt: skip
_FOREIGN = frozenset({"newer", "another database", "text", "folder"})


def _content(store: Path) -> bytes:
    if store.is_dir():
        return b"\n".join(sorted(str(path).encode() for path in store.rglob("*")))
    return store.read_bytes() if store.is_file() else b""


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    """Hold the store's write lock."""
    connection = sqlite3.connect(store, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        connection.close()


def _remove(store: Path) -> None:
    if store.is_dir() and not store.is_symlink():
        shutil.rmtree(store)
    else:
        store.unlink(missing_ok=True)
