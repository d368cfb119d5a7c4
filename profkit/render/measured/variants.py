"""What tells the orders of one report apart, beside their labels."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from profkit.model.measurement import MeasuredRun
from profkit.render.words import count


def variants(runs: Sequence[MeasuredRun]) -> list[str]:
    """For each run what it has and not all of the others have: values of its labels, language, versions.

    What was measured is added where label, threads and all that do not tell it from another.
    """
    shown = _joined([_asked(run) for run in runs], [_found(run) for run in runs])
    told = [(run.info.label, run.info.order.num_threads, text) for run, text in zip(runs, shown, strict=True)]
    often = Counter(told)
    return [
        text if often[known] == 1 or run.info.order.what == run.info.label
        else ", ".join(filter(None, (text, run.info.order.what)))
        for run, text, known in zip(runs, shown, told, strict=True)
    ]  # fmt: skip


def names(runs: Sequence[MeasuredRun]) -> list[str]:
    """Each run's label for sentences, with what else tells it apart where the label does not."""
    often = Counter(run.info.label for run in runs)
    differ = len({run.info.order.num_threads for run in runs}) > 1
    made = []
    for run, variant in zip(runs, variants(runs), strict=True):
        threads = count(run.info.order.num_threads, "thread") if differ else ""
        told = ", ".join(filter(None, (variant, threads))) if often[run.info.label] > 1 else ""
        made.append(f"{run.info.label} ({told})" if told else run.info.label)
    return made


def _asked(run: MeasuredRun) -> dict[str, str]:
    order = run.info.order
    return {
        **{f"label {name}": value for name, value in order.labels},
        "language": order.unlabelled_language,
        "level": order.level.value,
        "source_cmd": shlex.join(order.source_cmd),
        **{f"env {name}": f"{name}={value}" for name, value in order.env},
    }


def _found(run: MeasuredRun) -> dict[str, str]:
    numbers = run.measurement and (run.measurement.timing or run.measurement.instructions)
    if not numbers:
        return {}
    where = numbers.measured_in
    packages = {name: f"{name} {version}" for name, version in where.packages}
    return {"python": f"Python {where.python}", **packages}


def _joined(asked: Sequence[Mapping[str, str]], found: Sequence[Mapping[str, str]]) -> list[str]:
    """What differs of either; an order that has nothing of `found` failed, which is no difference."""
    names = dict.fromkeys(name for aspects in asked for name in aspects)
    differing = [name for name in names if len({aspects.get(name, "") for aspects in asked}) > 1]
    places = dict.fromkeys(name for aspects in found for name in aspects)
    # Zygotes with and without a package differ in what they preload, which the label of an order tells.
    versions = [name for name in places if len({aspects[name] for aspects in found if name in aspects}) > 1]
    return [
        ", ".join(filter(None, (*map(of_asked.get, differing), *map(of_found.get, versions))))
        for of_asked, of_found in zip(asked, found, strict=True)
    ]
