"""`profkit run`: profile a whole program without changing it; which of its runs is shown at its end."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

import click

from profkit.calls.options import MEMORY
from profkit.cli.failures import FAILURES, report_failure
from profkit.cli.options import rare_option, sampling_options, windows_options
from profkit.cli.output import say, write, write_message
from profkit.cli.program_arguments import CommandLine, ProgramCommand
from profkit.cli.program_modes import (
    SAMPLES,
    check_tracker,
    measured_program_options,
    memory_option,
    mode_option,
    program_options,
    program_order,
    refuse_other_options,
)
from profkit.cli.program_reports import (
    Output,
    mention_others,
    refuse_stacks,
    report_options,
    write_compilations,
    write_merged,
    write_report,
    write_run,
)
from profkit.cli.windows import PUSH, finish_pushing, keeping_variables
from profkit.config import Config
from profkit.errors import StoreEmpty, UsageError
from profkit.model.region import RegionKind
from profkit.program.environment import MODE
from profkit.units import short_id

if TYPE_CHECKING:
    from profkit.cli.workspace import Workspace
    from profkit.model.run import RunInfo
    from profkit.program.environment import ProgramOptions

_SEARCHED = 1000
"""Number of the newest runs that are searched for the program's."""
_WHY_NOT = (
    "no Python in it has read PYTHONPATH, which its options -I and -E forbid; leave them out, or check that "
    "the command starts Python"
)
_LAUNCHERS = frozenset({"torchrun", "torch.distributed.run", "accelerate", "deepspeed"})
"""Names of launchers that are Python programs: without --each, they alone are profiled."""
_WHY_NOT_TRACKED = f"a message above says that memray is missing, or {_WHY_NOT}"


@click.command("run", cls=ProgramCommand)
@mode_option()
@sampling_options(children="Sample child processes, or count their instructions, too.")
@report_options()
@windows_options()
@memory_option()
@measured_program_options()
@click.option(
    "--each",
    is_flag=True,
    help="Profile each Python that a launcher or script starts, and report the ranks merged.",
)
@click.option(
    "--torch-compile", is_flag=True,
    help="Also make a run of each phase of each compilation by torch, and report them.",
)  # fmt: skip
@rare_option(
    "--print-environment", is_flag=True,
    help="Run nothing; print a shell's commands after which each Python profiles its program.",
)  # fmt: skip
@click.pass_context
def run_command(
    context: click.Context,
    /,
    mode: str,
    name: str | None,
    output: str | None,
    *,
    quiet: bool,
    each: bool,
    print_environment: bool,
    torch_compile: bool,
    **given: object,
) -> int:
    """Run a program and profile it from its first line to its last.

    The program is unchanged: its input, output, signals and exit code are its own, and none of profkit's
    frames are in its tracebacks. The report follows on stderr, and the run is kept.

    Options of profkit come before the program, those of the program after it. A COMMAND can be anything that
    starts Python, such as `-- pytest -x`.

    With --each, each Python that the command starts has a run, at any depth, as in
    `--each -- torchrun train.py`. The report is of all ranks together.

    With --windows, the run is divided into windows, of which each is a run that can be read at once.

    With --mode memory, memray tracks the memory that the program allocates. It must be installed for the
    Python that runs the program.

    With --mode timer, callgrind or timer+callgrind, the program is executed repeatedly and measured instead.
    --help-all has further options for these modes. The exit code is then 0, or 3 if an execution fails.
    """
    refuse_other_options(context, mode)
    keeping = keeping_variables(given, os.environ)
    if print_environment:
        from profkit.program.environment import switch

        options = program_options(mode, given)
        variables = keeping | switch(os.environ, options, compilations=torch_compile, each=True)
        write("\n".join(f"export {name}={shlex.quote(value)}" for name, value in variables.items()))
        return 0
    line = cast(CommandLine, context.meta[ProgramCommand.COMMAND_LINE])
    shown, config = Output.of(name, output), cast(Config, context.obj)
    if mode in (SAMPLES, MEMORY):
        if mode == MEMORY and line.command[0] == sys.executable:
            check_tracker()
        options = program_options(mode, given)
        launch = _Launch(os.urandom(8).hex(), each, torch_compile, keeping)
        return _profile(line, options, shown, config, launch, quiet=quiet)
    _measure(line, mode, given, shown, config, quiet=quiet)
    return 0


class _Launch(NamedTuple):
    id: str
    each: bool
    compilations: bool
    keeping: Mapping[str, str]
    """Variables that say which sessions are kept, and where they are sent."""


def _read_once(name: str, mode: str, otherwise: str) -> UsageError:
    return UsageError(
        f"{name} can be read only once, and --mode {mode} executes the program repeatedly",
        f"{otherwise}write the script to a file",
    )


