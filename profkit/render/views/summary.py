"""Summary of a sampled run in a few sentences: what the user waits for, other threads, and what was not seen.

The first sentence is about the main thread, or about the calls of the region. It names a line of the program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from profkit.model.profile import Frame, Profile, ThreadState
from profkit.model.run import Memory, Run, RunInfo
from profkit.render.formatting import count, join_words, percent, place
from profkit.render.options import Activity
from profkit.render.views.costs import Scale, plus_minus, scale_of
from profkit.render.views.jobs import ranks_by_pid
from profkit.render.views.memory import VALUE_PHRASES
from profkit.render.views.ranks import of_late
from profkit.render.views.sampled import Report
from profkit.render.views.timelines import Timeline, main_timeline, other_timelines, together
from profkit.render.views.unsampled import (
    cpu_contradiction,
    not_seen,
    of_contradiction,
    of_suspension,
    of_tasks,
    of_unsampled,
)
from profkit.stats.means import share_interval
from profkit.transforms.charges import MODULE, Charge, Charging, CommonCall, Doing
from profkit.transforms.origin import is_library_file, package_of
from profkit.transforms.trees import weight_of
from profkit.transforms.unsampled_time import suspended
from profkit.transforms.waiting import EVENTS, LOCK, OF_OTHER_THREADS, SLEEP
from profkit.units import Unit, format_bytes

FEWEST = 10
"""Samples below which nothing is said of shares."""
_SPREAD, _SPREAD_OF_OTHERS = 0.1, 0.2
"""Shares that a charge must surely exceed to be named: of the main timeline, and of another."""
_HALF, _NEARLY_ALL = 0.5, 0.95
"""Shares between which a function that only calls others is worth a word."""
_MOST_TIES = 3
_NOTABLE = 0.05
"""Share of a timeline from which on a state, a thread or imports are worth a sentence."""
_SAME_LINE, _MAIN_LINE = 0.95, 0.8
"""Part of a function's total on a line to be the same, and of its charge for its main line."""
_MOST_GROUPS = 3
_Z_95 = 1.96


def summary(report: Report) -> tuple[str, ...]:
    """Return sentences, the most important first; names in them, which come from the program, are raw."""
    samples = report.samples
    summaries = Summaries(
        report.run, samples.profile, samples.waiting, report.is_library, samples.source.line
    )
    return summaries.of(samples.profile, report.options.activity, is_thread=report.options.thread is not None)


@dataclass(frozen=True, slots=True)
class _Shares:
    """What another timeline's samples are."""

    timeline: Timeline
    found: tuple[Charge, ...]
    works: int
    wants_gil: int
    imports: int

    @property
    def wanted(self) -> int:
        """Weight of the samples that wanted a processor."""
        return self.works + self.wants_gil + self.imports


_Divided = tuple[Timeline, list[Charge], list[Timeline]]
"""The main timeline of a selection, what it is charged to, and the other timelines."""


