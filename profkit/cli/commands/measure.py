"""`profkit measure`: measure times and instruction counts of a statement, a function or a file of orders."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from profkit.cli.measure_options import asked_for, measuring_options
from profkit.cli.options import limit_option, rare_option
from profkit.cli.output import write_message
from profkit.cli.report_output import Showing, name_of, showing_options
from profkit.cli.workspace import MeasuredSpool, current_folder
from profkit.config import Config
from profkit.errors import MeasuringError, UsageError
from profkit.render.options import ReportOptions
from profkit.render.registry import MEASURED

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from profkit.measuring.orders import MeasureOptions
    from profkit.measuring.packed_orders import Reply
    from profkit.measuring.runner.jobs import Task

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.\w+)*")
_LONGEST_S = 86400.0
_SCHEDULER_S = 10.0
"""Time for a connection to a scheduler."""
_SCHEDULER_AGAIN_S = 60.0
"""Time for a scheduler that was lost to be started again."""


def orders_of(what: str, threads: Sequence[int] | None, options: MeasureOptions) -> tuple[Task, ...]:
    """Return the orders that `what` selects; raises `UsageError` if it selects none."""
    folder = str(current_folder())
    is_file = what.endswith(".py") and os.path.isfile(what)
    if is_file and threads is not None:
        raise UsageError(f"{what} itself sets the numbers of threads", "leave out --threads")
    if is_file or _FUNCTION.fullmatch(what):
        request = {"what": what, "is_file": is_file, "threads": threads or (1,), "folder": folder}
        found = _found({**request, "options": options})
    else:
        found = _statements(what, threads or (1,), options)
    return tuple(replace(one, order=replace(one.order, path=(folder,))) for one in found)


def _statements(what: str, threads: Sequence[int], options: MeasureOptions) -> tuple[Task, ...]:
    from profkit.measuring.orders import work_order
    from profkit.measuring.runner.jobs import Task

    variants: list[MeasureOptions] = [{**options, "num_threads": count} for count in threads]
    return tuple(Task(work_order(what, **variant)) for variant in variants)


def _found(request: dict[str, object]) -> tuple[Task, ...]:
    """Get the orders from the user's code, which runs in its own process."""
    from profkit.measuring.packed_orders import unpacked

    reply, descriptors = _asked(request)
    if "problem" in reply:
        raise UsageError(reply["problem"], reply["fix"])
    return unpacked(reply["orders"], iter(descriptors))


def _asked(request: dict[str, object]) -> tuple[Reply, list[int]]:
    from profkit.cli import orders_process
    from profkit.measuring.worker.protocol import from_file, in_file, receive_descriptors, send_descriptors
    from profkit.process.child import run_child

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, _file() as output:
        message = in_file(request)
        send_descriptors(ours, [message])
        os.close(message)
        # -P: keep the current folder and the program's folder off sys.path.
        argv = [sys.executable, "-P", orders_process.__file__]
        ended = run_child(argv, Path(output.name), _LONGEST_S, stdin=theirs.fileno())
        theirs.close()
        said = output.read().decode("utf-8", "replace")
        if said:
            write_message([said.removesuffix("\n")])
        descriptors = list(_received(ours, receive_descriptors))
    if ended.code != 0 or not descriptors:
        last = (said.strip().splitlines() or [""])[-1]
        how = f"ended with status {ended.code}" if ended.code else "ended before it defined orders"
        raise UsageError(
            f"{request['what']} {how}{f': {last}' if last else ''}", "import it in Python to see why"
        )
    return cast("Reply", from_file(descriptors[0])), descriptors[1:]


def _file() -> IO[bytes]:
    """Return a temporary file for the output of the user's code."""
    from profkit.measuring.errors import no_temporary_folder

    try:
        return tempfile.NamedTemporaryFile(prefix="profkit-")
    except OSError as error:
        raise no_temporary_folder("the output of the file", error) from error


def _received(channel: socket.socket, receive: Callable[[socket.socket], list[int]]) -> Iterator[int]:
    while group := receive(channel):
        yield from group


@contextmanager
def _executor(address: str | None) -> Iterator[Executor | None]:
    """Yield the executor of a Dask scheduler, or None for no address; raises UsageError."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        fix = "install it with `pip install 'profkit[dask]'`"
        raise UsageError(f"--dask needs distributed ({error})", fix) from error
    try:
        client = Client(address, timeout=_SCHEDULER_S)
    except (OSError, ValueError) as error:
        problem = f"there is no Dask scheduler at {address} ({error or type(error).__name__})"
        raise UsageError(problem, "give the address that `dask scheduler` prints") from error
    with client:
        client._timeout = _SCHEDULER_AGAIN_S  # Dask has one setting for both
        yield client.get_executor()


@click.command("measure")
@click.argument("what")
@measuring_options()
@rare_option(
    "--workers", type=click.IntRange(1), metavar="N", default=1,
    help="Number of orders to measure at the same time.  [default: 1]",
)  # fmt: skip
@click.option(
    "--interleaved", is_flag=True, help="Time orders interleaved in the same processes, to compare them."
)
@rare_option(
    "--dask", metavar="ADDRESS",
    help="Measure on the machines of this Dask scheduler's workers, such as tcp://HOST:8786.",
)  # fmt: skip
@click.option("--no-keep", is_flag=True, help="Do not keep the runs.")
@limit_option("Maximum number of functions shown.  [default: 15]")
@showing_options(MEASURED.formats)
@rare_option("--functions", is_flag=True, help="Include the counted functions in the JSON.")
@click.pass_obj
def measure_command(config: Config, /, what: str, **given: object) -> int:
    """Measure the time or the instruction count of code.

    WHAT is a statement such as "x + y", or MODULE:FUNCTION, or the path of a Python file that defines ORDERS.
    It is measured in separate processes. The results are shown, and kept as runs.
    """
    from profkit.measuring.api import measure_packed
    from profkit.measuring.runner.progress import ProgressLine
    from profkit.model.measurement import Design

    showing = Showing.of(given, MEASURED.formats)
    if given["functions"] and showing.format != "json":
        raise UsageError("--functions applies only to JSON", "add --format json, or leave out --functions")
    threads = cast("tuple[int, ...] | None", given["threads"])
    spool = MeasuredSpool(config.spool)
    orders = orders_of(what, threads, asked_for(given))
    with _executor(cast("str | None", given["dask"])) as executor:
        runs = measure_packed(
            orders,
            workers=cast(int, given["workers"]),
            design=Design.INTERLEAVED if given["interleaved"] else Design.SEPARATE,
            progress=ProgressLine(sys.stderr),
            keep=None if given["no_keep"] else spool.keep,
            executor=executor,
        )
    shown = ReportOptions(limit=cast("int | None", given["limit"]), functions=bool(given["functions"]))
    text = MEASURED.renderer(showing.format)(runs, shown, showing.terminal())
    showing.show(text, name_of([run.info for run in runs]))
    spool.check(len(runs))
    return MeasuringError.exit_code if any(run.info.error for run in runs) else 0
