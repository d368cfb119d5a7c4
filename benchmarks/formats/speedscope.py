"""speedscope as a reader: its own importers, run by Node from a clone of its repository."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.formats.costs import Costs, factor_to
from profkit.model.profile import Profile
from profkit.units import Unit

_SCRIPT = Path(__file__).with_suffix(".mjs")
_TIMEOUT_S = 600

_ARGUMENTS = re.compile(r" \{.*\}$", re.DOTALL)
"""Arguments of a trace's event, which speedscope shows as a part of its name."""

_PLACE = re.compile(r" \(.+:\d+\)$", re.DOTALL)
"""File and line, which VizTracer writes into the name."""
_NAMELESS = "(unnamed)"

Reading = Mapping[str, Any]
"""What speedscope says of one file: its profiles, or an error."""


def read_all(checkout: Path, files: Sequence[Path]) -> dict[Path, Reading]:
    """Return what speedscope reads from each file."""
    command = ["node", str(_SCRIPT), str(checkout), *map(str, files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=_TIMEOUT_S, check=True)
    documents = map(json.loads, done.stdout.splitlines())
    return {Path(document["file"]): document for document in documents}


def costs_in(reading: Reading, profile: Profile, graph: bool = False) -> Costs | None:
    """Return the sum of the profiles in a file, without those in another unit; None if there are none.

    Of a call graph, it computes totals from proportions: only self costs are compared.
    """
    profiles = [one for one in reading.get("profiles", ()) if one["total"]]
    profiles = [one for one in profiles if one["unit"] == profiles[0]["unit"]]
    if not profiles:
        return None
    factor = factor_to(profile, profiles[0]["unit"])
    own: defaultdict[str, float] = defaultdict(float)
    total: defaultdict[str, float] = defaultdict(float)
    names: Counter[str] = Counter()
    for one in profiles:
        for text, _, self_weight, total_weight in one["functions"]:
            name = _PLACE.sub("", _ARGUMENTS.sub("", text)).replace(_NAMELESS, "")
            names[name] += 1
            own[name] += self_weight * factor
            total[name] += total_weight * factor
    # Totals of functions with the same name cannot be added up: one may call the other.
    functions = {name: (own[name], total[name] if names[name] == 1 and not graph else None) for name in total}
    # It keeps times as floats, in the unit of the file.
    least = 1000.0 if profile.unit is Unit.NANOSECONDS else 0.5
    whole = sum(one["total"] for one in profiles) * factor
    return Costs("speedscope", None if graph else whole, functions, tolerance=1e-6, least=least)
