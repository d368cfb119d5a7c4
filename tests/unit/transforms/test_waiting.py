"""Which stacks count as waiting, by their last function and its line."""

from __future__ import annotations

import pytest
from hypothesis import given

from profkit.model.profile import Frame, Profile
from profkit.transforms.waiting import has_ranks, wait_label, waiting_stacks
from tests.support.profile_strategies import built, profiles

LIB = "/usr/lib/python3.11"
APP = "/home/ann/app.py"


def ends_in(frame: Frame) -> Profile:
    return built(((Frame("main", APP, 3), frame), 1))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Condition.wait", f"{LIB}/threading.py"),
        ("wait", "/v/lib/python3.15t/threading.py"),
        ("EpollSelector.select", f"{LIB}/selectors.py"),
        ("_worker", f"{LIB}/concurrent/futures/thread.py"),
        ("_ModuleLock.acquire", "<frozen importlib._bootstrap>"),
        ("Connection._recv", f"{LIB}/multiprocessing/connection.py"),
        ("synchronize", "/v/lib/python3.11/site-packages/torch/cuda/__init__.py"),
        ("Arbiter.sleep", "/v/lib/python3.11/site-packages/gunicorn/arbiter.py"),
        ("Hub.run", "/v/lib/python3.11/site-packages/gevent/hub.py"),
        ("clock_nanosleep@@GLIBC_2.17", "/lib/x86_64-linux-gnu/libc.so.6"),
        ("epoll_wait", "libc.so.6"),
        ("__GI___clock_nanosleep", "libc.so.6"),
        ("pthread_cond_timedwait@@GLIBC_2.3.2", "libc.so.6"),
        ("__futex_abstimed_wait_common64", "libc.so.6"),
        ("take_gil", "python3.11/Python/ceval_gil.c"),
        ("<built-in method time.sleep>", ""),
        ("<method 'acquire' of '_thread.lock' objects>", "~"),
        ("<method 'recv_into' of '_socket.socket' objects>", ""),
        ("sleep", ""),
    ],
)
def test_functions_that_wait(name: str, file: str) -> None:
    assert waiting_stacks(ends_in(Frame(name, file, 5))) == {0}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("work", APP),
        ("wait", APP),  # of the user's own, which may work
        ("Thread.run", f"{LIB}/threading.py"),
        ("JSONEncoder.iterencode", f"{LIB}/json/encoder.py"),
        ("read", "libc.so.6"),  # from a file
        ("memcpy", "libc.so.6"),
        ("Wait", "/app/Waiting.cpp"),
        ("<built-in method builtins.sum>", "~"),
        ("sorted", ""),
    ],
)
def test_functions_that_work(name: str, file: str) -> None:
    assert waiting_stacks(ends_in(Frame(name, file, 5))) == frozenset()


@pytest.mark.parametrize(
    ("source", "waits"),
    [
        ("time.sleep(delay)", True),
        ("sleep(0.1)", True),
        ("with self.lock: self.lock.acquire()", True),
        ("data = connection.recv(4096)", True),
        ("ready, _, _ = select.select(readers, [], [])", True),
        ("torch.cuda.synchronize()", True),
        ("with LOCK:", True),
        ("with self._lock:", True),
        ("with state.not_empty_condition, other:", True),
        ("with open(lock_file) as lock:", False),
        ("with self.lock: total += value", True),
        ("with clockwork:", False),
        ("total += value", False),
        ("rows = select_rows(table)", False),
        ("asleep(1)", False),
        (None, False),
    ],
)
def test_a_line_of_source_says_whether_it_waits(source: str | None, waits: bool) -> None:
    lines = {(APP, 5): source}
    found = waiting_stacks(ends_in(Frame("work", APP, 5)), lambda file, line: lines.get((file, line)))
    assert (found == {0}) is waits


def test_only_the_end_of_a_stack_counts() -> None:
    wait = Frame("Condition.wait", f"{LIB}/threading.py", 5)
    profile = built(((wait, Frame("callback", APP, 9)), 1), ((wait,), 1), ((), 1))
    assert waiting_stacks(profile) == {1}


@given(profiles())
def test_nothing_waits_without_a_waiting_call(profile: Profile) -> None:
    assert waiting_stacks(profile) == frozenset()


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
        ([Frame("all_gather_single", f"{SITE}/torch/distributed/distributed_c10d.py", 4200)], "other ranks"),
        ([Frame("wait_tensor", f"{SITE}/torch/distributed/_functional_collectives.py", 90)], "other ranks"),
        ([Frame("synchronize", f"{SITE}/horovod/torch/mpi_ops.py", 1100)], "other ranks"),
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
