"""A rank of MPI: work of its own, then an allreduce."""

from __future__ import annotations

from colours import green, red
from mpi4py import MPI


def main() -> None:
    rank = MPI.COMM_WORLD.rank
    (red if rank == 0 else green)(0.5)
    print(f"rank {rank}: {MPI.COMM_WORLD.allreduce(rank)}", flush=True)


if __name__ == "__main__":
    main()
