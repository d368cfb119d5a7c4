"""Zygotes under Valgrind, and with torch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.errors import ToolMissing, WorkerDied, ZygoteFailed
from profkit.measuring.pool.jobs import Job, Reply
from profkit.measuring.pool.pool import Pool
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import Simulation
from tests.integration.pool_jobs import job, kind

STMT = "[str(i) for i in range(50)]"


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Pool]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = Pool()
    yield made
    made.close()
    assert not os.listdir(tmp_path)


def counting(stmt: str) -> Job:
    return job(stmt, mode="callgrind", number=[10], warm=20, runs=None)


def raw(reply: Reply) -> tuple[int, ...]:
    return tuple(dump.parsed.instructions for dump in reply.dumps.values())


@pytest.mark.valgrind
@pytest.mark.full
def test_counts_are_equal_in_all_forks_of_all_zygotes(pool: Pool, tmp_path: Path) -> None:
    kinds = [kind(tool=Tool.VALGRIND, draw=name) for name in "abc"]
    replies = []
    for each in kinds:
        replies += [pool.submit(each, counting(STMT)).result(120) for _ in range(3)]
        assert not list(tmp_path.glob("*/cg.*"))
        pool.retire([each])
    assert len({reply.zygote.serial for reply in replies}) == 3
    counts = {raw(reply) for reply in replies}
    assert len(counts) == 1
    assert len(counts.pop()) == 3  # two repeats and the baseline


@pytest.mark.valgrind
@pytest.mark.slow
def test_a_job_under_valgrind_crashes_by_itself(pool: Pool, tmp_path: Path) -> None:
    simulating = kind(tool=Tool.VALGRIND, simulate=(Simulation.BRANCH,))
    crash = pool.submit(simulating, counting("import ctypes; ctypes.string_at(0)"))
    with pytest.raises(WorkerDied, match="was ended by SIGSEGV"):
        crash.result(120)
    assert not list(tmp_path.glob("*/cg.*"))
    reply = pool.submit(simulating, counting("pass")).result(60)
    assert reply.zygote.serial == 1
    assert all(dump.parsed.events[:3] == ("Ir", "Bc", "Bcm") for dump in reply.dumps.values())


def test_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nothing/here")
    pool = Pool()
    with pytest.raises(ZygoteFailed, match="No such file or directory: '/nothing/here"):
        pool.submit(kind(tool=Tool.VALGRIND), counting("pass")).result(60)
    pool.close()


def test_without_valgrind(pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nothing")
    with pytest.raises(ToolMissing, match="apt-get install valgrind"):
        pool.submit(kind(tool=Tool.VALGRIND), counting("pass")).result(60)


@pytest.mark.torch
@pytest.mark.slow
def test_torch_is_there_before_the_job(pool: Pool) -> None:
    torch_kind = kind(preload=Preload.TORCH)
    parallel = "torch.set_num_threads(2); print('torch' in sys.modules, torch.rand(300_000).sum() > 0)"
    for _ in range(2):
        reply = pool.submit(torch_kind, job(parallel, setup="import sys, torch", timeout_s=60)).result(120)
        assert reply.output == "True tensor(True)\n"
    assert [name for name, _ in reply.zygote.packages] == ["torch"]
