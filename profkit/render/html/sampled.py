"""HTML page of a sampled run and other regions of its session: initial view, and a summary per thread."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from profkit.errors import UsageError
from profkit.model.profile import Profile, Value
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.render.document import Document
from profkit.render.escape import visible
from profkit.render.html.blocks import page_blocks, whole
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, Activity, ReportOptions, Terminal
from profkit.render.views.header import facts, why_no_samples
from profkit.render.views.jobs import thread_places
from profkit.render.views.memory import VALUE_TITLES
from profkit.render.views.operators import trace_blocks
from profkit.render.views.processes import process_blocks
from profkit.render.views.sampled import Report, build_report, library_test, only_active
from profkit.render.views.source import SourceLines, infos_of, source_of
from profkit.render.views.summary import Summaries, summary
from profkit.render.views.threads import split_threads, wanted_threads
from profkit.render.views.timelines import are_all_of_calls, opening_thread
from profkit.render.views.unsampled import await_blocks
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.tables import thread_rows
from profkit.transforms.trees import Functions, sum_samples
from profkit.transforms.unsampled_time import sampled_points
from profkit.transforms.values import run_with_value, values_of
from profkit.transforms.waiting import waiting_stacks

SOURCE_BYTES = 400_000
"""Maximum size of the source text in a page; the requested run comes first."""


def sampled_html(
    runs: Sequence[Run],
    options: ReportOptions = DEFAULTS,
    _terminal: Terminal = PIPE,
    *,
    notes: Sequence[str] = (),
    source_bytes: int = SOURCE_BYTES,
) -> str:
    """Return the page of the runs of one session; `notes` are about the first run, which is shown first.

    Raise `UsageError` if the first run lacks the requested thread, or if the options limit the report.
    """
    info = runs[0].info
    refuse_limits(options)
    source = source_of(infos_of(runs), options.source_root)
    is_library = library_test(info.region.file, (runs[0].profile or Profile()).frames)
    page = PageRuns(info.process.cwd, is_library, SourceBudget(source, source_bytes))
    by_value = [
        shown
        for number, run in enumerate(runs)
        for shown in _by_value(run, None if number else options.value)
    ]
    first, *others = map(_folded, by_value)
    opening = _opening(first, options, notes)
    page.add(opening.run, opening.summed, opening.functions)
    for run in others:
        waiting = _waiting(run, source)
        page.add(_summed_up(_page_run(run, (), waiting), run, sum_samples(run.profile or Profile()), source))
    head = {"title": visible(f"{info.label} – profkit"), **page.head("sampled"), "initial": opening.view}
    return html_page(head, page.columns)


def _waiting(run: Run, source: SourceLines) -> Collection[int]:
    profile = run.profile or Profile()
    return waiting_stacks(profile, source.line) if profile.unit.is_time else ()


def _by_value(run: Run, first: Value | None) -> list[Run]:
    """Return a run once for each value that it has, that of `first` or its main one first."""
    shown = run_with_value(run, first)
    if run.profile is None or shown.profile is None:
        return [shown]
    others = (value for value in values_of(run.profile) if value is not shown.profile.value)
    return [shown, *(run_with_value(run, value) for value in others)]


def _folded(run: Run) -> Run:
    return run if run.profile is None else replace(run, profile=fold_addresses(run.profile))


class _Opening(NamedTuple):
    """What a page shows first, and what it takes long to find out twice."""

    run: PageRun
    summed: Profile
    """The run's samples without order."""
    functions: Functions
    """Functions of the frames."""
    view: dict[str, object]


def _opening(run: Run, options: ReportOptions, notes: Sequence[str]) -> _Opening:
    summed = sum_samples(run.profile or Profile())
    # Its trees would take much memory while the page is made.
    report = build_report(replace(run, profile=summed), options)
    page_run = _page_run(run, notes, report.samples.waiting)
    page_run = _summed_up(page_run, run, summed, report.samples.source)
    view = _view(run, options, report)
    if options.thread is not None or options.activity is not Activity.ALL:
        page_run = replace(page_run, summary=summary(report))
    return _Opening(page_run, summed, report.samples.functions, view)


