"""Outcomes as JSON lines, from which an interrupted campaign resumes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults.injections import Injection, Outcome, outcome_from

SCHEMA = "profkit.faults/1"


@dataclass(frozen=True, slots=True)
class Identity:
    """Code, seed and form of a campaign; outcomes of others do not count as done."""

    commit: str
    seed: int
    short: bool = False


class Results:
    """Outcomes by fault and number, written to a file if one is given; thread-safe."""

    def __init__(self, identity: Identity, path: Path | None = None) -> None:
        self._identity, self._path, self._lock = identity, path, threading.Lock()
        self._outcomes = {} if path is None else read_outcomes(path, identity)

    def known(self, injection: Injection) -> bool:
        """Return whether an injection was made; one that could not be made is tried again."""
        outcome = self.of(injection.fault).get(injection.number)
        return outcome is not None and not outcome.not_run

    def add(self, injection: Injection, outcome: Outcome) -> None:
        """Add an outcome, and write it to the file at once."""
        with self._lock:
            self._outcomes.setdefault(injection.fault, {})[injection.number] = outcome
            if self._path is not None:
                _append(self._path, self._identity, injection, outcome)

    def of(self, fault: str) -> dict[int, Outcome]:
        """Return the outcomes of a fault, by number."""
        with self._lock:
            return dict(self._outcomes.get(fault, {}))


def read_outcomes(path: Path, identity: Identity) -> dict[str, dict[int, Outcome]]:
    """Return a campaign's outcomes in a file, without a line that an interruption truncated."""
    outcomes: dict[str, dict[int, Outcome]] = {}
    for document in _documents(path):
        if document["schema"] == SCHEMA and document["campaign"] == asdict(identity):
            by_number = outcomes.setdefault(document["fault"], {})
            by_number[document["number"]] = outcome_from(document["outcome"])
    return outcomes


def _documents(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            with suppress(ValueError):
                yield json.loads(line)


def _append(path: Path, identity: Identity, injection: Injection, outcome: Outcome) -> None:
    document = {
        "schema": SCHEMA, "campaign": asdict(identity),
        "fault": injection.fault, "number": injection.number, "outcome": outcome.to_object(),
    }  # fmt: skip
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, (_newline(path) + json.dumps(document) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _newline(path: Path) -> str:
    """Return a newline if the file's last line is truncated, else empty text."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return ""
        file.seek(-1, os.SEEK_END)
        return "" if file.read() == b"\n" else "\n"
