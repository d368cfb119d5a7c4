"""HTML page of a sampled run and of the other regions of its session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profkit.errors import UsageError
from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.model.session import SessionState
from profkit.render.html.document import html_page, refuse_limits
from profkit.render.html.runs import PageRun, PageRuns, SourceBudget
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.views.header import facts, why_no_samples
from profkit.render.views.sampled import Report, build_report, library_test, wanted_threads
from profkit.render.views.source import SourceLines, infos_of, source_of
from profkit.render.views.summary import summary
from profkit.transforms.simplify import fold_addresses
from profkit.transforms.trees import sum_samples
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
    # Summing a million samples takes long, so the report and the page share the sums.
    summed = None if runs[0].profile is None else sum_samples(fold_addresses(runs[0].profile))
    report = build_report(replace(runs[0], profile=summed), replace(options, limit=1))
    for run in runs:
        is_first = run is runs[0]
        page.add(_page_run(run, source, notes if is_first else (), report), summed if is_first else None)
    head = page.head("sampled", f"{info.label} – profkit")
    return html_page({**head, "initial": _initial(runs[0], options, report)}, page.columns)


def _page_run(run: Run, source: SourceLines, notes: Sequence[str], report: Report) -> PageRun:
    profile = fold_addresses(run.profile or Profile())
    has_samples = any(sample.weight for sample in profile.samples)
    return PageRun(
        summary=summary(report) if has_samples and run.info.id == report.run.info.id else (),
        waiting=waiting_stacks(profile, source.line),
        id=run.info.id,
        label=run.info.label,
        profile=profile,
        facts=facts(run),
        resources=run.resources,
        notes=(*notes, *_notes(run)),
        merged=run.merged,
    )


def _notes(run: Run) -> list[str]:
    """Return the sentences that the page shows first, beside the warnings among the facts."""
    notes = []
    if run.info.state not in (SessionState.SUCCESS, SessionState.FAILED):
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


def _initial(run: Run, options: ReportOptions, report: Report) -> dict[str, object]:
    """Return the page's initial view: the requested thread, if any, the activity, and the table's order."""
    thread: int | str = "all"
    if options.thread is not None:
        matching = wanted_threads(run.profile or Profile(), options.thread)
        if len(matching) > 1:
            raise UsageError(f"{len(matching)} threads are named {options.thread!r}", "give its id instead")
        thread = matching[0]
    return {"thread": thread, "sort": options.sort.value, "activity": report.tree_activity.value}
