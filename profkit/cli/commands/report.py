"""`profkit report`: show a run, or the runs that `runs_to_merge`, `windows` or `jobs` selects, merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict, cast

import click

from profkit.cli.jobs import JobRuns, job_runs, ranks_of
from profkit.cli.memory import for_large_profiles
from profkit.cli.options import activity_options, limit_option, rare_option, value_option
from profkit.cli.report_output import Showing, merged_name, name_of, showing_options, source_root_option
from profkit.cli.runs_to_merge import Wanted, parse_moment, runs_to_merge
from profkit.cli.versions import with_notes_of_label
from profkit.cli.windows import windows_of
from profkit.cli.workspace import Workspace, complete_run, complete_thread, find_compilations, open_workspace
from profkit.config import Config
from profkit.errors import UsageError
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun
from profkit.model.profile import Value
from profkit.model.run import Run, RunInfo
from profkit.render.options import Activity, ReportOptions, Sort, Terminal
from profkit.render.registry import COMPILATIONS, IN_ORDER, MEASURED, SAMPLED, WITH_SESSION


@click.command("report")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--sort", type=click.Choice([sort.value for sort in Sort]), default=Sort.SELF.value, show_default=True,
    help="Sort order of functions and lines.",
)  # fmt: skip
@limit_option("Maximum number of rows per table.  [default: 15]")
@rare_option(
    "--min-share", type=click.FloatRange(0, 100), metavar="PERCENT",
    help="Minimum share of a call in the tree; smaller calls are summed up.  [default: 1]",
)  # fmt: skip
@rare_option(
    "--depth", type=click.IntRange(1, 200), metavar="N",
    help="Maximum number of levels of the call tree.  [default: all, in JSON 200]",
)  # fmt: skip
@click.option(
    "--thread", metavar="NAME|TID", shell_complete=complete_thread,
    help="Show only the samples of this thread.",
)  # fmt: skip
@activity_options()
@click.option("--show-all", is_flag=True, help="Do not fold library frames.")
@click.option(
    "--all", "all_runs", is_flag=True, help="Merge all runs of the label: every worker and session."
)
@click.option(
    "--since", metavar="WHEN", help="Merge the label's runs since WHEN: 10m, 2h or 1d ago, or an ISO time."
)
@rare_option(
    "--session", "sessions", multiple=True, metavar="ID",
    help="Merge the label's runs of this session; may be repeated.",
)  # fmt: skip
@rare_option(
    "--job", "is_job", is_flag=True, help="Merge the ranks of a job: RUN is its name.  [default: newest]"
)
@value_option("Value of a memory run to show.  [default: peak; pages show all]")
@click.option(
    "--compile", "compilations", is_flag=True,
    help="Show what torch compiled in the process of RUN, by frame and phase.",
)  # fmt: skip
@source_root_option()
@showing_options(SAMPLED.formats)
@click.pass_obj
def report_command(config: Config, /, run: str | None, **given: object) -> None:
    """Show where a run spent its time, or what was measured.

    RUN is the prefix of a run's id, or a label, which selects its newest run. Without it, the newest run of
    all is shown, even if it is still being recorded.

    Orders that were measured together are shown together: those with the label, or without RUN all.

    A run of a job with ranks, as torchrun, mpirun and srun start, is shown merged with those of the other
    ranks, unless RUN is an id. With --job, RUN is the beginning of a job's name, or a run of it.

    Of a program that is profiled in windows, the newest 100 of its process are shown merged, unless RUN is an
    id; of a job, those of each rank, at most 1,000 together.

    With --all, --since or --session, the runs of a label are merged over all worker processes and sessions,
    including those still being recorded, if they ran the same version of the code. The report then has each
    process's share, and the functions whose shares differ between processes.

    With --compile, the frames that torch.compile and torch.export compiled are shown by phase, with the
    hottest functions of the compiler. Without RUN, those of the process that compiled last are shown.

    Without -o, an HTML file is profkit-LABEL-ID.html in the current folder.
    """
    showing = Showing.of(given, SAMPLED.formats)
    asked = cast(_Given, given)
    if asked["compilations"]:
        _show_compilations(run, showing, asked, config)
        return
    wanted = _wanted(asked)
    with open_workspace(config) as workspace:
        of_job = _of_job(workspace, run, wanted, asked)
        if of_job is not None or wanted is not None:
            parts = of_job.merged if of_job is not None else runs_to_merge(workspace, run, wanted or Wanted())
        else:
            parts = windows_of(workspace, run) or ()
        if parts:
            with for_large_profiles():
                showing.show_parts(_merged(parts, showing, asked, workspace), merged_name(parts))
            if of_job is not None:
                of_job.mention_others()
            for part in parts:
                _check(part, workspace)
            return
        infos = workspace.find_all(run)
        with for_large_profiles():
            loaded = [workspace.load(info, in_order=showing.format in IN_ORDER) for info in infos]
            runs = tuple(with_notes_of_label(loaded, workspace))
            text = _rendered(runs, showing.format, _options(asked), showing.terminal(), workspace)
            showing.show_parts(text, name_of(infos))
        _check(infos[0], workspace)


class _Given(TypedDict):
    """Options about the contents of a report, as click passes them."""

    sort: str
    limit: int | None
    min_share: float | None
    depth: int | None
    thread: str | None
    activity: str | None
    show_all: bool
    source_root: Path | None
    value: Value | None
    all_runs: bool
    is_job: bool
    since: str | None
    sessions: tuple[str, ...]
    compilations: bool


def _show_compilations(run: str | None, showing: Showing, given: _Given, config: Config) -> None:
    if showing.format not in COMPILATIONS.formats:
        raise UsageError(
            f"--compile has no {showing.format} report", f"choose one of {', '.join(COMPILATIONS.formats)}"
        )
    options = _options(given)
    unfit = {
        **_of_samples(options),
        "--all": given["all_runs"],
        "--job": given["is_job"],
        "--since": given["since"],
        "--session": given["sessions"],
    }
    if wrong := ", ".join(option for option, is_given in unfit.items() if is_given):
        raise UsageError(f"{wrong} does not go with --compile", f"leave out {wrong}")
    with open_workspace(config) as workspace, for_large_profiles():
        found = find_compilations(workspace, run)
        parts = COMPILATIONS.parts(showing.format, found, options, showing.terminal())
        showing.show_parts(parts, f"compilations-{found.process.pid}")


def _wanted(given: _Given) -> Wanted | None:
    """Return the runs to merge; None if no option asks for that."""
    if not (given["all_runs"] or given["since"] is not None or given["sessions"]):
        return None
    since_ns = parse_moment(given["since"]) if given["since"] is not None else None
    return Wanted(since_ns, given["sessions"])


def _of_job(workspace: Workspace, run: str | None, wanted: Wanted | None, given: _Given) -> JobRuns | None:
    """Return the runs of the job that is asked for, or that the selected run belongs to."""
    if not given["is_job"]:
        return None if wanted is not None else ranks_of(workspace, run)
    if wanted is not None:
        raise UsageError("--job does not go with --all, --since and --session", "leave out one of them")
    return job_runs(workspace, run)


def _merged(infos: Sequence[RunInfo], showing: Showing, given: _Given, workspace: Workspace) -> Iterator[str]:
    """Render several sampled runs as one report."""
    from profkit.comparing.merged_runs import merge_runs
    from profkit.render.views.source import lines_of

    options = _options(given)
    run = merge_runs(workspace.load_sampled(infos), partial(lines_of, root=options.source_root))
    return SAMPLED.parts(showing.format, [run], options, showing.terminal())


def _options(given: _Given) -> ReportOptions:
    return ReportOptions(
        sort=Sort(given["sort"]),
        limit=given["limit"],
        min_share=None if given["min_share"] is None else given["min_share"] / 100,
        depth=given["depth"],
        thread=given["thread"],
        activity=Activity(given["activity"] or Activity.ALL.value),
        show_all=given["show_all"],
        source_root=given["source_root"],
        value=given["value"],
    )


def _rendered(
    runs: Sequence[AnyRun], format: str, options: ReportOptions, terminal: Terminal, workspace: Workspace
) -> Iterator[str]:
    """Render one sampled run, or the measured ones."""
    for run in runs:
        if isinstance(run, Run):
            others = workspace.others_of_session(run.info) if format in WITH_SESSION else ()
            return SAMPLED.parts(format, (run, *others), options, terminal)
    measured = tuple(run for run in runs if isinstance(run, MeasuredRun))
    _refuse_options_of_samples(options, measured[0].info)
    return MEASURED.parts(format, measured, options, terminal)


def _of_samples(options: ReportOptions) -> dict[str, bool]:
    """Return whether each option is given that applies to samples only."""
    return {
        "--min-share": options.min_share is not None,
        "--depth": options.depth is not None,
        "--thread": options.thread is not None,
        f"--{options.activity.value}": options.activity is not Activity.ALL,
        "--show-all": options.show_all,
        "--source-root": options.source_root is not None,
        "--value": options.value is not None,
    }


def _refuse_options_of_samples(options: ReportOptions, info: MeasuredInfo) -> None:
    if wrong := ", ".join(option for option, is_given in _of_samples(options).items() if is_given):
        raise UsageError(
            f"run {info.id} ({info.label}) was measured, and {wrong} applies only to samples",
            f"leave out {wrong}",
        )


def _check(info: AnyInfo, workspace: Workspace) -> None:
    """Raise the damage of this run, after the rest of it was shown.

    A measured run is whole or does not exist.
    """
    for damage in workspace.damaged:
        if not isinstance(info, MeasuredInfo) and info.session in damage.path.parts:
            raise damage