_MOST_THREADS = 16
"""Threads that have a summary of their own on a page."""


def _summed_up(page_run: PageRun, run: Run, summed: Profile, source: SourceLines) -> PageRun:
    """Return the run with its summaries: of all threads and of each, by activity."""
    if not summed.total_weight:
        return page_run
    is_library = library_test(run.info.region.file, summed.frames)
    summaries = Summaries(run, summed, page_run.waiting, is_library, source.line)
    choices: dict[str, Profile] = {"all": summed}
    rows = thread_rows(summed)
    if len(rows) > 1:
        numbers = {thread: number for number, thread in enumerate(summed.threads)}
        chosen = [numbers[row.thread] for row in rows[:_MOST_THREADS]]
        choices |= zip(map(str, chosen), split_threads(summed, [[one] for one in chosen]), strict=True)
    found = {
        thread: {
            activity.value: summaries.of(selected, activity, is_thread=thread != "all")
            for activity in Activity
            if (selected := only_active(profile, page_run.waiting, activity)).samples
        }
        for thread, profile in choices.items()
    }
    return replace(page_run, summary=found["all"][Activity.ALL.value], summaries=found)


def _page_run(run: Run, notes: Sequence[str], waiting: Collection[int]) -> PageRun:
    profile = run.profile or Profile()
    return PageRun(
        waiting=waiting,
        id=run.info.id,
        label=_label(run),
        profile=profile,
        facts=facts(run),
        resources=sampled_points(run),
        notes=(*notes, *_notes(run)),
        tables=_tables(run),
        places=thread_places(run.merged),
    )


def _tables(run: Run) -> dict[str, list[dict[str, object]]]:
    """Return the blocks of the panels that only some runs have, by panel."""
    info, options = run.info, whole(DEFAULTS)
    profile = run.profile or Profile()
    is_library = library_test(info.region.file, profile.frames)
    documents: dict[str, Document] = {
        "awaits": await_blocks(info, options),
        "operators": trace_blocks(run.trace, options),
        "processes": process_blocks(run.merged, info, options, profile.total_weight, is_library)
        if run.merged
        else (),
    }
    found = {name: page_blocks(document) for name, document in documents.items()}
    return {name: blocks for name, blocks in found.items() if blocks}


def _label(run: Run) -> str:
    value = run.profile.value if run.profile is not None else None
    return run.info.label if value is None else f"{run.info.label}: {VALUE_TITLES[value]}"


def _notes(run: Run) -> list[str]:
    """Return the sentences that the page shows first, beside the warnings among the facts."""
    notes = []
    if not run.info.state.is_final:
        notes.append("This run is still being recorded. This page shows the samples until it was made.")
    if run.profile is None or not any(sample.weight for sample in run.profile.samples):
        notes += _without_samples(run)
    elif run.info.state is SessionState.FAILED:
        notes.append("The sampler failed. This page shows the samples until then.")
    return notes


def _without_samples(run: Run) -> list[str]:
    info = run.info
    if info.links and run.profile is None:
        links = (f"{what}: {url}" for what, url in info.links)
        return [f"{info.plan.sampler} stores the samples itself and shows them here:", *links]
    # The error itself is among the facts.
    return ["There are no samples: the sampler failed."] if info.error is not None else [why_no_samples(run)]


def _view(run: Run, options: ReportOptions, report: Report) -> dict[str, object]:
    """Return the page's initial view: the requested thread, if any, the activity, and the table's order."""
    thread: int | str = "all"
    activity = report.tree_activity
    if options.thread is None and options.activity is Activity.ALL:
        main = opening_thread(report.samples.profile, report.samples.waiting, run.info)
        if main is not None or are_all_of_calls(report.samples.profile, run.info):
            thread, activity = "all" if main is None else main, Activity.ALL
    if options.thread is not None:
        matching = wanted_threads(run.profile or Profile(), options.thread)
        if len(matching) > 1:
            raise UsageError(f"{len(matching)} threads are named {options.thread!r}", "give its id instead")
        thread = matching[0]
    return {"thread": thread, "sort": options.sort.value, "activity": activity.value}
