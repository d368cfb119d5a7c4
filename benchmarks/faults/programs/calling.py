"""Call functions in isolated workers, one of which misbehaves: `calling.py LOG VARIANT`."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from benchmarks.faults.programs.owned import OwnLog
from profkit import isolated
from profkit.isolated import CallFuture, MemoryExceeded, WorkerDied, WorkerTimeout

_TIMEOUT_S = 20.0
_HANGING_TIMEOUT_S = 2.0
"""Timeout of a call that never ends; it shares zygotes with the others."""
_LIMIT_BYTES = 192 << 20
_WAIT_S = 100.0
_GOOD = 12


def square(number: int) -> int:
    """Take a moment, so that there is something to disturb."""
    time.sleep(0.02)
    return number * number


def crash() -> None:
    """End by a segmentation fault."""
    ctypes.string_at(0)


def abort() -> None:
    """End by SIGABRT."""
    os.abort()


def leave() -> None:
    """End without a reply."""
    os._exit(0)


def hang() -> None:
    """Never end, with all signals blocked."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


def fill() -> None:
    """Fill the memory."""
    held = []
    while True:
        held.append(b"x" * (1 << 22))


def recur(held: object = None) -> None:
    """Recurse without end."""
    sys.setrecursionlimit(1 << 30)
    recur([held, bytes(1 << 16)])


def flood() -> None:
    """Print without end."""
    line = b"flood " * 1000
    while True:
        os.write(1, line)


def start_daemons() -> None:
    """Leave processes that continue in their own sessions, and crash."""
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
    time.sleep(0.05)
    os.abort()


def close_all() -> None:
    """Close every descriptor."""
    os.closerange(0, 1 << 16)


def stop() -> None:
    """Stop this worker."""
    os.kill(os.getpid(), signal.SIGSTOP)


def _signal_above(generations: int, number: int) -> None:
    pid = os.getpid()
    for _ in range(generations):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            pid = int(file.read().rpartition(")")[2].split()[1])
    os.kill(pid, number)
    time.sleep(600)


def kill_zygote() -> None:
    """Kill this worker's zygote."""
    _signal_above(1, signal.SIGKILL)


def stop_zygote() -> None:
    """Stop this worker's zygote."""
    _signal_above(1, signal.SIGSTOP)


def kill_supervisor() -> None:
    """Kill the supervisor, and leave a daemon."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    _signal_above(2, signal.SIGKILL)


def stop_supervisor() -> None:
    """Stop the supervisor."""
    _signal_above(2, signal.SIGSTOP)


BAD: dict[str, tuple[Callable[[], None], tuple[type[BaseException], ...]]] = {
    "crash": (crash, (WorkerDied,)),
    "hang": (hang, (WorkerTimeout,)),
    "fill": (fill, (MemoryExceeded,)),
    "flood": (flood, (WorkerTimeout,)),
    "kill-zygote": (kill_zygote, (WorkerDied,)),
    "stop-zygote": (stop_zygote, (WorkerDied,)),
    "kill-supervisor": (kill_supervisor, (WorkerDied,)),
    "stop-supervisor": (stop_supervisor, (WorkerDied,)),
    "abort": (abort, (WorkerDied,)),
    "leave": (leave, (WorkerDied,)),
    "recur": (recur, (MemoryExceeded, WorkerDied)),
    "daemons": (start_daemons, (WorkerDied,)),
    "close": (close_all, (WorkerDied,)),
    "stop": (stop, (WorkerDied, WorkerTimeout)),
    "cancel": (hang, (concurrent.futures.CancelledError,)),
    "cancel-task": (hang, (concurrent.futures.CancelledError,)),
}
"""Action of a call, and the errors that its future may raise."""
Futures = concurrent.futures.Future[object]
DISTURBED = "disturbed"
"""All calls are normal; the campaign signals the processes."""


def main() -> None:
    """Make the calls, and log how each future ended."""
    log, variant = OwnLog(sys.argv[1]), sys.argv[2]
    function, allowed = BAD.get(variant, (None, ()))
    with (
        isolated.Executor(2, timeout_s=_TIMEOUT_S, memory_limit_bytes=_LIMIT_BYTES) as executor,
        isolated.Executor(1, timeout_s=_HANGING_TIMEOUT_S, memory_limit_bytes=_LIMIT_BYTES) as impatient,
    ):
        log.write("begun")
        good: dict[Futures, int] = {executor.submit(square, number): number for number in range(_GOOD)}
        chosen = impatient if WorkerTimeout in allowed else executor
        bad: list[CallFuture[object]] = [] if function is None else [chosen.submit(function)]
        good |= {executor.submit(square, number): number for number in range(_GOOD, 2 * _GOOD)}
        if variant.startswith("cancel"):
            _cancel(bad[0], in_task=variant == "cancel-task")
        done, late = concurrent.futures.wait([*good, *bad], _WAIT_S)
        for _ in late:
            log.write("lost")
        may_die = (WorkerDied, WorkerTimeout) if variant == DISTURBED else ()
        for future in done:
            expected = good.get(future)
            log.write(*_verdict(future, expected, allowed if expected is None else may_die))
        if late:
            os._exit(3)
    print("done")


def _cancel(future: CallFuture[object], *, in_task: bool) -> None:
    while not future.running():
        time.sleep(0.001)
    if not in_task:
        future.cancel()
        return

    async def wait() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(future, 0.1)

    asyncio.run(wait())


def _verdict(
    future: Futures, expected: int | None, allowed: tuple[type[BaseException], ...]
) -> tuple[str, str]:
    try:
        result = future.result(0)
    except BaseException as error:  # noqa: BLE001 - reported in the result
        said = f"{type(error).__name__}: {error!s:.200}".partition("\n")[0]
        return "settled" if isinstance(error, allowed) else "wrong", said
    return "settled" if expected is not None and result == expected**2 else "wrong", repr(result)


if __name__ == "__main__":
    main()
