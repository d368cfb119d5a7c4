"""Ranks of MPI that exchange values in each step; the rank in the first argument is slow."""

from __future__ import annotations

import sys
import time

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def slow_share(seconds: float) -> None:
    """Work for so much time of the processor."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(200))


def exchange(values: np.ndarray) -> float:
    """Wait for all ranks in three ways."""
    sums = np.empty_like(values)
    comm.Allreduce(values, sums, op=MPI.SUM)
    comm.Barrier()
    return comm.bcast(sums[0], root=0)


def main() -> None:
    """Exchange values for some seconds."""
    late, end = int(sys.argv[1]), time.perf_counter() + float(sys.argv[2])
    while comm.bcast(time.perf_counter() < end):
        slow_share(0.1 if comm.rank == late else 0.005)
        exchange(np.ones(1000))


if __name__ == "__main__":
    main()
