"""`profkit measure`: how long code takes, and how many instructions it executes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import click

from profkit.cli.measure_orders import orders_of
from profkit.cli.output import page, write
from profkit.config import Config
from profkit.errors import MeasuringError
from profkit.render.options import ReportOptions
from profkit.units import parse_bytes, parse_duration

if TYPE_CHECKING:
    from profkit.measuring.orders import MeasureOptions

_T = TypeVar("_T")
_MODES = ("timer", "callgrind", "timer+callgrind")
_LANGUAGES = ("python", "c++")
_LEVELS = ("function", "module")


def _read_by(parse: Callable[[str], _T]) -> Callable[[click.Context, click.Parameter, str | None], _T | None]:
    def convert(_context: click.Context, _option: click.Parameter, value: str | None) -> _T | None:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return convert


def _counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise ValueError(f"{text!r} is not a list of numbers such as 1,2,4") from None


def _words(text: str) -> tuple[str, ...]:
    return tuple(part for part in (word.strip() for word in text.split(",")) if part)


def _pairs(text: Sequence[str]) -> dict[str, str]:
    pairs = [item.partition("=") for item in text]
    for item, (name, equals, _) in zip(text, pairs, strict=True):
        if not name or not equals:
            raise click.BadParameter(f"{item!r} is not NAME=VALUE", param_hint="--env")
    return {name: value for name, _, value in pairs}


@click.command("measure")
@click.argument("what")
@click.option("--setup", multiple=True, metavar="CODE", help="Runs once in each process; may be repeated.")
@click.option("--global-setup", multiple=True, metavar="CODE", help="At module level; in C++ at file scope.")
@click.option("--mode", type=click.Choice(_MODES), help="What to measure.  [default: timer]")
@click.option("--threads", callback=_read_by(_counts), metavar="N,N", help="An order for each.  [default: 1]")
@click.option("--language", type=click.Choice(_LANGUAGES), help="Of the statement.  [default: python]")
@click.option("--level", type=click.Choice(_LEVELS), help="Where its names live.  [default: function]")
@click.option("--label", metavar="LABEL", help="What to call it.  [default: the statement]")
@click.option("--quick", is_flag=True, help="One zygote, few processes: good for comparisons only.")
@click.option("--number", type=click.IntRange(1), metavar="N", help="Executions in a block.")
@click.option("--repeats", type=click.IntRange(1), metavar="N", help="Callgrind's blocks.  [default: 2]")
@click.option("--runs", type=click.IntRange(1), metavar="N", help="At most so many executions in all.")
@click.option("--min-run-time", callback=_read_by(parse_duration), metavar="TIME", help="At least so long.")
@click.option(
    "--timeout", callback=_read_by(parse_duration), metavar="TIME", help="Of a process.  [default: 10min]"
)
@click.option("--retries", type=click.IntRange(0), metavar="N", help="After a time-out.  [default: 2]")
@click.option("--python", type=click.Path(), metavar="PATH", help="The interpreter that measures.")
@click.option("--source-cmd", metavar="WORDS", help="Puts Python into another environment.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="Environment variable; may be repeated.")
@click.option("--imports", callback=_read_by(_words), metavar="NAMES", help="Ahead: torch, numpy or ''.")
@click.option(
    "--simulate", callback=_read_by(_words), metavar="WHAT", help="cache, branch: estimates cycles."
)
@click.option("--memory-limit", callback=_read_by(parse_bytes), metavar="SIZE", help="Of a process: 2GiB.")
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
    from profkit.measuring.front import measure_all
    from profkit.measuring.runner.progress import ProgressLine
    from profkit.render.measured import MEASURED_RENDERERS

    threads = cast("tuple[int, ...] | None", given["threads"])
    runs = measure_all(
        orders_of(what, threads, _options(given)),
        workers=cast(int, given["workers"]),
        interleaved=bool(given["interleaved"]),
        progress=ProgressLine(sys.stderr),
        keep=not given["no_keep"],
        spool=config.spool,
    )
    shown = ReportOptions(limit=cast("int | None", given["limit"]))
    write(MEASURED_RENDERERS["json" if given["as_json"] else "text"](runs, shown, page()))
    return MeasuringError.exit_code if any(run.info.error for run in runs) else 0


_NAMES = {
    "mode": "mode", "language": "language", "level": "level", "label": "label", "number": "number",
    "repeats": "repeats", "runs": "runs", "min_run_time": "min_run_time_s", "timeout": "timeout_s",
    "retries": "retries", "python": "python", "source_cmd": "source_cmd", "imports": "imports",
    "simulate": "simulate", "memory_limit": "memory_limit_bytes",
}  # fmt: skip
"""Options of the command line by their names in `measure`."""


def _options(given: dict[str, object]) -> MeasureOptions:
    """Only what was asked for: what is left out is chosen where orders are made."""
    asked = {ours: given[name] for name, ours in _NAMES.items() if given[name] is not None}
    for name in ("setup", "global_setup"):
        if lines := cast("Sequence[str]", given[name]):
            asked[name] = "\n".join(lines)
    if pairs := _pairs(cast("Sequence[str]", given["env"])):
        asked["env"] = pairs
    if given["quick"]:
        asked["quick"] = True
    return cast("MeasureOptions", asked)
