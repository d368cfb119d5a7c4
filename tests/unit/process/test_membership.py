"""Places in jobs, from environments as launchers make them, and from runtimes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.session import Member, ProcessInfo
from profkit.process.membership import member_of, own_member, read_member, updated
from tests.support.example_runs import PROCESS

AGENT = "/tmp/torchelastic_pg/{run}_bkwxxgw5/attempt_{attempt}/1/error.json"
UUID = "dc6a9228-8481-452d-b605-e59b455aa1d3"
VARIABLES = (
    "PROFKIT_JOB", "PROFKIT_LAUNCH", "RANK", "LOCAL_RANK", "WORLD_SIZE", "GROUP_WORLD_SIZE",
    "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_ERROR_FILE", "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE", "SLURM_JOB_ID", "SLURM_STEP_ID",
    "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS",
)  # fmt: skip


def torchrun(run: str, *, agents: int = 1, attempt: int = 0) -> dict[str, str]:
    return {
        "RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "GROUP_RANK": "0", "GROUP_WORLD_SIZE": str(agents),
        "MASTER_ADDR": "node-1", "MASTER_PORT": "29500",
        "TORCHELASTIC_RUN_ID": run, "TORCHELASTIC_ERROR_FILE": AGENT.format(run=run, attempt=attempt),
    }  # fmt: skip


MPIRUN = {
    "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_MCA_ess_base_jobid": "738197505", "PMIX_NAMESPACE": "738197505", "PMIX_RANK": "1",
}  # fmt: skip
KEY = {"OMPI_MCA_orte_precondition_transports": "b2f5d4be6790fec9-36cf48c22147e3d1"}
SRUN = {
    "SLURM_JOB_ID": "871", "SLURM_STEP_ID": "2", "SLURM_PROCID": "3", "SLURM_LOCALID": "1",
    "SLURM_NTASKS": "8", "SLURM_STEP_NUM_TASKS": "4",
}  # fmt: skip
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
MPICH_OF_TWO_HOSTS = MPICH | {"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "1"}
BY_HAND = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "12355"}
KNOWN = {
    "torchrun draws an id": (torchrun(UUID), Member(UUID, 1, 1, 4)),
    "torchrun without an id": (torchrun("none"), Member("torch-bkwxxgw5", 1, 1, 4)),
    "torchrun restarts its ranks": (torchrun("none", attempt=3), Member("torch-bkwxxgw5", 1, 1, 4)),
    "an id that may be used again": (torchrun("100"), Member("100-bkwxxgw5", 1, 1, 4)),
    "several agents with an id": (torchrun("100", agents=2), Member("100", 1, 1, 4)),
    "several agents without an id": (torchrun("none", agents=2), Member("node-1:29500", 1, 1, 4)),
    "several agents below srun": (torchrun("none", agents=2) | SRUN, Member("871.2", 1, 1, 4)),
    "ranks of a program's own": (BY_HAND, Member("torch-starter", 0, None, 2)),
    "ranks of a cluster's": (BY_HAND | {"MASTER_ADDR": "job-7-0"}, Member("job-7-0:12355", 0, None, 2)),
    "Open MPI": (MPIRUN | KEY, Member("mpi-b2f5d4be6790fec9", 1, 0, 2)),
    "Open MPI without a key": (MPIRUN, Member("738197505", 1, 0, 2)),
    "Open MPI below srun": (MPIRUN | KEY | SRUN, Member("mpi-b2f5d4be6790fec9", 1, 0, 2)),
    "Slurm": (SRUN, Member("871.2", 3, 1, 4)),
    "Slurm with PMI": (SRUN | {"PMI_RANK": "3", "PMI_SIZE": "4"}, Member("871.2", 3, 1, 4)),
    "a shell below srun": (SRUN | {"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0"}, Member()),
    "a batch script": ({"SLURM_JOB_ID": "871", "SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, Member()),
    "MPICH": (MPICH, Member("mpi-starter", 1, 1, 2)),
    "MPICH on two hosts": (MPICH_OF_TWO_HOSTS | {"PROFKIT_LAUNCH": "ab12"}, Member("ab12", 1, 0, 2)),
    "a rank without a number of ranks": ({"RANK": "7"}, Member()),
    "a rank beyond the number of ranks": ({"RANK": "7", "WORLD_SIZE": "4"}, Member()),
    "a rank that is no number": ({"RANK": "colonel", "WORLD_SIZE": "4"}, Member()),
    "a name alone": ({"PROFKIT_JOB": " nightly "}, Member("nightly")),
    "a name for ranks": (SRUN | {"PROFKIT_JOB": "nightly"}, Member("nightly", 3, 1, 4)),
    "one program of profkit run": ({"PROFKIT_LAUNCH": "ab12"}, Member()),
}


@pytest.mark.parametrize(("environ", "place"), KNOWN.values(), ids=KNOWN)
def test_what_launchers_say(environ: dict[str, str], place: Member) -> None:
    assert member_of(environ, lambda: "starter") == place


@given(st.dictionaries(st.sampled_from(VARIABLES), st.one_of(st.text(max_size=200), st.integers().map(str))))
def test_any_environment_has_a_valid_place(environ: dict[str, str]) -> None:
    place = member_of(environ, lambda: "starter")
    assert len(place.job) <= 120
    if place.rank is not None:
        assert place.world_size is not None
        assert 0 <= place.rank < place.world_size


def test_another_process() -> None:
    """It is read from its own first environment, not from this one."""
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(
        command, env=BY_HAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        place = read_member(program.pid)
        same = read_member(program.pid)
        program.communicate("\n")
    assert (place.rank, place.world_size) == (0, 2)
    assert place.job.startswith("torch-")
    assert same == place
    assert read_member(program.pid) == Member()  # it has ended


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Leave no launcher's variables and no runtime in this process."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("torch.distributed", "distributed.worker", "ray"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return monkeypatch


def module(**contents: object) -> ModuleType:
    found = ModuleType("runtime")
    vars(found).update(contents)
    return found


def process_group(rank: int) -> ModuleType:
    return module(is_initialized=lambda: True, get_rank=lambda: rank, get_world_size=lambda: 4)


def test_a_process_group_that_began_later(bare: pytest.MonkeyPatch) -> None:
    assert own_member() == Member()
    assert updated(PROCESS) is PROCESS
    bare.setitem(sys.modules, "torch.distributed", process_group(2))
    member = updated(PROCESS).member
    assert (member.rank, member.world_size) == (2, 4)
    assert member.job.startswith("torch-")
    placed = replace(PROCESS, member=member)
    bare.setitem(sys.modules, "torch.distributed", process_group(3))
    assert updated(placed) is placed
    bare.setenv("PROFKIT_JOB", "nightly")
    assert own_member() == Member("nightly", 3, None, 4)


def test_the_process_of_an_attached_session_is_another_one(bare: pytest.MonkeyPatch) -> None:
    bare.setitem(sys.modules, "torch.distributed", process_group(2))
    other: ProcessInfo = replace(PROCESS, recorder=(1, 2))
    assert updated(other) is other


def dask_worker(name: object) -> SimpleNamespace:
    return SimpleNamespace(name=name, scheduler=SimpleNamespace(address="tcp://10.0.0.1:8786"))


def test_a_worker_of_dask(bare: pytest.MonkeyPatch) -> None:
    workers = [dask_worker(3)]
    bare.setitem(sys.modules, "distributed.worker", module(Worker=SimpleNamespace(_instances=workers)))
    assert own_member() == Member("tcp://10.0.0.1:8786", worker="3")
    workers.append(dask_worker(4))  # threads of a local cluster
    assert own_member() == Member()


def ray(mode: int, actor: str | None) -> ModuleType:
    context = SimpleNamespace(
        gcs_address="10.0.0.1:6379", get_job_id=lambda: "01000000", get_actor_id=lambda: actor,
        get_worker_id=lambda: "200a296a",
    )  # fmt: skip
    worker = SimpleNamespace(global_worker=SimpleNamespace(mode=mode))
    return module(
        is_initialized=lambda: True, WORKER_MODE=1, get_runtime_context=lambda: context,
        _private=SimpleNamespace(worker=worker),
    )  # fmt: skip


def test_a_worker_of_ray(bare: pytest.MonkeyPatch) -> None:
    bare.setitem(sys.modules, "ray", ray(1, None))
    assert own_member() == Member("10.0.0.1:6379 01000000", worker="200a296a")
    bare.setitem(sys.modules, "ray", ray(1, "97f1"))
    assert own_member().worker == "97f1"
    bare.setitem(sys.modules, "ray", ray(0, None))  # the driver
    assert own_member() == Member()


def test_a_runtime_that_is_half_imported(bare: pytest.MonkeyPatch) -> None:
    for name in ("torch.distributed", "distributed.worker", "ray"):
        bare.setitem(sys.modules, name, module())
    assert own_member() == Member()
