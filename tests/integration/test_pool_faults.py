"""Jobs that do their worst, and zygotes that die: each for real."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from profkit.errors import (
    MeasuringError,
    WorkerDied,
    WorkerTimeout,
    ZygoteFailed,
)
from profkit.measuring.errors import MemoryExceeded
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.pool.pool import Pool
from tests.integration.pool_jobs import (
    FAMILY,
    FAMILY_SIZE,
    LOOP_IN_C,
    job,
    kind,
    marked,
)
from tests.support.waiting import until

MARKED = uuid.uuid4().hex
KIND = kind(MARKED)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool()
    made.submit(KIND, job("pass")).result(60)
    yield made
    made.close()
    assert not marked(MARKED)


@pytest.fixture(autouse=True)
def _afterwards(pool: Pool) -> Iterator[None]:
    """The zygote serves on, with nothing beside it."""
    yield
    assert do(pool, "pass").message["ok"]
    assert marked(MARKED) == [zygote_pid(pool)]


def zygote_pid(pool: Pool) -> int:
    (zygote,) = pool.zygotes()
    return zygote.pid


def do(pool: Pool, stmt: str, **changes: object) -> Reply:
    return pool.submit(KIND, job(stmt, **changes)).result(60)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stmt", "how"),
    [
        ("import ctypes; ctypes.string_at(0)", "was ended by SIGSEGV"),
        ("import os; os.abort()", "was ended by SIGABRT"),
        ("import os; os._exit(0)", "exited with status 0"),
        ("import os; os._exit(5)", "exited with status 5"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by SIGKILL"),
        ("import os; os.closerange(0, 1 << 16)", "closed the descriptor of its reply"),
        ("import os; os.closerange(3, 99); [os.open('/dev/null', 2) for _ in range(30)]", "closed the desc"),
        ("import os; os.execv('/bin/true', ['true'])", "exited with status 0"),
    ],
)
def test_a_job_that_does_not_answer(pool: Pool, stmt: str, how: str) -> None:
    serial = pool.zygotes()[0].facts.serial
    with pytest.raises(WorkerDied, match=how) as caught:
        do(pool, stmt, setup="print('last words')")
    assert "last words" in caught.value.output
    assert pool.zygotes()[0].facts.serial == serial


def test_a_crash_shows_where_it_was(pool: Pool) -> None:
    with pytest.raises(WorkerDied) as caught:
        do(pool, "import ctypes; ctypes.string_at(0)")
    assert "Segmentation fault" in caught.value.output
    assert "string_at" in caught.value.output


def test_an_answer_with_a_bad_end_is_no_answer(pool: Pool) -> None:
    # A thread that ends the process while the answer is being written out.
    stmt = """
import os, sys, threading
class Ending:
    def flush(self):
        pid = os.getpid()
        sender = os.fork()
        if sender == 0:
            return
        os.waitpid(sender, 0)
        os._exit(3)
sys.stdout = Ending()
"""
    with pytest.raises(WorkerDied, match="replied, and then exited with status 3"):
        do(pool, stmt)


@pytest.mark.parametrize("words", [b"\0\0\0\1{", b"\0\0\0\2[]", b"\0\0\0\2{}", b"\xff" * 9])
def test_nonsense_instead_of_an_answer(pool: Pool, words: bytes) -> None:
    stmt = f"""
import os, socket, stat
for number in range(3, 99):
    try:
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            if socket.socket(fileno=os.dup(number)).type == socket.SOCK_STREAM:
                os.write(number, {words!r})
    except OSError:
        pass
os._exit(0)
"""
    with pytest.raises(MeasuringError):
        do(pool, stmt)


def test_much_output_is_cut_at_its_start(pool: Pool) -> None:
    stmt = "for i in range(10_000): print(f'{i:0999d}')"
    output = do(pool, stmt).output
    assert 60_000 < len(output) <= 64 * 1024
    assert output.endswith("0009999\n")
    assert all(len(line) == 999 for line in output.splitlines())


def test_output_of_c_code_and_of_children_is_kept(pool: Pool) -> None:
    stmt = "import ctypes, os; ctypes.CDLL(None).printf(b'from C\\n'); os.system('echo from a child')"
    assert sorted(do(pool, stmt).output.splitlines()) == ["from C", "from a child"]


def test_memory_filled_to_its_limit(pool: Pool) -> None:
    grow = "grown = []\nwhile True: grown.append(b'x' * (1 << 22))"
    with pytest.raises(
        MemoryExceeded, match=r"more than the limit of 256 MiB; .* raise memory_limit"
    ) as caught:
        do(pool, grow, memory_limit_bytes=1 << 28)
    assert caught.value.used_bytes > caught.value.limit_bytes == 1 << 28
    assert 'File "<setup and stmt>", line 3' in caught.value.output
    assert "/worker/" not in caught.value.output
    assert do(pool, "b'x' * (1 << 28)").message["ok"]


def test_memory_that_is_only_reserved_is_not_used(pool: Pool) -> None:
    setup = "import mmap, time"
    stmt = "held = mmap.mmap(-1, 1 << 30); time.sleep(0.3)"
    assert do(pool, stmt, setup=setup, memory_limit_bytes=1 << 28).message["ok"]


def test_memory_of_all_that_a_job_starts_counts(pool: Pool) -> None:
    setup = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        held = b"x" * (1 << 26)
        time.sleep(600)
"""
    with pytest.raises(MemoryExceeded) as caught:
        do(pool, "import time; time.sleep(600)", setup=setup, memory_limit_bytes=1 << 28)
    assert caught.value.used_bytes > 1 << 28


