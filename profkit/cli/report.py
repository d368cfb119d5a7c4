"""`profkit report`: where the time of a run went."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import click

from profkit.cli.completion import complete_run
from profkit.cli.kept import Kept, open_kept
from profkit.cli.output import page, write
from profkit.config import Config
from profkit.model.run import RunInfo
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
    """Show where the time of a run went.

    RUN is the beginning of a run's id, or a label, whose newest run is meant. Without it, the newest run
    of all is shown, also while it is still being recorded.
    """
    options = ReportOptions(
        sort=Sort(sort),
        limit=limit,
        min_share=None if min_share is None else min_share / 100,
        thread=thread,
        show_all=show_all,
    )
    render = RENDERERS["json" if as_json else renderer]
    with open_kept(config) as kept:
        info = kept.find(run)
        with _uncollected():
            write(render(kept.load(info), options, page()))
        _check(info, kept)


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


def _check(info: RunInfo, kept: Kept) -> None:
    """Raise the damage that this very run has, after all that is left of it was shown."""
    for damage in kept.damaged:
        if info.session in damage.path.parts:
            raise damage
