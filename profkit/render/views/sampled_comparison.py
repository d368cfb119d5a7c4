"""Content of comparisons of sampled runs that all formats share, and the tree of changed calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from profkit.comparing.comparability import MIN_RUNS, count_executions
from profkit.comparing.sampled import MOST_RUNS
from profkit.model.comparison import (
    Change,
    Difference,
    Estimate,
    FunctionComparison,
    Grade,
    SampledComparison,
    Side,
)
from profkit.model.run import RunInfo
from profkit.render.escape import visible
from profkit.render.formatting import alike, amount, count, moment
from profkit.render.views.merged import joined_notes
from profkit.render.views.notes import note_text
from profkit.render.views.sampled import library_test
from profkit.transforms.call_shares import SharedCall, shared_calls
from profkit.units import Unit, format_duration


def summary(comparison: SampledComparison) -> tuple[str, ...]:
    """Return sentences on the largest change, the time of a call, and what was not seen; names are raw."""
    call_s = comparison.call_s
    calls = [call_sentence(comparison)] if call_s is not None and not call_s.difference.changed else []
    return f"{headline(comparison)}.", *calls, unseen_sentence(comparison)


def headline(comparison: SampledComparison) -> str:
    """Return a clause: the largest significant change, or that there is none; names are not escaped."""
    call_s, unit = comparison.call_s, comparison.both.unit
    said = _most(comparison, unit) if comparison.changed else _nothing(comparison.unseen)
    if call_s is not None and call_s.difference.changed:
        said += (
            f"; a call takes {format_duration(call_s.b.value)} instead of {format_duration(call_s.a.value)}"
        )
    if comparison.grade is Grade.CONFIRMED:
        return said
    fewest = min((comparison.a.runs, comparison.b.runs), key=count_executions)
    return f"unconfirmed, from {_runs(fewest)}: {said}"


def _nothing(unseen: float) -> str:
    if math.isinf(unseen):
        return "no function has a share large enough to compare"
    return f"no share differs by more than the noise, which is up to {100 * unseen:.1f} points"


def is_bystander(function: FunctionComparison) -> bool:
    """Return whether only a function's share changed, because of others: its time per call did not.

    That is known only if its time per call is.
    """
    pair = function.own_s if function.reported is function.own else function.total_s
    if pair is None or not function.changed:
        return False
    a, b = pair
    return abs(b.value - a.value) <= math.hypot(_half(a), _half(b))


def functions_to_name(comparison: SampledComparison) -> Sequence[FunctionComparison]:
    """Return the functions that changed, the largest difference first; bystanders only if all are."""
    return [one for one in comparison.changed if not is_bystander(one)] or comparison.changed


def _most(comparison: SampledComparison, unit: Unit) -> str:
    changed = functions_to_name(comparison)
    others = len(comparison.changed) - len(changed)
    first = changed[0]
    compared = first.reported
    whose = "" if compared is first.own else " including callees"
    of = "time" if unit in (Unit.SAMPLES, Unit.NANOSECONDS) else unit.value
    more = "" if len(changed) == 1 else f"{len(changed)} functions changed, mostly "
    return (
        f"{more}{first.name}{whose}: {100 * compared.a.value:.1f} % of the {of} in A, "
        f"{100 * compared.b.value:.1f} % in B, {_interval(compared.difference)}"
        + (f"; only the share of {count(others, 'other function')} changed" if others else "")
    )


def _runs(fewest: Sequence[RunInfo]) -> str:
    executions = count_executions(fewest)
    if executions >= MIN_RUNS:
        return "runs sampled differently"
    if executions < len(fewest):
        return f"processes of {'one launch' if executions == 1 else '2 launches'} per side"
    return "one run per side" if executions == 1 else f"{executions} runs per side"


def _interval(difference: Difference) -> str:
    """Format a difference with its interval: `+5.0 points (−2.1 to +7.9)`."""
    value, low, high = (
        signed(f"{100 * part:+.1f}") for part in (difference.value, difference.low, difference.high)
    )
    return f"{value} points ({low} to {high})"


def signed(number: str) -> str:
    """Replace the hyphen of a formatted number with a minus sign, as wide as a plus sign."""
    return number.replace("-", "−")


def share(estimate: Estimate) -> str:
    """Format a share: `12.3 %`."""
    return f"{100 * estimate.value:.1f} %"


def bounded_share(estimate: Estimate) -> str:
    """Format a share with half its interval: `12.3 % ±1.4`."""
    return f"{share(estimate)} ±{100 * _half(estimate):.1f}"


def points(value: float) -> str:
    """Format a difference of shares with its sign: `+5.0`; 0 has none."""
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else signed(text)


def bounded_points(difference: Difference) -> str:
    """Format a difference of shares with half its interval: `+5.0 ±2.9`."""
    return f"{points(difference.value)} ±{100 * _half(difference):.1f}"


def times(pair: tuple[Estimate, Estimate] | None, *, bounded: bool = False) -> str:
    """Format a time per call: `1.20 → 1.43 ms` or `1.20 ±0.10 → 1.43 ±0.11 ms`; empty if unknown."""
    if pair is None or not any(estimate.value for estimate in pair):
        return ""
    a, b, half_a, half_b = alike([*(estimate.value for estimate in pair), *map(_half, pair)])
    number, unit = (b.rpartition(" ")[part] for part in (0, 2))
    shown_a, shown_b = (
        f"{value} ±{half.rpartition(' ')[0]}" if bounded else value
        for value, half in ((a.rpartition(" ")[0], half_a), (number, half_b))
    )
    return f"{shown_a} → {shown_b} {unit}"


def _half(bounded: Estimate | Difference) -> float:
    """Return half an interval; the longer half if 0 or 1 cuts it."""
    return max(bounded.high - bounded.value, bounded.value - bounded.low)


def runs_of(comparison: SampledComparison) -> tuple[str, str]:
    """Describe each side: `plain · 3 runs · 4,321 samples · 2026-11-25 12:30 · git 0123456789`."""
    a, b = (
        described(side, amount(side.samples, comparison.both.unit)) for side in (comparison.a, comparison.b)
    )
    return a, b


_DIGITS = 10
"""Shown digits of a commit."""
_TO_MINUTES = len("2026-11-25 12:30")


def described(side: Side, size: str) -> str:
    """Describe a side of a comparison: labels, runs, their size, and the newest moment and commits."""
    return " · ".join(_described(side, size))


def _described(side: Side, size: str) -> Iterator[str]:
    labels = ", ".join(dict.fromkeys(info.label for info in side.runs))
    yield visible(side.name if labels in side.name else f"{labels} ({side.name})")
    yield count(len(side.runs), "run")
    yield size
    yield moment(max(info.started_ns for info in side.runs))[:_TO_MINUTES]
    commits = dict.fromkeys((info.process.git_commit or "")[:_DIGITS] for info in side.runs)
    if named := ", ".join(commit for commit in commits if commit and commit not in side.name):
        yield f"git {named}"


def call_sentence(comparison: SampledComparison) -> str:
    """Return both sides' times per call and their difference; empty without calls."""
    call_s = comparison.call_s
    if call_s is None:
        return ""
    ratio = 100 * (call_s.b.value / call_s.a.value - 1)
    worth = "" if call_s.difference.changed else ", within noise"
    return f"One call takes {times((call_s.a, call_s.b))} ({signed(f'{ratio:+.1f}')} %{worth})."