class Summaries:
    """Summaries of a run, and of selections of its samples."""

    def __init__(
        self,
        run: Run,
        profile: Profile,
        waiting: Collection[int],
        is_library: Callable[[str], bool],
        line_of: Callable[[str, int], str | None],
    ) -> None:
        """`profile` has the tables of all selections, and `waiting` its stacks that wait."""
        self._run, self._info, self._unit = run, run.info, profile.unit
        self._ranks = ranks_by_pid(run.merged)
        self._contradiction = cpu_contradiction(run, profile, waiting)
        self._waiting = frozenset(waiting).difference(profile.stacks_in(ThreadState.GIL))
        """Stacks that wait for something else than the GIL: what wants the GIL has work."""
        self._rules = Charging(profile, self._waiting, is_library, line_of)
        self._divided: tuple[Profile, _Divided] | None = None
        """The last selection: that of an activity is often the whole of it."""

    def of(self, profile: Profile, activity: Activity, *, is_thread: bool = False) -> tuple[str, ...]:
        """Return the summary of selected samples: those of an activity, or of one thread."""
        if self._info.memory is not None or not self._unit.is_time:
            return tuple(self._of_counts(profile))
        if self._divided is None or self._divided[0] is not profile:
            main = main_timeline(profile, self._info, self._ranks, is_selected=is_thread)
            found = self._rules.charges(main.profile)
            self._divided = profile, (main, found, other_timelines(profile, self._info, main, self._ranks))
        main, found, others = self._divided[1]
        if activity is not Activity.ALL or is_thread:
            of_main = self._of_main(main, found, activity)
            return (*of_main, *self._of_others(main, found, others), *not_seen(self._info))
        return (
            *self._of_ranks(),
            *self._of_whole(main, found),
            *self._of_tasks(found, main),
            *self._of_others(main, found, others),
            *of_unsampled(self._run, self._contradiction),
            *not_seen(self._info),
        )

    def _of_whole(self, main: Timeline, found: Sequence[Charge]) -> list[str]:
        """Return the sentences on the main timeline and its suspensions, unless CPU time contradicts them."""
        asleep = suspended(self._info)
        is_notable = asleep is not None and asleep.share >= _NOTABLE
        if self._contradiction is not None and not self._contradiction.is_unseen_work:
            said = [of_contradiction(self._contradiction)]
        else:
            timeline = replace(main, of_time="the active time") if is_notable else main
            said = list(self._of_main(timeline, found, Activity.ALL))
        if asleep is not None and is_notable:
            said.insert(0 if asleep.share >= _HALF else len(said), of_suspension(asleep, self._info))
        return said

    def _of_main(self, main: Timeline, found: Sequence[Charge], activity: Activity) -> Iterator[str]:
        if self._unit is Unit.SAMPLES and main.weight < FEWEST:
            yield _too_few(main, self._info)
        else:
            of_time = main.of_time if activity is Activity.ALL else f"the {activity.value} time"
            yield self._lead(found, main, of_time)
            if activity is Activity.ALL:
                yield from self._states(main, found)

    def _of_others(
        self, main: Timeline, found: Sequence[Charge], others: Sequence[Timeline]
    ) -> list[str] | Iterator[str]:
        """Return what others worked at, or else what they wait for if the main timeline waits for them."""
        return list(self._of_working(others, max(1, main.rounds))) or self._of_waiting(
            found[:1], main, others
        )

    def _of_ranks(self) -> Iterator[str]:
        """Yield which ranks of a job made the others wait."""
        if self._run.merged is not None:
            yield from of_late(self._run.merged, self._info.process.cwd, self._rules.line_of)

    def _of_tasks(self, found: Sequence[Charge], main: Timeline) -> Iterator[str]:
        """Yield where the tasks of a program are suspended while its event loop waits."""
        waits = sum(charge.weight for charge in found if charge.waits_for == EVENTS)
        if waits >= _SPREAD * main.weight:
            yield from of_tasks(self._info)

    def _lead(self, found: Sequence[Charge], main: Timeline, of_time: str) -> str:
        """Return the sentence on what takes most of a timeline."""
        if not found:
            return "The samples have no frames."
        top, scale = found[0], self._scale(main)
        call = None if scale.share(top.total) > _HALF else self._common_call(found, main)
        most = f"{_share(top.weight, scale)} of {of_time}"
        if call is not None:
            at = _call(Frame(call.place.name, call.place.file, call.line), self._info)
            takes = f"{at} takes {_share(call.total, scale)} of"
        if not _is_notable(top, scale):
            if call is not None:
                return f"{takes} {of_time} with what it calls; no function has more than {most}."
            functions = count(len({charge.place for charge in found}), "function")
            return f"The time is spread over {functions}: none has more than {most}."
        if call is not None and not call.has_top:
            return f"{takes} {of_time} with what it calls; {_clause(top, scale, 'it', self._info)}."
        tied = [charge for charge in found[1:] if _is_tied(charge, top, scale)]
        if len(tied) >= _MOST_TIES and call is None:
            return f"{len(tied) + 1} functions take about as much time: {most} each."
        clauses = [_clause(top, scale, of_time, self._info)]
        if call is not None:
            clauses.append(f"{takes} it with what it calls")
        else:
            clauses += [_clause(charge, scale, "it", self._info) for charge in tied]
        return f"{'; '.join(clauses)}."

    def _common_call(self, found: Sequence[Charge], main: Timeline) -> CommonCall | None:
        """Return the call that narrows the search down: it does not have nearly all time besides imports."""
        imports = sum(charge.weight for charge in found if charge.doing is Doing.IMPORTING)
        return found[0].common_call(_NEARLY_ALL * (main.weight - imports))

    def _scale(self, timeline: Timeline) -> Scale:
        return Scale(self._unit, timeline.weight, None)

    def _states(self, main: Timeline, found: Sequence[Charge]) -> Iterator[str]:
        """Yield how the timeline divides into working, waiting and imports, if into more than one."""
        gil = main.weight_in(ThreadState.GIL)
        weights = {
            "worked": sum(charge.weight for charge in found if charge.doing is Doing.WORKING) - gil,
            "waited": sum(charge.weight for charge in found if charge.doing is Doing.WAITING),
            "waited for the GIL": gil,
            "imported modules": sum(charge.weight for charge in found if charge.doing is Doing.IMPORTING),
        }
        scale = self._scale(main)
        notable = {words: weight for words, weight in weights.items() if scale.share(weight) >= _NOTABLE}
        if len(notable) > 1:
            parts = (f"{words} {_share(weight, scale)}" for words, weight in notable.items())
            yield f"{main.subject} {join_words(list(parts))} of the time."

    def _of_waiting(
        self, found: Sequence[Charge], main: Timeline, others: Sequence[Timeline]
    ) -> Iterator[str]:
        """Yield what other threads wait for if the main timeline mostly waits for them."""
        for charge in found:
            if charge.waits_for not in OF_OTHER_THREADS or charge.weight < _HALF * main.weight:
                continue
            for timeline in others[:_MOST_GROUPS]:
                first = next(iter(self._rules.charges(timeline.profile)), None)
                scale = self._scale(timeline)
                if first is not None and first.is_program and _is_notable(first, scale):
                    each = "their time" if timeline.threads > 1 else "its time"
                    yield f"Meanwhile, in {timeline.subject}: {_clause(first, scale, each, self._info)}."

    def _of_working(self, others: Sequence[Timeline], length: int) -> Iterator[str]:
        """Yield what other threads and processes worked at; `length` is the main timeline's.

        Child processes that work mostly in the same function, or in none, are one sentence.
        """
        busy = [self._shares(timeline) for timeline in others]
        busy = [part for part in busy if part.wanted / length / part.timeline.threads >= _NOTABLE]
        busy.sort(key=lambda part: -part.works)
        sentences: dict[tuple[str, int], list[_Shares]] = {}
        for number, part in enumerate(busy):
            alone = 0 if part.timeline.is_main_of_child else number + 1
            sentences.setdefault((self._where(part), alone), []).append(part)
        is_first, noun = True, "ranks" if self._ranks else "child processes"
        for (where, alone), parts in list(sentences.items())[:_MOST_GROUPS]:
            part = parts[0]
            if len(parts) > 1:
                alike = [each.timeline for each in parts]
                part = self._shares(together(alike, is_first=is_first and not self._ranks, noun=noun))
            is_first = is_first and bool(alone)
            yield self._other(part, where)

    def _shares(self, timeline: Timeline) -> _Shares:
        found = self._rules.charges(timeline.profile)
        imports = sum(charge.weight for charge in found if charge.doing is Doing.IMPORTING)
        busy = timeline.weight - weight_of(self._waiting, timeline.profile.weights_by_stack)
        gil = timeline.weight_in(ThreadState.GIL)
        return _Shares(timeline, tuple(found), busy - gil - imports, gil, imports)

    def _other(self, part: _Shares, where: str) -> str:
        timeline, scale = part.timeline, self._scale(part.timeline)
        parts = {
            "worked": part.works,
            "waited for the GIL": part.wants_gil,
            "imported modules": part.imports,
        }
        shown = {words: weight for words, weight in parts.items() if scale.share(weight) >= _NOTABLE}
        shown = shown or {"worked": part.works}
        said = join_words([f"{words} {_share(weight, scale)}" for words, weight in shown.items()])
        each = " of their time" if timeline.threads > 1 else " of its time"
        return f"{timeline.subject[0].upper()}{timeline.subject[1:]} {said}{each}{where}."

    def _where(self, part: _Shares) -> str:
        """Return where most of the work is, and where it waits for a lock, if any function has much of it."""
        scale = self._scale(part.timeline)
        top = next((charge for charge in part.found if charge.is_work_of_a_function), None)
        where = ""
        if top is not None and top.weight > _HALF * (part.works + part.wants_gil):
            where = f", mostly in {_named(top, self._info)}{_inside(top.end, '')}"
        elif top is not None and _is_notable(top, scale, _SPREAD_OF_OTHERS):
            where = f", {_share(top.weight, scale)} in {_named(top, self._info)}"
        return f"{where}{self._lock_in(part.found, scale)}"

    def _lock_in(self, found: Sequence[Charge], scale: Scale) -> str:
        """Return where threads that also work wait for a lock, if they do so for long; else nothing."""
        for charge in found[:_MOST_GROUPS]:
            if charge.waits_for == LOCK and charge.is_program and _is_notable(charge, scale):
                return f"; {_clause(charge, scale, 'it', self._info)}"
        return ""

    def _of_counts(self, profile: Profile) -> Iterator[str]:
        """Yield the sentences about instructions, bytes and other counts."""
        info, scale = self._info, scale_of(profile)
        found = self._rules.charges(profile)
        cost = VALUE_PHRASES[profile.value] if profile.value is not None else f"the {scale.unit.value}"
        verb = "allocated" if info.memory is not None else "takes"
        if not found:
            yield "The samples have no frames."
        elif scale.share(found[0].weight) < _SPREAD:
            share = percent(scale.share(found[0].weight), scale.total)
            yield f"{cost[0].upper()}{cost[1:]} are spread: no function has more than {share}."
        else:
            share = percent(scale.share(found[0].total), scale.total)
            said = f"{_named(found[0], info)} {verb} {share} of {cost}{_inside(found[0].end, 'mostly ')}"
            call = found[0].common_call(_NEARLY_ALL * scale.total)
            if call is not None and scale.share(found[0].total) <= _HALF:
                at = _call(Frame(call.place.name, call.place.file, call.line), info)
                said += f"; {at} has {percent(scale.share(call.total), scale.total)} with what it calls"
            yield f"{said}."
        if info.memory is not None:
            yield _memory(info.memory)
        else:
            yield f"The total is {count(scale.total, scale.unit.value.removesuffix('s'))}."


