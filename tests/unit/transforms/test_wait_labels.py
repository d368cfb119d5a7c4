"""Labels of waits: the outermost library function that has one, else the program's line."""

from __future__ import annotations

import pytest

from profkit.model.profile import Frame
from profkit.transforms.wait_labels import has_ranks, wait_label

LIB = "/usr/lib/python3.11"
SITE = "/opt/venv/lib/python3.11/site-packages"
LOADER = [
    Frame("_BaseDataLoaderIter.__next__", f"{SITE}/torch/utils/data/dataloader.py", 701),
    Frame("_MultiProcessingDataLoaderIter._try_get_data", f"{SITE}/torch/utils/data/dataloader.py", 1133),
    Frame("Queue.get", f"{LIB}/multiprocessing/queues.py", 113),
    Frame("wait", f"{LIB}/multiprocessing/connection.py", 947),
    Frame("PollSelector.select", f"{LIB}/selectors.py", 415),
]


@pytest.mark.parametrize(
    ("frames", "label"),
    [
        (LOADER, "the data loader"),
        (LOADER[2:], "another process"),
        (LOADER[4:], "events"),
        ([Frame("Condition.wait", f"{LIB}/threading.py", 327)], "another thread"),
        ([Frame("Event.wait", f"{LIB}/threading.py", 629)], "another thread"),
        ([Frame("RLock.acquire", f"{LIB}/threading.py", 100)], "a lock"),
        ([Frame("Future.result", f"{LIB}/concurrent/futures/_base.py", 451)], "a pool"),
        ([Frame("Pool.map", f"{LIB}/multiprocessing/pool.py", 367)], "a pool"),
        ([Frame("run", f"{LIB}/subprocess.py", 550)], "a child process"),
        ([Frame("all_reduce", f"{SITE}/torch/distributed/distributed_c10d.py", 2501)], "other ranks"),
        ([Frame("synchronize", f"{SITE}/torch/cuda/__init__.py", 900)], "the GPU"),
        ([Frame("Session.request", f"{SITE}/requests/sessions.py", 500)], "the network"),
        ([Frame("Client.get", f"{SITE}/httpx/_client.py", 1041)], "the network"),
        ([Frame("run", f"{LIB}/asyncio/runners.py", 190)], "events"),
        ([Frame("encode", f"{LIB}/json/encoder.py", 200)], ""),
        ([Frame("__nanosleep", "/lib/x86_64-linux-gnu/libc.so.6", 0)], "sleep"),
    ],
)
def test_functions(frames: list[Frame], label: str) -> None:
    assert wait_label(frames, None) == label


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("time.sleep(0.5)", "sleep"),
        ("libc.usleep(5000)", "sleep"),
        ("with self._lock:", "a lock"),
        ("lock.acquire()", "a lock"),
        ("chunk = sock.recv(4096)", "the network"),
        ("data = os.read(fd, 100)", "a file or pipe"),
        ("item = inbox.get()", "a queue"),
        ("worker.join()", "another thread"),
        ("for line in process.stdout:", "a child process"),
        ("os.system('make')", "a child process"),
        ("os.waitpid(pid, 0)", "a child process"),
        ("print(future.result())", "a pool"),
        ("rows = connection.execute(query).fetchall()", "the database"),
        ("os.fsync(fd)", "the disk"),
        ("loss.item()", "the GPU"),
        ("total += value", ""),
    ],
)
def test_lines_of_the_program(line: str, label: str) -> None:
    assert wait_label([], line) == label


def test_a_function_comes_before_the_line() -> None:
    assert wait_label([Frame("run", f"{LIB}/subprocess.py", 550)], "time.sleep(1)") == "a child process"


def test_backward_waits_for_other_ranks_if_there_are_some() -> None:
    backward = [Frame("_engine_run_backward", f"{SITE}/torch/autograd/graph.py", 865)]
    parallel = Frame("DistributedDataParallel.forward", f"{SITE}/torch/nn/parallel/distributed.py", 1)
    assert wait_label(backward, None) == "the backward pass"
    assert wait_label(backward, None, is_distributed=has_ranks([parallel])) == "other ranks"
    assert not has_ranks(backward)
