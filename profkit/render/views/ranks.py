"""Sentence on the process of a merged run that made the others wait."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.run import FunctionPart, Merged, ProcessPart
from profkit.render.escape import visible
from profkit.render.formatting import percent, place
from profkit.stats.means import share_interval

_LEAST_LESS = 0.1
"""Part of its time that a process must have waited less than any other one to be named."""
_RANK = "RANK"


def of_busiest(merged: Merged, cwd: str) -> Iterator[str]:
    """Yield which process waited least, and what it did, if it surely waited less than any other."""
    numbers = sorted(range(len(merged.processes)), key=lambda n: _waiting(merged.processes[n]))
    parts = [merged.processes[n] for n in numbers]
    if len(parts) < 2 or any(part.working is None for part in parts):
        return
    busiest, second, last = parts[0], parts[1], parts[-1]
    surely_less = _interval(busiest)[1] < _interval(second)[0]
    if not surely_less or _waiting(second) - _waiting(busiest) < _LEAST_LESS:
        return
    who = f"Process {busiest.process.pid}{_rank_of(busiest, merged)}"
    where = _where(numbers[0], merged, cwd)
    others = "the others" if len(parts) > 2 else "the other one"
    yield f"{who} waited least, {_share(busiest)} of its time{where}; {others} waited {_range(second, last)}."


def _waiting(part: ProcessPart) -> float:
    return 1 - (part.working or 0) / part.weight if part.weight else 0.0


def _interval(part: ProcessPart) -> tuple[float, float]:
    return share_interval(round(_waiting(part) * part.samples), part.samples)


def _share(part: ProcessPart) -> str:
    return percent(_waiting(part), part.samples)


def _range(least: ProcessPart, most: ProcessPart) -> str:
    ends = (f"{100 * _waiting(part):.0f}" for part in (least, most))
    return f"{'–'.join(dict.fromkeys(ends))} %"


def _rank_of(part: ProcessPart, merged: Merged) -> str:
    """Return the rank that a launcher gave the process, in brackets; empty if none did."""
    for info in merged.infos:
        if info.process == part.process:
            return "".join(f" ({name} {visible(value)})" for name, value in info.region.env if name == _RANK)
    return ""


def _where(number: int, merged: Merged, cwd: str) -> str:
    """Return the function in which the process spends more of its time than the others do."""
    excess = {part: _excess(part, number, merged) for part in merged.functions if part.differs[number]}
    top = max(excess, key=lambda part: excess[part], default=None)
    if top is None or excess[top] <= 0:
        return ""
    process = merged.processes[number]
    at = place(top.file, top.line, cwd)
    named = f"{top.name} ({at})" if at else top.name
    return f", and spent {percent(top.weights[number] / process.weight, process.samples)} in {named}"


def _excess(part: FunctionPart, number: int, merged: Merged) -> float:
    """Return by how much a function's share of a process is larger than its share of the others."""
    own = merged.processes[number].weight
    total = sum(process.weight for process in merged.processes)
    of_others = (part.weight - part.weights[number]) / max(1, total - own)
    return part.weights[number] / max(1, own) - of_others