def _too_few(main: Timeline, info: RunInfo) -> str:
    rate = f"{10 * info.plan.rate_hz:.0f}"
    return (
        f"Too few samples ({main.weight}) to say where {main.of_time} goes: profile for longer, or with a "
        f"higher rate such as {rate} Hz."
    )


def _is_notable(charge: Charge, scale: Scale, spread: float = _SPREAD) -> bool:
    if scale.unit is not Unit.SAMPLES:
        return scale.share(charge.weight) >= spread
    return share_interval(charge.weight, scale.total)[0] >= spread


def _is_tied(charge: Charge, top: Charge, scale: Scale) -> bool:
    """Return whether two charges differ by no more than noise, of which both are large."""
    noise = _Z_95 * math.sqrt(top.weight + charge.weight) if scale.unit is Unit.SAMPLES else 0.0
    return top.weight - charge.weight <= noise and _is_notable(charge, scale)


def _clause(charge: Charge, scale: Scale, of_time: str, info: RunInfo) -> str:
    """Return what a charge says, such as `load (data.py:12) takes 71 % ±6 of the time`."""
    at = _named(charge, info)
    if charge.doing is Doing.IMPORTING:
        what = f"importing {_module_of(charge.end.file)}" if charge.end is not None else "importing modules"
        return f"{at} takes {_share(charge.weight, scale)} of {of_time} for {what}"
    if charge.doing is Doing.WAITING:
        share = f"{_share(charge.weight, scale)} of {of_time}"
        if charge.waits_for == SLEEP:
            return f"{at} sleeps {share}"
        if charge.waits_for:
            return f"{at} waits {share} for {charge.waits_for}"
        return f"{at} waits {share}{_inside(charge.end, '')}"
    inside, total = _inside(charge.end, "mostly "), f"{_share(charge.total, scale)} of {of_time}"
    if charge.total_of_line >= _SAME_LINE * charge.total:
        return f"{at} takes {total}{inside}"
    is_everything = charge.total >= _NEARLY_ALL * scale.total and charge.of_line >= _MAIN_LINE * charge.weight
    if is_everything or charge.weight < _HALF * charge.total:  # the function is a loop, or calls the rest
        return f"{at} takes {_share(charge.total_of_line, scale)} of {of_time}{inside}"
    line = place(charge.place.file, charge.line, info.process.cwd)
    return f"{charge.place.name} takes {total}, {_share(charge.total_of_line, scale)} at {line}{inside}"


