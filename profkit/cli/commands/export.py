"""`profkit export`: write a run in another tool's format, or whole in profkit's own, optionally scrubbed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.exports import EXPORTS, WHOLE, export_runs, format_of, has_python_functions, refuse_terminal
from profkit.cli.options import rare_option, value_option
from profkit.cli.workspace import complete_run, open_workspace
from profkit.config import Config
from profkit.errors import UsageError

if TYPE_CHECKING:
    from profkit.model.measurement import AnyRun
    from profkit.model.profile import Value

_STDOUT = "-"


@click.command("export")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option("-o", "--output", metavar="FILE", help="Output file.  [default: stdout]")
@click.option(
    "--format", "name", type=click.Choice(EXPORTS), help="Output format.  [default: by FILE's ending]",
)  # fmt: skip
@click.option(
    "--scrub", is_flag=True, help="Remove paths, host, user, arguments and environment, for sharing."
)
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
) -> None:
    """Write a run in a format that other tools read.

    RUN is the prefix of a run's id, or a label, which selects its newest run. Without it, the newest run of
    all is written. A FILE that ends in .gz is compressed.

    The profkit format contains the whole run, in JSON, which `profkit import` reads.

    Of a run with instruction counts by Python function, other formats get the Python functions.

    Of a run with mode="trace", the chrome-trace format gets the file of torch.profiler.

    With --scrub, names of files start at an import root or at the program's folder. Labels and names of
    functions stay: check them before you publish a profile.
    """
    file = None if output in (None, _STDOUT) else Path(str(output))
    chosen = name or format_of(file)
    refuse_terminal(chosen, file)
    with open_workspace(config) as workspace:
        infos = workspace.find_all(run)
        if chosen != WHOLE and len(infos) > 1:
            raise UsageError(
                f"{len(infos)} runs were measured together, and {chosen} can hold one", "give the id of one"
            )
        runs: tuple[AnyRun, ...] = tuple(workspace.load(info, trace_file=True) for info in infos)
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
