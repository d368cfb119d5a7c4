"""Files of a finished session that are truncated, or have a flipped bit, at random places."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import LABELS, Sandbox, record, sandbox

PLACES = 10
"""Places for each recorded program; each damages a fresh copy of the program's sessions."""
_SHORT_PLACES = 4
_CODES = (0, 7)


@dataclass(frozen=True, slots=True)
class Damage:
    """One damaged place."""

    variant: str
    file: str
    """Its path in the spool."""
    offset: int
    bit: int = 0

    def apply(self, spool: Path) -> None:
        """Damage the file."""
        path = spool / self.file
        data = bytearray(path.read_bytes())
        if self.variant == "cut":
            data = data[: self.offset]
        else:
            data[self.offset] ^= 1 << self.bit
        path.write_bytes(data)


def inject(injection: Injection) -> Outcome:
    """Damage the spool of one program at ten places, one after the other."""
    rng = injection.generator()
    with sandbox() as box:
        record(box)
        whole = box.own / "whole"
        shutil.copytree(box.work / ".profkit", whole)
        figures = _figures(box)
        if set(figures) != set(LABELS):
            raise RuntimeError(f"undamaged, the program has the runs {figures}")
        places = _SHORT_PLACES if injection.short else PLACES
        outcome = Outcome(injected=places)
        for _ in range(places):
            outcome = _damaged(box, outcome, planned_damage(whole / "spool", rng), whole, figures)
        return box.counted(outcome, damaged=True)


def planned_damage(spool: Path, rng: random.Random) -> Damage:
    """Return a random place in a random file that is not empty."""
    files = [path for path in sorted(spool.rglob("*")) if path.is_file() and path.stat().st_size]
    path = rng.choice(files)
    offset, bit = rng.randrange(path.stat().st_size), rng.randrange(8)
    return Damage(rng.choice(("cut", "flipped")), str(path.relative_to(spool)), offset, bit)


def _damaged(
    box: Sandbox, outcome: Outcome, damage: Damage, whole: Path, figures: dict[str, tuple[int, int]]
) -> Outcome:
    """Check that each profile is listed unchanged, or that its damaged file is named and kept."""
    home = box.work / ".profkit"
    shutil.rmtree(home)
    shutil.copytree(whole, home)
    damage.apply(home / "spool")
    listed = box.command("list", "--json")
    if (problem := listed.problem(_CODES)) is not None:
        outcome = outcome.with_problem(f"{damage}: {problem}")
    found = {str(run["label"]): _counts(run) for run in listed.runs()}
    notes = " ".join(str(run["notes"]) for run in listed.runs())
    named = Path(damage.file).name in listed.stderr + notes
    recovered = 0
    for label in LABELS:
        # A flipped digit gives a valid number.
        whole_run = found.get(label) == figures[label] or (damage.variant == "flipped" and label in found)
        if whole_run or named:
            recovered += 1
        else:
            lost = f"{label} has {found.get(label)} calls and samples instead of {figures[label]}"
            outcome = outcome.with_problem(f"{damage}: {lost}, and nothing says so")
    return replace(outcome, taken=outcome.taken + len(LABELS), recovered=outcome.recovered + recovered)


def _figures(box: Sandbox) -> dict[str, tuple[int, int]]:
    return {str(run["label"]): _counts(run) for run in box.command("list", "--json").runs()}


def _counts(run: dict[str, object]) -> tuple[int, int]:
    return int(str(run["calls"])), int(str(run["samples"]))
