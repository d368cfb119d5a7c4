"""Calls of any function in clean worker processes, forked by warm zygotes.

options.py    checked keyword arguments of calls → zygote and surroundings
future.py     future of a call; cancelling it ends the worker
dispatch.py   queue of calls with a bounded number running; their zygotes, reused and retired
calls.py      submit, call, acall, warm_pool, and an executor of concurrent.futures
"""

from profkit.errors import MeasuringError, WorkerDied, WorkerError, WorkerFailed, WorkerTimeout, ZygoteFailed
from profkit.isolated.calls import Executor, acall, call, submit, warm_pool
from profkit.isolated.future import CallFuture
from profkit.isolated.options import CallOptions, WorkerOptions
from profkit.measuring.api import wait
from profkit.measuring.errors import CannotReturn, MemoryExceeded, PythonTooOld, ResultUnreadable

__all__ = [
    "CallFuture",
    "CallOptions",
    "CannotReturn",
    "Executor",
    "MeasuringError",
    "MemoryExceeded",
    "PythonTooOld",
    "ResultUnreadable",
    "WorkerDied",
    "WorkerError",
    "WorkerFailed",
    "WorkerOptions",
    "WorkerTimeout",
    "ZygoteFailed",
    "acall",
    "call",
    "submit",
    "wait",
    "warm_pool",
]
