"""`profkit measure`: how long code takes, and how many instructions it executes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from profkit.cli.measure_options import asked_for, measuring_options
from profkit.cli.measure_orders import orders_of
from profkit.cli.output import page, tell, write
from profkit.config import Config
from profkit.errors import MeasuringError, SpoolUnavailable, UsageError
from profkit.render.options import ReportOptions

if TYPE_CHECKING:
    from profkit.model.measurement import MeasuredRun


@click.command("measure")
@click.argument("what")
@measuring_options()
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", default=1, help="Measure side by side.  [default: 1]"
)
@click.option("--interleaved", is_flag=True, help="Time orders in the same processes, to compare them.")
@click.option("--no-keep", is_flag=True, help="Keep no run.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Functions shown.  [default: 15]")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for programs; without functions.")
@click.option("--functions", is_flag=True, help="JSON also lists the functions that were counted.")
@click.pass_obj
def measure_command(config: Config, /, what: str, **given: object) -> int:
    """Measure how long code takes, or its instructions.

    WHAT is a statement such as "x + y", or MODULE:FUNCTION, or the path of a Python file that defines
    ORDERS. It is measured in processes of its own. The numbers are shown, and kept as runs.
    """
    from profkit.measuring.api import measure_packed
    from profkit.measuring.runner.progress import ProgressLine
    from profkit.render.measured.registry import MEASURED_RENDERERS

    if given["functions"] and not given["as_json"]:
        raise UsageError("--functions is about --json", "add --json, or leave it out")
    threads = cast("tuple[int, ...] | None", given["threads"])
    spool = _Spool(config.spool)
    runs = measure_packed(
        orders_of(what, threads, asked_for(given)),
        workers=cast(int, given["workers"]),
        interleaved=bool(given["interleaved"]),
        progress=ProgressLine(sys.stderr),
        keep=None if given["no_keep"] else spool.keep,
    )
    shown = ReportOptions(limit=cast("int | None", given["limit"]), functions=bool(given["functions"]))
    write(MEASURED_RENDERERS["json" if given["as_json"] else "text"](runs, shown, page()))
    spool.check(len(runs))
    return MeasuringError.exit_code if any(run.info.error for run in runs) else 0


class _Spool:
    """Keeps runs as they come; what cannot be kept is an error when all have been shown."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lost = folder, 0
        self._error: OSError | None = None

    def keep(self, run: MeasuredRun) -> None:
        """Keep a run; say the first time that it cannot be done, since others may take long."""
        from profkit.store.spool_files import keep_measured

        try:
            keep_measured(self._folder, run)
        except OSError as error:
            if self._error is None:
                tell(
                    "warning",
                    f"{run.info.label!r} cannot be kept in {self._folder}: {error.strerror or error}",
                )
            self._error, self._lost = error, self._lost + 1

    def check(self, runs: int) -> None:
        """Raise `SpoolUnavailable` if runs were not kept."""
        if self._error is not None:
            reason = self._error.strerror or str(self._error)
            raise SpoolUnavailable(self._folder, f"{self._lost} of {runs} runs were not kept: {reason}")
