"""`profkit attach`: profile a process that runs already."""

from __future__ import annotations

import click

from profkit.cli.memory import for_large_profiles
from profkit.cli.options import profiler_options, sampling_options
from profkit.cli.output import say
from profkit.cli.program_reports import Output, report_options, write_merged, write_report
from profkit.cli.windows import MOST_MERGED, finish_pushing
from profkit.cli.workspace import open_workspace
from profkit.config import Config
from profkit.model.run import RunInfo


@click.command("attach")
@click.argument("pid", type=click.IntRange(1))
@click.option(
    "-d", "--duration", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
    help="Time to sample.  [default: until Ctrl-C, or the end of the process]",
)  # fmt: skip
@sampling_options()
@report_options()
@click.pass_obj
def attach_command(
    config: Config,
    /,
    pid: int,
    duration: float | None,
    name: str | None,
    output: str | None,
    *,
    quiet: bool,
    **given: object,
) -> None:
    """Profile a running process until Ctrl-C, or for a while.

    All of its threads are sampled. The process needs no change and does not notice. It must run Python, and
    this user must be allowed to read it; otherwise the message says what forbids it. The report follows on
    stderr, and the run is kept.
    """
    from profkit.calls.options import settings_over_defaults
    from profkit.process.signals import interruptions
    from profkit.program.attached import AttachedProgram, Attaching
    from profkit.program.target import find_target

    shown, chosen = Output.of(name, output), settings_over_defaults(profiler_options(given))
    how = Attaching(chosen.sampler, chosen.label, duration)
    attached = AttachedProgram(find_target(pid), how, config, lambda text: say("warning", text))
    limit = "press Ctrl-C to stop" if duration is None else f"for {duration:g} s; Ctrl-C stops it earlier"
    with interruptions() as wait:
        attached.sample(wait, lambda sampler: say("note", f"sampling process {pid} with {sampler}, {limit}"))
    if config.push:
        finish_pushing(config.push, config, quiet=quiet)
        return
    if quiet:
        return
    with open_workspace(config) as workspace, for_large_profiles():
        found = (info for info in workspace.store.session(attached.session.id) if isinstance(info, RunInfo))
        info = next(found)
        merged = workspace.windows(info.series, MOST_MERGED) if info.series else ()
        if len(merged) > 1:
            write_merged(merged, shown, workspace)
        else:
            write_report(info, shown, workspace)
