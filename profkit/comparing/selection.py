"""Which runs of a label are compared: those like its newest ones, and why others are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from profkit.comparing.comparability import sampled_as
from profkit.model.measurement import AnyInfo, MeasuredInfo
from profkit.model.notes import Finding, FindingCode

MOST_RUNS = 30
"""Maximum number of runs of an order: more hardly make an interval narrower."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The runs of a label that are compared, oldest first, and how many are not."""

    taken: tuple[AnyInfo, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """Numbers of runs by reason, a word that `Finding` has as the name of a figure."""


def left_out_findings(sides: Sequence[Sequence[tuple[str, int]]]) -> tuple[Finding, ...]:
    """Return a finding for each side of which runs were left out."""
    return tuple(
        Finding.of(FindingCode.RUNS_LEFT_OUT, side=side, **dict(reasons))
        for side, reasons in zip("AB", sides, strict=True)
        if reasons
    )


def select_alike(newest: Sequence[AnyInfo], earlier: Sequence[AnyInfo]) -> Selection:
    """Return the newest runs of a label, and the earlier ones that differ from them in nothing but time.

    `newest` are those of one batch, or a single one; `earlier` are sorted, the newest first.
    """
    usable = [info for info in (*newest, *earlier) if _has_results(info)] or list(newest)
    first = usable[0]
    definitions: dict[object, object] = {}
    taken: list[AnyInfo] = []
    often: Counter[object] = Counter()
    left_out: Counter[str] = Counter()
    for info in (*newest, *earlier):
        order = _order(info)
        reason = _difference(info, first)
        if not reason and definitions.setdefault(order, _definition(info)) != _definition(info):
            reason = "definition"
        has_better = any(_has_results(one) and _order(one) == order for one in usable)
        if not reason and not _has_results(info) and has_better:
            reason = "failed"
        if not reason and often[order] == MOST_RUNS:
            reason = "older"
        if reason:
            left_out[reason] += 1
        else:
            taken.append(info)
            often[order] += 1
    taken.sort(key=lambda info: info.started_ns)
    return Selection(tuple(taken), tuple(left_out.items()))


def _has_results(info: AnyInfo) -> bool:
    if isinstance(info, MeasuredInfo):
        return info.error is None
    return bool(info.samples or info.memory or info.imported)


def _order(info: AnyInfo) -> object:
    """Return what distinguishes the variants of a label, which are compared one by one."""
    if not isinstance(info, MeasuredInfo):
        return ()
    return info.order.labels, info.order.num_threads, info.order.language


def _definition(info: AnyInfo) -> object:
    if not isinstance(info, MeasuredInfo):
        return info.region.file
    order = info.order
    return order.what, order.setup, order.global_setup, order.level, order.program


def _difference(info: AnyInfo, first: AnyInfo) -> str:
    """Return the first aspect in which a run differs from the newest one; empty if it is like it."""
    if _kind(info) != _kind(first):
        return "kind"
    ours, theirs = _place(info), _place(first)
    differing = (aspect for aspect, value in ours.items() if value != theirs[aspect])
    return next(differing, "" if _options(info) == _options(first) else "options")


def _kind(info: AnyInfo) -> str:
    if isinstance(info, MeasuredInfo):
        return "measured"
    return "sampled" if info.memory is None else "memory"


def _place(info: AnyInfo) -> dict[str, str | None]:
    process = info.process
    return {
        "commit": process.git_commit,
        "machine": process.host,
        "python": process.python,
        "torch": process.torch,
    }


def _options(info: AnyInfo) -> object:
    """Return how a run was recorded, as far as it decides which figures are comparable."""
    if isinstance(info, MeasuredInfo):
        return info.order.source_cmd, info.order.python, info.order.env
    return sampled_as(info), info.memory and info.memory.python_allocators