def _module_of(file: str) -> str:
    """Return the name of an imported package or module."""
    _, _, name = file.removesuffix("/__init__.py").rpartition("/")
    return package_of(file) if is_library_file(file) else name.removesuffix(".py")


def _named(charge: Charge, info: RunInfo) -> str:
    return _call(Frame(charge.place.name, charge.place.file, charge.line), info)


def _call(frame: Frame, info: RunInfo) -> str:
    where = place(frame.file, frame.line, info.process.cwd)
    if frame.name == MODULE and where:
        return where
    return f"{frame.name} ({where})" if where else frame.name


def _inside(end: Frame | None, mostly: str) -> str:
    return "" if end is None else f", {mostly}in {f'{end.name} ' if end.name else ''}[{package_of(end.file)}]"


def _share(weight: int, scale: Scale) -> str:
    share, uncertainty = percent(scale.share(weight), scale.total), plus_minus(weight, scale)
    if uncertainty.startswith("−"):
        return f"{share} (at least {percent(share_interval(weight, scale.total)[0], scale.total)})"
    return f"{share} {uncertainty}".rstrip()


def _memory(memory: Memory) -> str:
    """Return a sentence on the figures of all calls."""
    calls = len(memory.peaks_bytes)
    who = "The call" if calls == 1 else f"The {count(calls, 'call')}"
    left = format_bytes(memory.left_bytes) if memory.left_bytes else "nothing"
    number = count(memory.allocations, "allocation")
    return f"{who} allocated {format_bytes(memory.allocated_bytes)} in {number}, and left {left} allocated."
