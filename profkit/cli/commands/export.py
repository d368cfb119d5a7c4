"""`profkit export`: write runs in another tool's format, or whole in profkit's own, optionally scrubbed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.exports import (
    EXPORTS,
    WHOLE,
    export_runs,
    format_of,
    has_python_functions,
    profile_of,
    refuse_terminal,
)
from profkit.cli.options import rare_option, value_option
from profkit.cli.output import save_parts, say, write_bytes
from profkit.cli.workspace import Workspace, complete_run, open_workspace
from profkit.config import Config
from profkit.errors import DamagedFile, UsageError
from profkit.formats.parquet import ENDING, PARQUET

if TYPE_CHECKING:
    from profkit.model.measurement import AnyInfo, AnyRun
    from profkit.model.profile import Profile, Value

_STDOUT = "-"


@click.command("export")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option("-o", "--output", metavar="FILE", help="Output file.  [default: stdout]")
@click.option(
    "--format", "name", type=click.Choice((*EXPORTS, PARQUET)),
    help="Output format.  [default: by FILE's ending]",
)  # fmt: skip
@click.option(
    "--scrub", is_flag=True, help="Remove paths, host, user, arguments and environment, for sharing."
)
@rare_option(
    "--all", "all_runs", is_flag=True, help="Write all runs of label RUN, or of the store; as parquet only."
)
@rare_option(
    "--job", "is_job", is_flag=True,
    help="Write all runs of the job RUN; as parquet only.  [default: newest job]",
)  # fmt: skip
@rare_option(
    "--native-functions", is_flag=True,
    help="Write native functions of a counted run, not Python functions.",
)  # fmt: skip
@value_option("Value of a memory run to write.  [default: peak; pprof has all]")
@click.pass_obj
def export_command(
    config: Config,
    run: str | None,
    name: str | None,
    output: str | None,
    scrub: bool,
    native_functions: bool,
    value: Value | None,
    *,
    all_runs: bool,
    is_job: bool,
) -> None:
    """Write a run in a format that other tools read.

    RUN is the prefix of a run's id, or a label, which selects its newest run. Without it, the newest run of
    all is written. A FILE that ends in .gz is compressed.

    The profkit format contains the whole run, in JSON, which `profkit import` reads.

    Of a run with instruction counts by Python function, other formats get the Python functions.

    The parquet format is a table with a row for each stack of each thread, for DuckDB and pandas. It can have
    all runs of a label or a job.

    Of a run with mode="trace", the chrome-trace format gets the file of torch.profiler.

    With --scrub, names of files start at an import root or at the program's folder. Labels and names of
    functions stay: check them before you publish a profile.
    """
    file = None if output in (None, _STDOUT) else Path(str(output))
    chosen = name or format_of(file, {ENDING: PARQUET})
    refuse_terminal(chosen, file)
    if chosen == PARQUET:
        is_gzip = file is not None and file.name.lower().endswith(".gz")
        unfit = {
            "--value": value is not None,
            "--native-functions": native_functions,
            "the ending .gz": is_gzip,
        }
        _refuse(unfit, f"--format {PARQUET}")
        _export_table(config, run, file, scrub=scrub, all_runs=all_runs, is_job=is_job)
        return
    _refuse({"--all": all_runs, "--job": is_job}, f"--format {chosen}")
    runs = _loaded(config, run, chosen)
    if scrub:
        from profkit.cli.scrubbing import scrubbed

        runs = scrubbed(runs)
    if native_functions and (chosen == WHOLE or not has_python_functions(runs[0])):
        raise UsageError(
            "--native-functions needs a run with counts by Python function, and a format for one profile",
            "leave it out",
        )
    if value is not None and chosen == WHOLE:
        raise UsageError(
            f"--value does not apply to --format {WHOLE}, which keeps all values", "leave it out"
        )
    export_runs(runs, chosen, file, native_functions=native_functions, value=value)


def _loaded(config: Config, wanted: str | None, chosen: str) -> tuple[AnyRun, ...]:
    with open_workspace(config) as workspace:
        infos = workspace.find_all(wanted)
        if chosen != WHOLE and len(infos) > 1:
            raise UsageError(
                f"{len(infos)} runs were measured together, and {chosen} can hold one", "give the id of one"
            )
        return tuple(workspace.load(info, trace_file=True) for info in infos)


def _refuse(given: Mapping[str, bool], what: str) -> None:
    if wrong := " and ".join(option for option, is_given in given.items() if is_given):
        raise UsageError(f"{wrong} does not go with {what}", f"leave out {wrong}")


def _export_table(
    config: Config, wanted: str | None, file: Path | None, *, scrub: bool, all_runs: bool, is_job: bool
) -> None:
    from profkit.cli.jobs import job_runs
    from profkit.formats.parquet import parquet_parts

    if all_runs and is_job:
        raise UsageError("--all and --job select different runs", "give one of them")
    with open_workspace(config) as workspace:
        if is_job:
            found = job_runs(workspace, wanted)
            infos: Iterator[AnyInfo] = iter((*found.merged, *found.others))
        else:
            infos = workspace.each(wanted) if all_runs else iter(workspace.find_all(wanted))
        if (first := next(infos, None)) is None:
            raise workspace.not_found(wanted)
        is_many = all_runs or is_job
        parts = parquet_parts(_profiles(workspace, chain((first,), infos), scrub=scrub, is_many=is_many))
        if file is not None:
            save_parts(file, parts)
            return
        for part in parts:
            write_bytes(part)


def _profiles(
    workspace: Workspace, infos: Iterable[AnyInfo], *, scrub: bool, is_many: bool
) -> Iterator[tuple[AnyInfo, Profile]]:
    """Load runs one after the other; of many, those without samples and damaged ones are reported."""
    from profkit.cli.scrubbing import scrubbed
    from profkit.model.run import Run, RunInfo

    left = 0
    for info in infos:
        try:
            run = None if is_many and not isinstance(info, RunInfo) else workspace.load(info)
        except DamagedFile as damage:
            if not is_many:
                raise
            say("warning", str(damage))
            continue
        if run is None or (is_many and isinstance(run, Run) and run.profile is None):
            left += 1
            continue
        (kept,) = scrubbed((run,)) if scrub else (run,)
        yield kept.info, profile_of(kept)
    if left:
        say("note", f"runs without samples are not written: {left}")