def rule_sentence(comparison: SampledComparison) -> str:
    """Return the rule for a change."""
    least = 100 * comparison.minimum_effect
    return f"A change is at least {least:.0f} points and beyond the noise, adjusted for all functions."


def unseen_sentence(comparison: SampledComparison) -> str:
    """Return up to which size differences can go unseen, and how many runs would decide the largest one.

    The name in it is raw.
    """
    if math.isinf(comparison.unseen):
        return "No function has enough samples to compare."
    seen = f"Not seen: differences of up to {100 * comparison.unseen:.1f} points, which can be noise"
    undecided = comparison.undecided
    if undecided is None:
        return f"{seen}."
    needed = f"about {undecided.runs}" if undecided.runs is not None else f"more than {MOST_RUNS}"
    largest = f"{points(undecided.difference)} points of {undecided.name}"
    return f"{seen}; {needed} runs per side would decide the largest, {largest}."


def warnings_of(comparison: SampledComparison) -> Iterator[tuple[str, str]]:
    """Yield the warnings about the runs as (sides, sentence), each once; names in them are raw."""
    sides: dict[str, list[str]] = {}
    for name, side in zip("AB", (comparison.a, comparison.b), strict=True):
        for note in joined_notes([(info, info.warnings) for info in side.runs]):
            sides.setdefault(note_text(note), []).append(name)
    for text, names in sides.items():
        yield " and ".join(names), text


