"""A process's place in a job of several processes: its rank or worker, and the job's name.

Launchers say it in the environment, runtimes such as Dask only by their objects.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b
from types import ModuleType
from typing import NamedTuple

from profkit.model.session import Member, ProcessInfo
from profkit.process.guard import suppressed
from profkit.process.procfs import PROC, parent, read, start_ticks

JOB, LAUNCH = "PROFKIT_JOB", "PROFKIT_LAUNCH"
_LONGEST_NAME = 120
_DIGITS = re.compile(r"\d{1,9}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT = re.compile(r".*_([^/_]+)/attempt_\d+/\d+/[^/]+")
"""File for a rank's error, whose folder torchrun makes for each of its launches."""
_OWN_HOST = re.compile(r"localhost|127\.[\d.]+|::1|")

_Environ = Mapping[str, str]
_Starter = Callable[[], str]
"""Returns a short name for the process that started this one."""


def own_member() -> Member:
    """Return this process's place, as its launcher says it, else a runtime that it has imported."""
    found = member_of(os.environ, lambda: _name_of_parent(os.getpid()))
    return found if found.rank is not None else _in_runtime(found)


def read_member(pid: int) -> Member:
    """Return the place of another process from its first environment; nothing if that may not be read."""
    entries = read(f"{PROC}/{pid}/environ").split(b"\0")
    environ = dict(os.fsdecode(entry).split("=", 1) for entry in entries if b"=" in entry)
    return member_of(environ, lambda: _name_of_parent(pid))


def updated(process: ProcessInfo) -> ProcessInfo:
    """Return this process with its place, if a runtime has given it one since; another process as it is."""
    member = process.member
    if member.rank is not None or member.worker or process.recorder:
        return process
    found = _in_runtime(member)
    return process if found == member else replace(process, member=found)


def member_of(environ: _Environ, starter: _Starter) -> Member:
    """Return the place that an environment gives; `starter` names the process that started this one."""
    given = given_job(environ)
    for launcher in _LAUNCHERS:
        rank, size = _number(environ, launcher.rank), _number(environ, launcher.size)
        if rank is None or size is None or rank >= size or launcher.is_off(environ):
            continue
        job = given or launcher.job(environ, starter)
        return Member(job[:_LONGEST_NAME], rank, _number(environ, launcher.local_rank), size)
    return Member(given)


def given_job(environ: _Environ) -> str:
    """Return the job's name that the user has set; empty if there is none."""
    return environ.get(JOB, "").strip()[:_LONGEST_NAME]


class _Launcher(NamedTuple):
    """The variables of a launcher; ranks without a number of ranks may mean anything."""

    rank: str
    local_rank: str
    size: str
    job: Callable[[_Environ, _Starter], str]
    is_off: Callable[[_Environ], bool] = lambda environ: False


def _of_torch(environ: _Environ, starter: _Starter) -> str:
    """Return a name that two jobs never share, if one agent started all ranks.

    Ids that the user gave torchrun may be used again, and `none` is the default. Several agents share nothing
    else but the step of Slurm or, without it, the address of rank 0.
    """
    run_id = environ.get("TORCHELASTIC_RUN_ID", "")
    named = "" if run_id.lower() == "none" else run_id
    if _UUID.fullmatch(named):
        return named
    address = environ.get("MASTER_ADDR", "")
    if environ.get("GROUP_WORLD_SIZE") == "1" or (not run_id and _OWN_HOST.fullmatch(address)):
        agent = _AGENT.fullmatch(environ.get("TORCHELASTIC_ERROR_FILE", ""))
        return f"{named or 'torch'}-{agent[1] if agent else starter()}"
    return _step(environ) or named or f"{address}:{environ.get('MASTER_PORT', '')}"


def _of_openmpi(environ: _Environ, starter: _Starter) -> str:
    """Return a name from the key that mpirun draws, else the namespace: a hash of its host and pid."""
    key = environ.get("OMPI_MCA_orte_precondition_transports", "")
    namespace = environ.get("PMIX_NAMESPACE") or environ.get("OMPI_MCA_ess_base_jobid")
    return f"mpi-{key.partition('-')[0]}" if key else namespace or _of_mpi(environ, starter)


