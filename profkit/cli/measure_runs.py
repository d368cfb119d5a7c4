"""`profkit measure`: how long code takes, and how many instructions it executes."""

from __future__ import annotations

import sys
from typing import cast

import click

from profkit.cli.measure_options import asked_for, measuring_options
from profkit.cli.measure_orders import orders_of
from profkit.cli.output import page, write
from profkit.config import Config
from profkit.errors import MeasuringError
from profkit.render.options import ReportOptions


@click.command("measure")
@click.argument("what")
@measuring_options()
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", default=1, help="Measure side by side.  [default: 1]"
)
@click.option("--interleaved", is_flag=True, help="Time orders in the same processes, to compare them.")
@click.option("--no-keep", is_flag=True, help="Keep no run.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Functions shown.  [default: 15]")
@click.option("--json", "as_json", is_flag=True, help="As JSON, as `profkit report --json` shows it.")
@click.pass_obj
def measure_command(config: Config, /, what: str, **given: object) -> int:
    """Measure how long code takes, or its instructions.

    WHAT is a statement such as "x + y", or MODULE:FUNCTION, or the path of a Python file that defines
    ORDERS. It is measured in processes of its own. The numbers are shown, and kept as runs.
    """
    from profkit.measuring.front import measure_packed
    from profkit.measuring.runner.progress import ProgressLine
    from profkit.render.measured.registry import MEASURED_RENDERERS

    threads = cast("tuple[int, ...] | None", given["threads"])
    runs = measure_packed(
        orders_of(what, threads, asked_for(given)),
        workers=cast(int, given["workers"]),
        interleaved=bool(given["interleaved"]),
        progress=ProgressLine(sys.stderr),
        keep=not given["no_keep"],
        spool=config.spool,
    )
    shown = ReportOptions(limit=cast("int | None", given["limit"]))
    write(MEASURED_RENDERERS["json" if given["as_json"] else "text"](runs, shown, page()))
    return MeasuringError.exit_code if any(run.info.error for run in runs) else 0
