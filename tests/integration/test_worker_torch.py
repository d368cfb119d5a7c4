"""Statements of torch, timed by torch's clock."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.utils import benchmark

from profkit.measuring.worker.child import perform
from profkit.measuring.worker.source import trace_of
from profkit.measuring.worker.timing import clock, clock_of_library
from tests.support.worker_jobs import case, performed, timer_job

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_statements_and_setups_have_the_threads_that_were_requested(num_threads: int):
    setup = "threads = [torch.get_num_threads()]"
    stmt = "threads.append(torch.get_num_threads()); assert set(threads) == {%d}, threads"
    [answer] = perform(timer_job(case(stmt % num_threads, setup, "import torch"), num_threads=num_threads))[
        "cases"
    ]
    assert len(answer["times_s"]) == 3
    assert answer["cpu_s"] > 0


def test_the_setup_runs_once_however_many_blocks_there_are():
    setup = "import torch; made.append(torch.ones(3))"
    stmt = "assert len(made) == 1"
    [answer] = perform(timer_job(case(stmt, setup, "made = []"), blocks=25))["cases"]
    assert len(answer["times_s"]) == 25


def test_times_are_those_of_torch_by_itself():
    setup = "x, y = torch.ones(2**14), torch.ones(2**14)"
    job = timer_job(case("x + y", setup, "import torch"), blocks=20, block_s=0.002)
    [answer] = perform(job)["cases"]
    own = benchmark.Timer("x + y", setup)
    assert 0.5 < min(answer["times_s"]) / min(own.timeit(answer["number"]).mean for _ in range(20)) < 2


def test_tracebacks_leave_torchs_timer_out():
    setup = "x = torch.ones(3)\ndef f(i):\n    return x[i]"
    with pytest.raises(IndexError) as caught:
        perform(timer_job(case("f(7)", setup, "import torch")))
    text = trace_of(caught.value)
    assert text.startswith(
        'Traceback (most recent call last):\n  File "<stmt>", line 1, in <module>\n    f(7)\n'
    )
    assert '  File "<setup>", line 3, in f\n    return x[i]\n' in text
    assert text.count("File ") == 2


def test_torch_is_loaded_by_statements_that_use_it_alone():
    report = (
        "raise RuntimeError([name for name in ('torch', 'torch.utils.benchmark') if name in sys.modules])"
    )
    jobs = [timer_job(case(report, setup)) for setup in ("import sys", "import sys, torch")]
    assert [answer["error"] for answer in performed(*jobs)] == ["[]", "['torch', 'torch.utils.benchmark']"]


def test_clocks_wait_for_cuda_where_it_is_in_use_and_never_start_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(benchmark, "timer", lambda: -1.0)
    waited: list[int] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)
    assert min(clock()(), clock_of_library()()) > 0
    assert waited == []
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch._C, "_cuda_hasPrimaryContext", lambda device: device == 1, raising=False)
    assert clock()() == -1.0
    assert clock_of_library()() > 0
    assert waited == [1]
