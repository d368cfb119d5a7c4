"""Summary of a sampled run in three sentences: the bottleneck, working and waiting, what was not seen."""

from __future__ import annotations

from collections.abc import Iterator

from profkit.model.profile import Frame, Node
from profkit.model.run import Memory, RunInfo
from profkit.render.formatting import count, percent, place
from profkit.render.options import Activity
from profkit.render.views.costs import Scale, plus_minus
from profkit.render.views.memory import value_phrase
from profkit.render.views.merged import usage
from profkit.render.views.sampled import Report
from profkit.transforms.bottleneck import Spender, common_call
from profkit.transforms.origin import package_of
from profkit.units import format_bytes, format_duration

_SPREAD = 0.1
"""Share of the top function below which time is spread over many functions."""
_HALF, _NEARLY_ALL = 0.5, 0.95
"""Share of the top function above which no other call is named; share above which a call says nothing."""
_BUSY = 0.5
"""Processors used by other threads from which on the summary suggests to sample them."""
_MIN_WAITING = 1.25
"""Ratio of the threads' working time and their time on processors from which on they wait for one."""


def summary(report: Report) -> tuple[str, str, str]:
    """Return three sentences; names in them, which come from the profiled program, are raw."""
    return _bottleneck(report), _activity(report), _not_seen(report)


def _bottleneck(report: Report) -> str:
    spender, scale = _main_spender(report), _basis(report)
    if spender is None:
        return "The samples have no frames."
    share, call = _share(spender.weight, scale), common_call(report.tree, report.is_library)
    if scale.share(spender.weight) < _SPREAD and call is not None:
        verb = "allocated" if report.run.info.memory is not None else "takes"
        return f"No function {verb} more than {share} of {_cost(report)}; {_with_callees(call, report)}."
    verb = "allocated" if report.run.info.memory is not None else "takes"
    said = f"{_at(spender, report)} {verb} {share} of {_cost(report)}{_inside(spender, 'mostly ')}"
    if _waits_most(report):
        said = f"{_at(spender, report)} waits for {share} of {_cost(report)}{_inside(spender, '')}"
    if scale.share(spender.weight) > _HALF or call is None or not _adds_to(spender, call, report):
        return f"{said}."
    if _is_below(call, spender):
        return f"{said}; {_with_callees(call, report)}."
    rest = f"the largest function is {_at(spender, report)} with {share}{_inside(spender, 'mostly ')}"
    return f"{_with_callees(call, report)} of {_cost(report)}; {rest}."


def _is_below(call: Node, spender: Spender) -> bool:
    pending = [call]
    while pending:
        node = pending.pop()
        if (node.frame.name, node.frame.file) == (spender.name, spender.file):
            return True
        pending += node.children
    return False


def _adds_to(spender: Spender, call: Node, report: Report) -> bool:
    """Return whether a call narrows the search down: it is another function, and has not nearly all."""
    is_other = (call.frame.name, call.frame.file) != (spender.name, spender.file)
    return is_other and call.total_weight < _NEARLY_ALL * report.tree.total_weight


def _with_callees(call: Node, report: Report) -> str:
    total = _share(call.total_weight, _basis(report))
    return f"{_call(call.frame, report)} with its callees has {total}"


def _main_spender(report: Report) -> Spender | None:
    if report.options.activity is Activity.WAITING or _waits_most(report):
        return report.waits_at
    return report.works_at


def _waits_most(report: Report) -> bool:
    """Return whether the bottleneck is waiting."""
    working, waiting = report.works_at, report.waits_at
    if report.options.activity is not Activity.ALL or waiting is None:
        return report.options.activity is Activity.WAITING
    return not report.is_by_work and (working is None or waiting.weight > working.weight)


def _basis(report: Report) -> Scale:
    """Return the scale of the bottleneck's share: of several threads, that of the working samples."""
    scale = report.scale
    return Scale(scale.unit, report.activity.working, scale.weight_s) if report.is_by_work else scale


def _cost(report: Report) -> str:
    value = report.run.profile.value if report.run.profile is not None else None
    if value is not None:
        return value_phrase(value)
    if not report.scale.unit.is_time:
        return f"the {report.scale.unit.value}"
    activity = Activity.WORKING if report.is_by_work else report.options.activity
    return "the time" if activity is Activity.ALL else f"the {activity.value} time"


def _share(weight: int, scale: Scale) -> str:
    return f"{percent(scale.share(weight), scale.total)} {plus_minus(weight, scale)}".rstrip()


