"""`profkit report`: where the time of a run went, or what was measured."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict, cast

import click

from profkit.cli.completion import complete_run
from profkit.cli.kept import Kept, open_kept
from profkit.cli.merging import Wanted, loaded_runs, parse_moment, runs_to_merge
from profkit.cli.showing import Showing, showing_options, source_root_option
from profkit.cli.target import merged_name, name_of
from profkit.cli.versions import with_notes_of_label
from profkit.config import Config
from profkit.errors import UsageError
from profkit.model.measurement import MeasuredInfo, MeasuredRun
from profkit.model.run import AnyInfo, AnyRun, Run, RunInfo
from profkit.render.options import ReportOptions, Sort
from profkit.render.page import Page
from profkit.render.registry import IN_ORDER, RENDERERS, SESSION_RENDERERS


@click.command("report")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--sort",
    type=click.Choice([sort.value for sort in Sort]),
    default=Sort.SELF.value,
    show_default=True,
    help="Order of functions and lines.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Rows of each table.  [default: 15]")
@click.option(
    "--min-share",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Sum up smaller calls in the tree.  [default: 1]",
)
@click.option("--thread", metavar="NAME|TID", help="Only the samples of this thread.")
@click.option("--show-all", is_flag=True, help="Do not fold library frames.")
@click.option(
    "--all", "all_runs", is_flag=True, help="Merge all runs of the label: every worker and session."
)
@click.option("--since", metavar="WHEN", help="Merge its runs since WHEN: 10m, 2h or 1d ago, or an ISO time.")
@click.option(
    "--session", "sessions", multiple=True, metavar="ID", help="Merge its runs of this session; repeatable."
)
@source_root_option()
@showing_options(list(RENDERERS))
@click.pass_obj
def report_command(config: Config, /, run: str | None, **given: object) -> None:
    """Show where the time of a run went, or what was measured.

    RUN is the beginning of a run's id, or a label, whose newest run is meant. Without it, the newest run
    of all is shown, also while it is still being recorded.

    Orders that were measured together are shown together: those with the label, or without RUN all.

    With --all, --since or --session, the runs of a label are merged over all worker processes and sessions,
    those still being recorded too, if they ran the same version of the code. The report then has each
    process's share, and the functions whose shares differ between processes.

    Without -o, an HTML file is profkit-LABEL-ID.html in the current folder.
    """
    showing = Showing.of(given, RENDERERS)
    asked = cast(_Given, given)
    wanted = _wanted(asked)
    with open_kept(config) as kept:
        if wanted is not None:
            parts = runs_to_merge(kept, run, wanted)
            with _uncollected():
                text = _merged(parts, showing, asked, kept)
            showing.show(text, merged_name(parts))
            for part in parts:
                _check(part, kept)
            return
        infos = kept.find_all(run)
        with _uncollected():
            loaded = [kept.load(info, in_order=showing.format in IN_ORDER) for info in infos]
            runs = tuple(with_notes_of_label(loaded, kept))
            text = _rendered(runs, showing.format, _options(asked), showing.page(), kept)
        showing.show(text, name_of(infos))
        _check(infos[0], kept)


class _Given(TypedDict):
    """Options about what a report shows, as click hands them over."""

    sort: str
    limit: int | None
    min_share: float | None
    thread: str | None
    show_all: bool
    source_root: Path | None
    all_runs: bool
    since: str | None
    sessions: tuple[str, ...]


def _wanted(given: _Given) -> Wanted | None:
    """The runs to merge; None if nobody asked for that."""
    if not (given["all_runs"] or given["since"] is not None or given["sessions"]):
        return None
    since_ns = parse_moment(given["since"]) if given["since"] is not None else None
    return Wanted(since_ns, given["sessions"])


def _merged(infos: Sequence[RunInfo], showing: Showing, given: _Given, kept: Kept) -> str:
    """The report of several sampled runs as one."""
    from profkit.comparing.merged_runs import merge_runs

    run = merge_runs(loaded_runs(kept, infos))
    return RENDERERS[showing.format](run, _options(given), showing.page())


def _options(given: _Given) -> ReportOptions:
    return ReportOptions(
        sort=Sort(given["sort"]),
        limit=given["limit"],
        min_share=None if given["min_share"] is None else given["min_share"] / 100,
        thread=given["thread"],
        show_all=given["show_all"],
        source_root=given["source_root"],
    )


def _rendered(runs: Sequence[AnyRun], renderer: str, options: ReportOptions, at: Page, kept: Kept) -> str:
    """The report of one sampled run, or of the measured ones."""
    for run in runs:
        if isinstance(run, Run):
            if renderer in SESSION_RENDERERS:
                return SESSION_RENDERERS[renderer]((run, *kept.others_of_session(run.info)), options, at)
            return RENDERERS[renderer](run, options, at)
    from profkit.render.measured.registry import MEASURED_RENDERERS

    measured = tuple(run for run in runs if isinstance(run, MeasuredRun))
    _refuse_options_of_samples(options, measured[0].info)
    return MEASURED_RENDERERS[renderer](measured, options, at)


def _refuse_options_of_samples(options: ReportOptions, info: MeasuredInfo) -> None:
    given = {
        "--min-share": options.min_share is not None,
        "--thread": options.thread is not None,
        "--show-all": options.show_all,
        "--source-root": options.source_root is not None,
    }
    if wrong := ", ".join(option for option, is_given in given.items() if is_given):
        raise UsageError(
            f"run {info.id} ({info.label}) was measured and has no samples, which {wrong} asks about",
            "leave that out",
        )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python's collector from walking through a large tree over and over; there are no cycles in it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _check(info: AnyInfo, kept: Kept) -> None:
    """Raise the damage that this very run has, after all that is left of it was shown.

    A measured run is whole or not there at all.
    """
    for damage in kept.damaged:
        if not isinstance(info, MeasuredInfo) and info.session in damage.path.parts:
            raise damage