def test_runaway_recursion_is_ended(pool: Pool) -> None:
    setup = """
import sys
sys.setrecursionlimit(1 << 30)
def deeper(held): return deeper([*held, held])
"""
    with pytest.raises(MemoryExceeded):
        do(pool, "deeper([0])", setup=setup, memory_limit_bytes=1 << 28)


def test_a_limit_lasts_for_one_job(pool: Pool) -> None:
    assert do(pool, "pass", memory_limit_bytes=1 << 20).message["ok"]
    assert do(pool, "b'x' * (1 << 28); import time; time.sleep(0.3)").message["ok"]


def test_a_job_out_of_time_shows_where_it_was(pool: Pool) -> None:
    with pytest.raises(WorkerTimeout) as caught:
        do(pool, "import time; time.sleep(600)", setup="print('begun')", timeout_s=2)
    assert caught.value.output.startswith("begun\n")
    assert 'File "<setup and stmt>"' in caught.value.output
    assert "/worker/" not in caught.value.output


def test_daemons_are_ended_after_the_job(pool: Pool) -> None:
    assert do(pool, "pass", setup=FAMILY).message["ok"]
    assert len(marked(MARKED)) == 1


def test_daemons_that_keep_starting_others_are_ended(pool: Pool) -> None:
    runners = """
import os, time
if os.fork() == 0:
    while True:
        if os.fork():
            os._exit(0)
        os.setsid()
        time.sleep(0.001)
"""
    assert do(pool, "pass", setup=runners).message["ok"]
    assert len(marked(MARKED)) == 1


@pytest.mark.parametrize(
    "setup",
    [
        "import itertools",
        FAMILY,
        "import itertools, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
        "import itertools, os; os.setsid()",
    ],
)
def test_a_job_out_of_time_is_gone_with_its_tree_before_anybody_hears_of_it(pool: Pool, setup: str) -> None:
    serial = pool.zygotes()[0].facts.serial
    late = pool.submit(KIND, job(LOOP_IN_C, setup=setup, timeout_s=0.3))
    with pytest.raises(WorkerTimeout, match="did not finish within"):
        late.result(60)
    assert len(marked(MARKED)) == 1
    assert pool.zygotes()[0].facts.serial == serial


def test_a_stopped_job_runs_out_of_time(pool: Pool) -> None:
    with pytest.raises(WorkerTimeout):
        do(pool, "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", timeout_s=0.3)


def test_a_zygote_killed_between_jobs_is_replaced(pool: Pool) -> None:
    serial = pool.zygotes()[0].facts.serial
    os.kill(zygote_pid(pool), signal.SIGKILL)
    assert do(pool, "pass").zygote.serial > serial


def test_a_zygote_killed_during_a_job_is_replaced_and_the_job_done_again(pool: Pool, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    stmt = f"""
import time
with open({str(tries)!r}, "a+") as file:
    file.write("x")
    file.seek(0)
    first = file.read() == "x"
time.sleep(600 if first else 0)
"""
    reply = pool.submit(KIND, job(stmt))
    until(lambda: tries.exists() and tries.read_text() == "x")
    os.kill(zygote_pid(pool), signal.SIGKILL)
    assert reply.result(60).message["ok"]
    assert tries.read_text() == "xx"


def test_a_job_that_kills_its_zygote_does_so_three_times(pool: Pool, tmp_path: Path) -> None:
    stmt = f"import os; print('x', file=open({str(tmp_path / 'tries')!r}, 'a')); os.kill(os.getppid(), 9)"
    with pytest.raises(ZygoteFailed, match=r"was ended by SIGKILL.*, 3 times"):
        do(pool, f"{stmt}; import time; time.sleep(600)")
    assert (tmp_path / "tries").read_text() == "x\n" * 3


def test_a_killed_supervisor_takes_its_zygote_with_it(pool: Pool) -> None:
    zygote = psutil.Process(zygote_pid(pool))
    supervisor = zygote.parent()
    assert supervisor is not None
    supervisor.kill()
    assert do(pool, "pass").message["ok"]
    until(lambda: not zygote.is_running() or zygote.status() == psutil.STATUS_ZOMBIE)


def test_a_killed_launcher_is_started_again(pool: Pool) -> None:
    zygote = psutil.Process(zygote_pid(pool))
    launcher = zygote.parents()[1]
    assert launcher.cmdline()[-1] == "launcher"
    launcher.kill()
    zygote.kill()
    assert do(pool, "pass").message["ok"]


def test_a_killed_supervisor_leaves_no_daemons(pool: Pool, tmp_path: Path) -> None:
    first = f"""
import os
if not os.path.exists({str(tmp_path / "first")!r}):
    open({str(tmp_path / "first")!r}, "w").close()
    {FAMILY.replace(chr(10), chr(10) + "    ")}
    time.sleep(600)
"""
    reply = pool.submit(KIND, job("pass", setup=first))
    until(lambda: len(marked(MARKED)) == 2 + FAMILY_SIZE)
    supervisor = psutil.Process(zygote_pid(pool)).parent()
    assert supervisor is not None
    supervisor.kill()
    assert reply.result(60).message["ok"]
    until(lambda: len(marked(MARKED)) == 1)