def _measure(
    line: CommandLine, mode: str, given: Mapping[str, object], shown: Output, config: Config, *, quiet: bool
) -> None:
    """Measure a program, and keep and show its run."""
    from profkit.cli.workspace import MeasuredSpool
    from profkit.measuring.errors import ProgramFailed, ProgramTimeout
    from profkit.measuring.programs.run import measure_program
    from profkit.measuring.runner.progress import ProgressLine

    if line.reads_once:
        raise _read_once(line.given[0], mode, "")
    if line.is_on_stdin and given["stdin"] is None:
        raise _read_once("stdin", mode, "add --input -, or ")
    if mode == "timer":
        refuse_stacks(shown, mode)
    spool = MeasuredSpool(config.spool)
    with program_order(line, mode, given) as order:
        try:
            run = measure_program(order, None if quiet else ProgressLine(sys.stderr))
        except (ProgramFailed, ProgramTimeout) as error:
            if error.output:
                write_message([error.output.rstrip("\n")])
            raise
    spool.keep(run)
    if not quiet:
        write_run(run, shown)
    spool.check(1)


def _profile(
    line: CommandLine,
    options: ProgramOptions,
    shown: Output,
    config: Config,
    launch: _Launch,
    *,
    quiet: bool,
) -> int:
    """Sample a program or track its memory, and show its run; return its exit code."""
    from profkit.process.foreground import end_as
    from profkit.process.foreground import run_command as run_in_terminal
    from profkit.program.environment import launching

    environ = {**os.environ, **launch.keeping}
    environ = launching(environ, options, launch.id, compilations=launch.compilations, each=launch.each)
    shows = not quiet and not line.is_missing
    exit_code = run_in_terminal(line.command, environ, partial(_prepare, shown.format) if shows else None)
    if PUSH in launch.keeping:
        finish_pushing(launch.keeping[PUSH], config, quiet=quiet)
    elif shows:
        why_not = _WHY_NOT_TRACKED if options.get(MODE) == MEMORY else _WHY_NOT
        try:
            _show(launch, shown, config, why_not)
            if not launch.each and line.name in _LAUNCHERS:
                say(
                    "note",
                    f"only {line.name} itself was profiled; `profkit run --each` profiles what it starts",
                )
        except FAILURES as error:
            report_failure(error)  # the exit code is the program's
    end_as(exit_code)
    return exit_code


def _prepare(format: str) -> None:
    """Import what the report needs while the program runs."""
    with suppress(Exception):  # the report will fail, and say why
        from profkit.cli import workspace  # noqa: F401
        from profkit.ingest import keep, read  # noqa: F401
        from profkit.render.registry import SAMPLED
        from profkit.store import runs  # noqa: F401

        if format in SAMPLED.formats:
            SAMPLED.renderer(format)


def _show(launch: _Launch, output: Output, config: Config, why_not: str) -> None:
    """Show the program's run, or why there is none; raises as `write_report`."""
    from profkit.cli.memory import for_large_profiles
    from profkit.cli.workspace import await_samplers, open_workspace

    await_samplers(launch.id, config)
    try:
        with open_workspace(config) as workspace, for_large_profiles():
            infos = _of_launch(launch.id, workspace)
            if infos:
                others = _show_runs(infos, output, workspace, launch)
                if launch.compilations:
                    _show_compilations(launch.id, output, workspace)
                mention_others(others)
                return
    except StoreEmpty:
        pass
    say("warning", f"the program was not profiled: {why_not}")


def _show_runs(
    infos: Sequence[RunInfo], output: Output, workspace: Workspace, launch: _Launch
) -> Sequence[RunInfo]:
    """Show the ranks merged, else the longest run; return the other runs."""
    shown = infos[:1]
    if launch.each and not any(info.memory for info in infos):
        shown = _main_job(infos)
    elif series := infos[0].series:
        windows = [info for info in infos if info.series == series]
        shown = sorted(windows, key=lambda info: -info.started_ns)
    if len(shown) > 1:
        write_merged(shown, output, workspace)
    else:
        write_report(shown[0], output, workspace)
    return [info for info in infos if info not in shown]


def _main_job(infos: Sequence[RunInfo]) -> Sequence[RunInfo]:
    """Return the runs of one region in one job that have the most processes and samples."""
    from profkit.cli.jobs import chosen, weight

    jobs: dict[str, list[RunInfo]] = {}
    for info in infos:
        jobs.setdefault(info.process.member.job, []).append(info)
    return max((chosen(found, None).merged for found in jobs.values()), key=weight)


def _show_compilations(launch: str, output: Output, workspace: Workspace) -> None:
    """Show what the program compiled below its report, or how to see it if that is in a file."""
    from profkit.cli.workspace import compilations_of_launch

    found = compilations_of_launch(workspace, launch)
    if found is None:
        say("note", "torch compiled nothing")
    elif output.place is None:
        write_compilations(found)
    else:
        say("note", f"`profkit report --compile {short_id(found.infos[0].id)}` shows the compilations")


def _of_launch(launch: str, workspace: Workspace) -> list[RunInfo]:
    """Return the runs of the programs that a launch started, the longest first."""
    from profkit.model.run import RunInfo

    infos = (info for info in workspace.runs(None, _SEARCHED) if isinstance(info, RunInfo))
    programs = (info for info in infos if info.region.kind is RegionKind.PROGRAM)
    found = (info for info in programs if info.process.launch == launch)
    return sorted(found, key=lambda info: -info.session_s)
