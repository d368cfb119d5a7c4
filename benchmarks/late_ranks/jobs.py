"""Jobs of four ranks, forked from one process that has imported torch, and recorded under a label each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path

import torch
import torch._dynamo  # optimizers import it
import torch.distributed as dist

from benchmarks.late_ranks.programs import PROGRAMS, Training

RANKS = 4
ENGINES = ("ddp", "fsdp")
_RATE_HZ = 50.0


@dataclass(frozen=True)
class Job:
    """A program, and the rank that is late in it, if any."""

    program: str
    engine: str
    late: int | None
    repetition: int

    @property
    def label(self) -> str:
        """Return the name of its recording."""
        late = "none" if self.late is None else self.late
        return f"{self.program.replace('/', '')}-{self.engine}-{late}-{self.repetition}"


def jobs(late: int, even: int) -> Iterator[Job]:
    """Yield so many jobs with a late rank, and without one, alternating while there are both."""
    kinds = list(islice(cycle((program, engine) for engine in ENGINES for program in PROGRAMS), late + even))
    for number in range(max(late, even)):
        program, engine = kinds[number]
        if number < late:
            yield Job(program, engine, (number * 3 + number // RANKS) % RANKS, number)
        if number < even:
            yield Job(program, engine, None, number)


def record(job: Job, folder: Path, seconds: float) -> None:
    """Run a job to its end in a new folder; raise RuntimeError if a rank fails."""
    folder.mkdir(parents=True)
    context = get_context("fork")
    ranks = [context.Process(target=_run_rank, args=(job, rank, folder, seconds)) for rank in range(RANKS)]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    failed = [rank for rank, process in enumerate(ranks) if process.exitcode]
    if failed:
        raise RuntimeError(f"ranks {failed} of {job.label} failed")


def _run_rank(job: Job, rank: int, folder: Path, seconds: float) -> None:
    os.environ |= {
        "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS), "PROFKIT_JOB": job.label,
        "PROFKIT_SPOOL": str(folder / "spool"),
    }  # fmt: skip
    from profkit import profile  # reads its settings when it is imported

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=RANKS)
    training = Training(job.engine, rank == job.late, seconds)
    has_children = job.program == "workers"
    profile(PROGRAMS[job.program].train, label=job.label, rate=_RATE_HZ, subprocesses=has_children)(training)
    dist.destroy_process_group()