def _at(spender: Spender, report: Report) -> str:
    return _call(Frame(spender.name, spender.file, spender.line), report)


def _call(frame: Frame, report: Report) -> str:
    where = place(frame.file, frame.line, report.run.info.process.cwd)
    return f"{frame.name} ({where})" if where else frame.name


def _inside(spender: Spender, mostly: str) -> str:
    end = spender.end
    return "" if end is None else f", {mostly}in {f'{end.name} ' if end.name else ''}[{package_of(end.file)}]"


def _activity(report: Report) -> str:
    working, waiting = report.activity.working, report.activity.waiting
    if report.run.info.memory is not None:
        return _memory(report.run.info.memory)
    if not report.scale.unit.is_time:
        return f"The total is {count(working + waiting, report.scale.unit.value.removesuffix('s'))}."
    if not waiting:
        plan = report.run.info.plan
        known = report.run.info.imported is not None or plan.idle
        return "No waiting was recognized." if known else "Waiting was not sampled."
    scale = Scale(report.scale.unit, working + waiting, report.scale.weight_s)
    parts = f"worked {_share(working, scale)} of the time and waited {_share(waiting, scale)}"
    other = report.works_at if _waits_most(report) else report.waits_at
    most = "" if other is None else f", mostly in {_at(other, report)}{_inside(other, '')}"
    if _waits_most(report):
        parts = f"waited {_share(waiting, scale)} of the time and worked {_share(working, scale)}"
    threads = 1 if report.options.thread is not None else len(report.threads)
    who = "The thread" if threads == 1 else f"The {count(threads, 'thread')}"
    return f"{who} {parts}{most}.{_crowded(report)}"


def _crowded(report: Report) -> str:
    """Return a sentence if several threads worked for longer than processors ran them."""
    used, info = usage(report.run.resources), report.run.info
    worked_s = report.scale.seconds(report.activity.working)
    if not report.is_by_work or used is None or used.cpu_share is None or not worked_s or not info.session_s:
        return ""
    wanted = worked_s / info.session_s
    if wanted < _MIN_WAITING * max(1.0, used.cpu_share):
        return ""
    return (
        f" On average {wanted:.1f} threads had work, and the process used {used.cpu_share:.1f} processors: "
        "they waited for the GIL or for a processor."
    )


def _memory(memory: Memory) -> str:
    """Return a sentence on the figures of all calls."""
    calls = len(memory.peaks_bytes)
    who = "The call" if calls == 1 else f"The {count(calls, 'call')}"
    left = format_bytes(memory.left_bytes) if memory.left_bytes else "nothing"
    number = count(memory.allocations, "allocation")
    return f"{who} allocated {format_bytes(memory.allocated_bytes)} in {number}, and left {left} allocated."


def _not_seen(report: Report) -> str:
    info = report.run.info
    if info.imported is not None:
        return "The notes say what the file lacks." if info.notes else "Nothing is known to be missing."
    missing = list(_missing(info, report))
    return f"Not seen: {'; '.join(missing)}." if missing else "Nothing is known to be missing."


def _missing(info: RunInfo, report: Report) -> Iterator[str]:
    if info.torn:
        yield f"{count(info.torn)} of {count(info.torn + info.samples, 'sample')}, which were torn"
    if info.errors:
        yield f"{count(info.errors, 'sample')} that the sampler lost"
    if info.gap_s:
        yield f"{format_duration(info.gap_s)} between segments"
    if info.skipped:
        yield f"{count(info.skipped, 'call')} that were not profiled"
    if info.traced_away:
        yield f"{count(info.traced_away, 'call')} that torch compiled"
    if (others := _others_cpu(report)) >= _BUSY:
        yield f"other threads, which used {100 * others:.0f} % of a processor (threads=True samples them)"


def _others_cpu(report: Report) -> float:
    """Return how many processors other threads than the sampled ones used, 0 if that is unknown."""
    info, used = report.run.info, usage(report.run.resources)
    if info.region.all_threads or info.plan.scope == "process" or used is None or used.cpu_share is None:
        return 0.0
    worked_s = report.scale.seconds(report.activity.working)
    if worked_s is None or not info.session_s:
        return 0.0
    # The sampled threads may have used a processor between the calls, too.
    between = max(0.0, 1 - info.wall_s / info.session_s)
    return max(0.0, used.cpu_share - worked_s / info.session_s - between)