def _of_mpi(environ: _Environ, starter: _Starter) -> str:
    """Return a name for a job of MPICH and its relatives, whose ranks on several hosts share no variable."""
    if environ.get("MPI_LOCALNRANKS", "") == environ.get("PMI_SIZE", ""):
        return f"mpi-{starter()}"
    shared = environ.get("PMI_JOBID") or environ.get("PMIX_NAMESPACE") or _step(environ)
    return shared or environ.get(LAUNCH) or f"mpi-{starter()}"


def _step(environ: _Environ) -> str:
    """Return the name of a step of Slurm; a batch script is none, nor is what it starts without srun."""
    job, step = environ.get("SLURM_JOB_ID", ""), environ.get("SLURM_STEP_ID", "")
    return f"{job}.{step}" if job and step else ""


def _of_slurm(environ: _Environ, _starter: _Starter) -> str:
    return _step(environ)


def _is_no_step(environ: _Environ) -> bool:
    """Return whether there is no step, or only one of a single task: a shell in which anything may run."""
    return not _step(environ) or environ.get("SLURM_STEP_NUM_TASKS") == "1"


_LAUNCHERS = (
    _Launcher("RANK", "LOCAL_RANK", "WORLD_SIZE", _of_torch),
    _Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", _of_openmpi),
    _Launcher(
        "SLURM_PROCID",
        "SLURM_LOCALID",
        "SLURM_STEP_NUM_TASKS",
        lambda environ, _: _step(environ),
        _is_no_step,
    ),
    _Launcher("PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", _of_mpi),
)
"""Those first that the others start: a rank of torchrun may be below a task of Slurm."""


def _number(environ: _Environ, name: str) -> int | None:
    text = environ.get(name, "").strip()
    return int(text) if _DIGITS.fullmatch(text) else None


def _name_of_parent(pid: int) -> str:
    starter = parent(pid) or 0
    facts = f"{os.uname().nodename} {starter} {start_ticks(starter)}"
    return blake2b(facts.encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()


def _in_runtime(known: Member) -> Member:
    """Return the place that a runtime gives this process, with the job's name if that is known."""
    for name, place_in in _RUNTIMES.items():
        module = sys.modules.get(name)
        # A runtime that is only half imported, or of another version, gives no place.
        with suppressed(Exception):
            for found in place_in(module) if module is not None else ():
                job = given_job(os.environ) or found.job or known.job
                return replace(found, job=job[:_LONGEST_NAME])
    return known


def _in_process_group(distributed: ModuleType) -> Iterator[Member]:
    if distributed.is_initialized():
        rank, size = distributed.get_rank(), distributed.get_world_size()
        job = _of_torch({"GROUP_WORLD_SIZE": "1"} | os.environ, lambda: _name_of_parent(os.getpid()))
        yield Member(job, rank, _number(os.environ, "LOCAL_RANK"), size)


def _in_dask(worker: ModuleType) -> Iterator[Member]:
    """Yield the worker of this process, if there is one: threads of a local cluster may be several."""
    found = list(worker.Worker._instances)
    if len(found) == 1:
        yield Member(str(found[0].scheduler.address), worker=str(found[0].name))


def _in_ray(ray: ModuleType) -> Iterator[Member]:
    """Yield the actor or worker of this process; its driver is none."""
    if ray.is_initialized() and ray._private.worker.global_worker.mode == ray.WORKER_MODE:
        context = ray.get_runtime_context()
        job = f"{context.gcs_address} {context.get_job_id()}"
        yield Member(job, worker=context.get_actor_id() or context.get_worker_id())


_RUNTIMES: Mapping[str, Callable[[ModuleType], Iterator[Member]]] = {
    "torch.distributed": _in_process_group,
    "distributed.worker": _in_dask,
    "ray": _in_ray,
}
