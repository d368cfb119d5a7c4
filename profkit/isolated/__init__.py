"""Calls of any function in clean worker processes that warm zygotes fork.

options.py    keyword arguments of calls, checked → which zygote, which surroundings
future.py     the future of a call; cancelling it ends the worker
dispatch.py   calls that wait, and those that run, at most so many at once
slots.py      the zygotes of calls: lent, kept for the next call, retired
calls.py      submit, call, acall, warm_pool
executor.py   the same as an executor of concurrent.futures
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
