"""`profkit report`: where the time of a run went, or what was measured."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from profkit.cli.completion import complete_run
from profkit.cli.kept import Kept, open_kept
from profkit.cli.output import page, write
from profkit.config import Config
from profkit.errors import UsageError
from profkit.model.kept import AnyInfo, AnyRun
from profkit.model.measurement import MeasuredInfo, MeasuredRun
from profkit.model.run import Run
from profkit.render.options import ReportOptions, Sort
from profkit.render.registry import RENDERERS


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
    "--format",
    "renderer",
    type=click.Choice(list(RENDERERS)),
    default="text",
    show_default=True,
    help="How to show it.",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json: everything, unless limited.")
@click.pass_obj
def report_command(
    config: Config,
    run: str | None,
    sort: str,
    limit: int | None,
    min_share: float | None,
    thread: str | None,
    show_all: bool,
    renderer: str,
    as_json: bool,
) -> None:
    """Show where the time of a run went, or what was measured.

    RUN is the beginning of a run's id, or a label, whose newest run is meant. Without it, the newest run
    of all is shown, also while it is still being recorded.

    Orders that were measured together are shown together: those with the label, or without RUN all.
    """
    options = ReportOptions(
        sort=Sort(sort),
        limit=limit,
        min_share=None if min_share is None else min_share / 100,
        thread=thread,
        show_all=show_all,
    )
    with open_kept(config) as kept:
        infos = kept.find_all(run)
        with _uncollected():
            runs = [kept.load(info) for info in infos]
            write(_rendered(runs, "json" if as_json else renderer, options))
        _check(infos[0], kept)


def _rendered(runs: Sequence[AnyRun], renderer: str, options: ReportOptions) -> str:
    """The report of one sampled run, or of the measured ones."""
    for run in runs:
        if isinstance(run, Run):
            return RENDERERS[renderer](run, options, page())
    from profkit.render.measured import MEASURED_RENDERERS

    measured = tuple(run for run in runs if isinstance(run, MeasuredRun))
    _refuse_options_of_samples(options, measured[0].info)
    return MEASURED_RENDERERS[renderer](measured, options, page())


def _refuse_options_of_samples(options: ReportOptions, info: MeasuredInfo) -> None:
    given = {
        "--min-share": options.min_share is not None,
        "--thread": options.thread is not None,
        "--show-all": options.show_all,
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