def shares_sentence(comparison: SampledComparison) -> str:
    """Return a caution if some shares rose and others fell; else empty."""
    changes = {function.reported.difference.change for function in comparison.changed}
    if not {Change.MORE, Change.LESS} <= changes:
        return ""
    return (
        "Shares add up to 100 %: if one function takes longer, the shares of others fall. "
        "Times per call show which functions became slower or faster."
    )


_LEAST = 0.01
"""Smallest difference of a call's share that is shown."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A call on both sides, parents before children; shares include callees."""

    name: str
    file: str
    line: int
    depth: int
    last: bool
    a: float
    b: float
    changed: bool
    """Whether both its function and this call changed."""
    through: int
    """Number of omitted calls between the row above and this one, each with a single callee."""

    @property
    def difference(self) -> float:
        """B's share minus A's."""
        return self.b - self.a


def diff_rows(comparison: SampledComparison, *, show_all: bool, most: int | None) -> tuple[DiffRow, ...]:
    """Return the `most` calls that changed most, and their callers; no rows if nothing changed.

    Library calls are folded unless `show_all` is set.
    """
    functions = {(function.name, function.file) for function in comparison.changed}
    if not functions:
        return ()
    is_library = library_test(comparison.a.runs[0].region.file, comparison.both.frames)
    # Shares of calls do not exceed their callers', unless weights are negative.
    least = _LEAST if all(sample.weight >= 0 for sample in comparison.both.samples) else 0.0
    root = shared_calls(comparison.both, least, None if show_all else is_library)
    found = sorted(_differences(root, functions), reverse=True)
    smallest = found[most - 1] if most is not None and len(found) > most else _LEAST

    def is_changed(call: SharedCall) -> bool:
        return call.frame[:2] in functions and abs(call.b - call.a) >= smallest

    _cut(root, is_changed)
    return _rows(root, is_changed)


def _differences(root: SharedCall, functions: Collection[tuple[str, str]]) -> Iterator[float]:
    """Yield the differences of the calls of functions that are large enough to be shown."""
    pending = [root]
    while pending:
        call = pending.pop()
        if call.frame[:2] in functions and abs(call.b - call.a) >= _LEAST:
            yield abs(call.b - call.a)
        pending += call.children


def _cut(root: SharedCall, is_changed: Callable[[SharedCall], bool]) -> None:
    """Keep only calls that changed, and their callers."""
    order, pending = [], [root]
    while pending:
        order.append(call := pending.pop())
        pending += call.children
    for call in reversed(order):
        kept = [child for child in call.children if child.children or is_changed(child)]
        call.children = sorted(kept, key=lambda child: (-abs(child.b - child.a), child.frame))


def _rows(root: SharedCall, is_changed: Callable[[SharedCall], bool]) -> tuple[DiffRow, ...]:
    rows = []
    pending = [(child, 0, number == 0) for number, child in enumerate(reversed(root.children))]
    while pending:
        call, depth, last = pending.pop()
        through = 0
        while not is_changed(call) and len(call.children) == 1 and depth:
            call, through = call.children[0], through + 1
        rows.append(DiffRow(*call.frame, depth, last, call.a, call.b, is_changed(call), through))
        pending += [(child, depth + 1, number == 0) for number, child in enumerate(reversed(call.children))]
    return tuple(rows)
