"""What `profkit measure` is asked to measure: a statement, a function by its name, or a file of orders.

Statements are text. Functions and files are code of the user, which runs in processes of its own: one that
finds the orders, and the workers that measure them.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from profkit.cli.here import current_folder
from profkit.errors import UsageError

if TYPE_CHECKING:
    from profkit.cli.packed_orders import Reply
    from profkit.measuring.api import PackedOrder
    from profkit.measuring.orders import MeasureOptions

_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.\w+)*:[A-Za-z_]\w*(\.\w+)*")
_PROGRAM = Path(__file__).with_name("orders_process.py")
_LONGEST_S = 86400.0


def orders_of(what: str, threads: Sequence[int] | None, options: MeasureOptions) -> tuple[PackedOrder, ...]:
    """Return the orders that `what` means; raises `UsageError` if it means none."""
    folder = str(current_folder())
    is_file = what.endswith(".py") and os.path.isfile(what)
    if is_file and threads is not None:
        raise UsageError(f"{what} says itself how many threads", "leave out --threads")
    if is_file or _FUNCTION.fullmatch(what):
        request = {"what": what, "is_file": is_file, "threads": threads or (1,), "folder": folder}
        found = _found({**request, "options": options})
    else:
        found = _statements(what, threads or (1,), options)
    return tuple(replace(one, order=replace(one.order, path=(folder,))) for one in found)


def _statements(what: str, threads: Sequence[int], options: MeasureOptions) -> tuple[PackedOrder, ...]:
    from profkit.measuring.api import PackedOrder
    from profkit.measuring.orders import work_order

    variants: list[MeasureOptions] = [{**options, "num_threads": count} for count in threads]
    return tuple(PackedOrder(work_order(what, **variant)) for variant in variants)


def _found(request: dict[str, object]) -> tuple[PackedOrder, ...]:
    """Have the user's code say its orders, in a process of its own."""
    from profkit.cli.packed_orders import unpacked

    reply, descriptors = _asked(request)
    if "problem" in reply:
        raise UsageError(reply["problem"], reply["remedy"])
    return unpacked(reply["orders"], iter(descriptors))


def _asked(request: dict[str, object]) -> tuple[Reply, list[int]]:
    from profkit.measuring.worker.protocol import from_file, hand, handed, in_file
    from profkit.process.child import run_child

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, _file() as output:
        message = in_file(request)
        hand(ours, [message])
        os.close(message)
        # -P: no folder of the command's or of the program's file comes first on sys.path.
        argv = [sys.executable, "-P", str(_PROGRAM)]
        ended = run_child(argv, Path(output.name), _LONGEST_S, stdin=theirs.fileno())
        theirs.close()
        sys.stderr.write(said := output.read().decode("utf-8", "replace"))
        descriptors = list(_received(ours, handed))
    if ended.code != 0 or not descriptors:
        last = (said.strip().splitlines() or [""])[-1]
        how = f"ended with status {ended.code}" if ended.code else "ended before its orders were known"
        raise UsageError(
            f"{request['what']} {how}{f': {last}' if last else ''}", "import it in a Python to see why"
        )
    return cast("Reply", from_file(descriptors[0])), descriptors[1:]


def _file() -> IO[bytes]:
    """Return a file for what the user's code prints."""
    from profkit.measuring.errors import no_temporary_folder

    try:
        return tempfile.NamedTemporaryFile(prefix="profkit-")
    except OSError as error:
        raise no_temporary_folder("what the file prints", error) from error


def _received(channel: socket.socket, handed: Callable[[socket.socket], list[int]]) -> Iterator[int]:
    while group := handed(channel):
        yield from group
