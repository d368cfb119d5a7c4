"""`profkit list`: list runs or jobs, and say which processes were not profiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

import click

from profkit.cli.options import limit_option, rare_option
from profkit.cli.output import say
from profkit.cli.report_output import Showing, showing_options
from profkit.cli.versions import several_regions
from profkit.cli.windows import folded
from profkit.cli.workspace import complete_label, open_workspace
from profkit.config import Config
from profkit.errors import SpoolUnavailable, UsageError
from profkit.model.measurement import AnyInfo
from profkit.model.run import RunInfo
from profkit.model.session import UnprofiledGroup, grouped

_LIMIT = 20
_FORMATS = ("text", "json")


@click.command("list")
@click.option(
    "--label", metavar="LABEL", shell_complete=complete_label, help="List only runs with this label."
)
@rare_option("--jobs", "are_jobs", is_flag=True, help="List jobs of several processes, with their ranks.")
@limit_option("Maximum number of runs, newest first.  [default: 20, in JSON all]")
@showing_options(_FORMATS)
@click.pass_obj
def list_command(
    config: Config, /, label: str | None, limit: int | None, *, are_jobs: bool, **given: object
) -> None:
    """List runs, newest first.

    Sessions that are still being recorded come first; `profkit report` shows their samples so far. Notes
    below the list say which processes of the last seven days were not profiled, and how to change that.

    The windows of a process share a row, which has the id of the newest one. In JSON, each has its own.

    With --jobs, each job is one row: processes that torchrun, mpirun, srun, Dask or Ray started together.
    `profkit report --job` merges the runs of one.
    """
    showing = Showing.of(given, _FORMATS)
    if are_jobs:
        if label is not None:
            raise UsageError("--label does not go with --jobs", "leave out one of them")
        _list_jobs(config, limit or _LIMIT, showing)
        return
    unprofiled = _unprofiled(config)
    try:
        shown = _LIMIT if limit is None and showing.format == "text" else limit
        _list(config, label, shown, showing, unprofiled)
    finally:
        if unprofiled:
            from profkit.render.views.processes import unprofiled_note

            for note in map(unprofiled_note, unprofiled):
                say("note", note)


def _list_jobs(config: Config, limit: int, showing: Showing) -> None:
    from profkit.cli.jobs import JobNotFound
    from profkit.render.views.jobs import job_rows

    with open_workspace(config) as workspace:
        names = workspace.jobs(limit=limit + 1)
        if not names:
            raise JobNotFound(None)
        rows = job_rows({name: workspace.job_summed(name) for name in names[:limit]})
        if showing.format == "json":
            from profkit.render.json.small_reports import jobs_json

            text = jobs_json(rows)
        else:
            from profkit.render.registry import LISTED_JOBS

            text = LISTED_JOBS.text(rows, terminal=showing.terminal())
        showing.show(text, "jobs")
    if len(names) > limit:
        say("note", "there are older jobs; raise --limit to list them")


def _list(
    config: Config,
    label: str | None,
    shown: int | None,
    showing: Showing,
    unprofiled: tuple[UnprofiledGroup, ...],
) -> None:
    regions: dict[tuple[str, str], RunInfo] = {}
    with open_workspace(config) as workspace:
        if showing.format == "json":
            from profkit.render.json.sampled import runs_json_parts

            found = workspace.each(label)
            first = next(found, None)
            if first is None:
                raise workspace.not_found(label)
            infos = _noting(regions, chain([first], found))
            showing.show_parts(runs_json_parts(islice(infos, shown), unprofiled), "runs")
            has_more = next(found, None) is not None
        else:
            from profkit.render.registry import LISTED_RUNS

            rows, has_more = folded(workspace, label, shown or _LIMIT)
            if not rows:
                raise workspace.not_found(label)
            text = LISTED_RUNS.text(list(_noting(regions, rows)), terminal=showing.terminal())
            showing.show(text, "runs")
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
