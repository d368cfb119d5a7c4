"""`profkit list`: list runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import click

from profkit.cli.options import limit_option
from profkit.cli.output import say
from profkit.cli.report_output import Showing, showing_options
from profkit.cli.versions import several_regions
from profkit.cli.workspace import complete_label, open_workspace
from profkit.config import Config
from profkit.errors import SpoolUnavailable
from profkit.model.measurement import AnyInfo
from profkit.model.run import RunInfo
from profkit.model.session import UnprofiledGroup, grouped

_LIMIT = 20
_FORMATS = ("text", "json")


@click.command("list")
@click.option(
    "--label", metavar="LABEL", shell_complete=complete_label, help="List only runs with this label."
)
@limit_option("Maximum number of runs, newest first.  [default: 20, in JSON all]")
@showing_options(_FORMATS)
@click.pass_obj
def list_command(config: Config, /, label: str | None, limit: int | None, **given: object) -> None:
    """List runs, newest first.

    Sessions that are still being recorded come first; `profkit report` shows their samples so far. Notes
    below the list say which processes of the last seven days were not profiled, and how to change that.
    """
    showing = Showing.of(given, _FORMATS)
    unprofiled = _unprofiled(config)
    try:
        shown = _LIMIT if limit is None and showing.format == "text" else limit
        _list(config, label, shown, showing, unprofiled)
    finally:
        if unprofiled:
            from profkit.render.views.processes import unprofiled_notes

            for note in unprofiled_notes(unprofiled):
                say("note", note)


def _list(
    config: Config,
    label: str | None,
    shown: int | None,
    showing: Showing,
    unprofiled: tuple[UnprofiledGroup, ...],
) -> None:
    regions: dict[tuple[str, str], RunInfo] = {}
    with open_workspace(config) as workspace:
        found = workspace.each(label)
        first = next(found, None)
        if first is None:
            raise workspace.not_found(label)
        infos = _noting(regions, islice(chain([first], found), shown))
        if showing.format == "json":
            from profkit.render.json.sampled import runs_json_parts

            showing.show_parts(runs_json_parts(infos, unprofiled), "runs")
        else:
            from profkit.render.registry import LISTED_RUNS

            showing.show(LISTED_RUNS.text(tuple(infos), terminal=showing.terminal()), "runs")
        has_more = next(found, None) is not None
    if has_more:
        say("note", "there are older runs; raise --limit to list them")
    for name, phrase in several_regions(regions.values()).items():
        say("note", f"the runs of {name!r} come from {phrase}; see the column `version`")


def _noting(regions: dict[tuple[str, str], RunInfo], infos: Iterable[AnyInfo]) -> Iterator[AnyInfo]:
    """Yield the runs, of which there may be very many, and note one of each version of a label's code."""
    for info in infos:
        if isinstance(info, RunInfo):
            regions.setdefault((info.label, info.region.version), info)
        yield info


def _unprofiled(config: Config) -> tuple[UnprofiledGroup, ...]:
    """Return the processes of the last seven days that were not profiled."""
    from profkit.store.spool_files import read_unprofiled

    try:
        return grouped(read_unprofiled(config.spool))
    except OSError as error:
        raise SpoolUnavailable(config.spool, str(error)) from error
