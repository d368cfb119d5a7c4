"""The pool on real zygotes: jobs, lines, ends."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import CancelledError, wait
from pathlib import Path

import psutil
import pytest

from profkit.errors import WorkerFailed, ZygoteFailed
from profkit.measuring.errors import PythonTooOld
from profkit.measuring.pool.pool import Pool, process_pool
from profkit.measuring.transfer.payload import pack
from profkit.model.measurement import Preload, Tool
from tests.integration.pool_jobs import job, kind, marked
from tests.support.waiting import until

TOOLS = [Tool.NONE, pytest.param(Tool.VALGRIND, marks=pytest.mark.valgrind)]


@pytest.fixture(scope="module")
def shared() -> Iterator[Pool]:
    with_idle = Pool()
    yield with_idle
    with_idle.close()


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.close()


@pytest.fixture
def mark() -> str:
    return uuid.uuid4().hex


def printed(pool: Pool, stmt: str, **changes: object) -> str:
    return pool.submit(kind(), job(stmt, **changes)).result(60).output.strip()


def test_jobs_share_a_zygote_and_no_process(shared: Pool) -> None:
    replies = [shared.submit(kind(), job("import os; print(os.getpid(), os.getppid())")) for _ in range(5)]
    pids = [reply.result(60).output.split() for reply in replies]
    assert len({pid for pid, _ in pids}) == 5
    assert {int(parent) for _, parent in pids} == {living.pid for living in shared.zygotes()}
    assert len({reply.result().zygote.serial for reply in replies}) == 1


def test_what_a_job_raises_comes_back_as_text(shared: Pool) -> None:
    with pytest.raises(WorkerFailed) as caught:
        shared.submit(kind(), job("{}['missing']", setup="print('before')")).result(60)
    assert caught.value.trace.endswith("KeyError: 'missing'\n")
    assert "/worker/" not in caught.value.trace
    assert caught.value.output == "before\n"


@pytest.mark.parametrize(
    "raised", ["SystemExit(3)", "KeyboardInterrupt()", "GeneratorExit()", "MemoryError()"]
)
def test_anything_that_can_be_raised_is_an_answer(shared: Pool, raised: str) -> None:
    with pytest.raises(WorkerFailed, match=raised.partition("(")[0]):
        shared.submit(kind(), job(f"raise {raised}")).result(60)


def test_surroundings_travel_with_the_job(shared: Pool, tmp_path: Path) -> None:
    (tmp_path / "edited.py").write_text("print('first')")
    changes = {"path": [str(tmp_path), *sys.path], "cwd": str(tmp_path), "env": {"ONLY": "this"}}
    assert printed(shared, "import edited", **changes) == "first"
    (tmp_path / "edited.py").write_text("print('second', __name__)")
    assert printed(shared, "import edited", **changes) == "second edited"
    seen = printed(shared, "import os; print(os.getcwd(), sorted(os.environ.items()))", **changes)
    assert seen == f"{tmp_path} [('ONLY', 'this'), ('PROFKIT_DISABLE', '1')]"
    core = min(os.sched_getaffinity(0))
    assert printed(shared, "import os; print(os.sched_getaffinity(0))", cores=[core]) == f"{{{core}}}"


def test_programs_that_a_job_starts_have_none_of_its_descriptors(shared: Pool) -> None:
    stmt = "import subprocess; subprocess.run(['ls', '/proc/self/fd'], close_fds=False)"
    assert printed(shared, stmt).split() == ["0", "1", "2", "3"]  # ls itself reads the folder


def test_nothing_is_profiled_in_zygotes(shared: Pool) -> None:
    assert printed(shared, "pass") == ""
    (zygote,) = [living for living in shared.zygotes() if living.kind == kind()]
    assert psutil.Process(zygote.pid).environ()["PROFKIT_DISABLE"] == "1"


def test_a_function_travels_beside_its_job(shared: Pool) -> None:
    def show(word: str) -> None:
        print(word, os.getpid())

    with contextlib.closing(pack(show, ("called",), {})) as payload:
        cases = [{**job("").message["cases"][0], "stmt": None, "payload": True}]  # type: ignore[index]
        outputs = [
            shared.submit(kind(), job("call", payload=payload.fd, cases=cases)).result(60).output.split()
            for _ in range(2)
        ]
    assert [word for word, _ in outputs] == ["called", "called"]
    assert len({pid for _, pid in outputs} | {str(os.getpid())}) == 3


def test_any_thread_may_submit(shared: Pool) -> None:
    replies = []

    def submit() -> None:
        for _ in range(5):
            replies.append(shared.submit(kind(), job("pass")))

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({reply.result(60).zygote.serial for reply in replies}) == 1


def test_many_jobs_leave_nothing_behind(shared: Pool) -> None:
    shared.submit(kind(), job("pass")).result(60)
    (zygote,) = [living.pid for living in shared.zygotes() if living.kind == kind()]
    state = psutil.Process().num_fds(), psutil.Process(zygote).num_fds(), threading.active_count()
    for _ in range(50):
        shared.submit(kind(), job("pass")).result(60)
    assert (psutil.Process().num_fds(), psutil.Process(zygote).num_fds(), threading.active_count()) == state


def test_draws_distinguish_zygotes(pool: Pool) -> None:
    kinds = [kind(draw=name) for name in "ab"]
    replies = [pool.submit(each, job("pass")) for each in kinds for _ in range(2)]
    assert len({reply.result(60).zygote.serial for reply in replies}) == 2


def test_warmed_zygotes_are_there_before_a_job_comes(pool: Pool) -> None:
    pool.warm([kind()])
    until(lambda: len(pool.zygotes()) == 1)
    serial = pool.zygotes()[0].facts.serial
    assert pool.submit(kind(), job("pass")).result(60).zygote.serial == serial


def test_an_idle_zygote_is_ended_and_the_next_job_has_another(mark: str) -> None:
    pool = Pool(idle_s=0.05)
    first = pool.submit(kind(mark), job("pass")).result(60)
    until(lambda: not pool.zygotes())
    until(lambda: not marked(mark))
    assert pool.submit(kind(mark), job("pass")).result(60).zygote.serial > first.zygote.serial
    pool.close()


def test_a_retired_zygote_does_what_waits_and_ends(pool: Pool, mark: str) -> None:
    replies = [pool.submit(kind(mark), job("pass")) for _ in range(3)]
    pool.retire([kind(mark)])
    later = pool.submit(kind(mark), job("pass"))
    before = {reply.result(60).zygote.serial for reply in replies}  # either zygote may have started first
    assert len(before) == 1
    assert later.result(60).zygote.serial not in before
    until(lambda: len(marked(mark)) == 1)


def test_close_ends_everything_and_can_be_done_again(mark: str) -> None:
    pool = Pool()
    running = pool.submit(kind(mark), job("import time; time.sleep(600)"))
    waiting = pool.submit(kind(mark), job("pass"))
    until(running.running)
    pool.close()
    pool.close()
    assert not marked(mark)
    assert waiting.cancelled()
    with pytest.raises(CancelledError):
        running.result(0)
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(kind(mark), job("pass"))


def test_callbacks_may_call_the_pool(mark: str) -> None:
    pool, after = Pool(), []
    first = pool.submit(kind(mark), job("pass"))
    first.add_done_callback(lambda _: after.append(pool.submit(kind(mark), job("print('after')"))))
    until(lambda: bool(after))
    assert after[0].result(60).output == "after\n"
    pool.submit(kind(mark), job("import time; time.sleep(600)"))
    waiting = pool.submit(kind(mark), job("pass"))
    waiting.add_done_callback(lambda _: pool.zygotes())
    pool.close()
    assert waiting.cancelled()


@pytest.mark.parametrize("tool", TOOLS)
def test_close_waits_for_no_command_that_hangs(mark: str, tool: Tool) -> None:
    pool = Pool()
    pool.warm([kind(mark, tool=tool, command=("sh", "-c", "sleep 600", "python"))])
    until(lambda: len(marked(mark)) > 0)
    pool.close()
    assert not marked(mark)


def test_a_waiting_job_can_be_cancelled_and_a_running_one_dropped(pool: Pool, mark: str) -> None:
    running = pool.submit(kind(mark), job("import time; print('on'); time.sleep(600)"))
    waiting, last = (pool.submit(kind(mark), job("pass")) for _ in range(2))
    until(lambda: len(marked(mark)) == 2)  # the zygote and its child
    assert waiting.cancel()
    pool.drop(running)
    with pytest.raises(CancelledError):
        running.result(60)
    assert last.result(60).message["ok"]
    assert len(marked(mark)) == 1


def test_a_fork_of_the_program_has_a_pool_of_its_own(pool: Pool, mark: str) -> None:
    pool.submit(kind(mark), job("pass")).result(60)
    zygotes = marked(mark)
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(60)
            assert not pool.zygotes()
            reply = pool.submit(kind(mark), job("pass")).result(60)
            pool.close()
            os._exit(0 if reply.message["ok"] and marked(mark) == zygotes else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert pool.submit(kind(mark), job("pass")).result(60).zygote.serial == 1


def test_a_command_that_is_not_there(pool: Pool) -> None:
    with pytest.raises(ZygoteFailed, match="No such file"):
        pool.submit(kind(command=("/nothing/python",)), job("pass")).result(60)


def test_a_command_that_ends_at_once_fails_all_that_wait_for_it(pool: Pool) -> None:
    command = ("sh", "-c", "echo not here >&2; exit 4", "python")
    replies = [pool.submit(kind(command=command), job("pass")) for _ in range(3)]
    wait(replies, 60)
    for reply in replies:
        with pytest.raises(ZygoteFailed, match=r"exited with status 4(.|\n)*not here"):
            reply.result(0)


def test_a_command_may_enter_another_environment(pool: Pool) -> None:
    words = ("env", "ENTERED=yes", "sh", "-c", 'exec "$@"', "sh")
    reply = pool.submit(kind(command=(*words, sys.executable)), job("pass")).result(60)
    assert reply.message["ok"]


def test_a_command_may_stay_beside_the_interpreter(pool: Pool, mark: str) -> None:
    words = ("sh", "-c", 'sleep 600 & "$@"; exit 3', "sh")
    for _ in range(2):
        assert pool.submit(kind(mark, command=(*words, sys.executable)), job("pass")).result(60)
    assert len(marked(mark)) == 3
    pool.close()
    assert not marked(mark)


def test_a_launcher_that_cannot_be_started(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nothing/python")
    with pytest.raises(ZygoteFailed, match="cannot be started"):
        pool.submit(kind(), job("pass")).result(60)


def test_a_preload_that_cannot_be_imported(pool: Pool, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("import not_installed")
    broken = kind(preload=Preload.NUMPY, roots=(str(tmp_path),))
    with pytest.raises(ZygoteFailed, match=r"Traceback(.|\n)*No module named 'not_installed'"):
        pool.submit(broken, job("pass")).result(60)


def test_one_pool_for_the_process() -> None:
    first = process_pool()
    assert process_pool() is first
    first.close()
    assert process_pool() is not first


def test_where_no_thread_can_be_started_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    pool = Pool()
    pool.submit(kind(draw="before"), job("pass")).result(60)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    for draw in ("before", "after", "after"):
        future = pool.submit(kind(draw=draw), job("print('done')"))
        assert future.result(60).output == "done\n"
    late = pool.submit(kind(draw="after"), job("1 / 0"))
    assert late.done()
    assert isinstance(late.exception(), WorkerFailed)
    (pid,) = {zygote.pid for zygote in pool.zygotes() if zygote.kind.draw == "after"}
    pool.retire([kind(draw="after")])
    assert not [zygote for zygote in pool.zygotes() if zygote.pid == pid]
    assert pool.submit(kind(draw="after"), job("print(1)")).result(60).zygote.serial == 3
    pool.close()
    assert not os.path.exists(f"/proc/{pid}")


OLD_PYTHON = """#!{python}
import runpy, sys, typing
sys.version_info = (3, 9, 2, "final", 0)
del typing.NotRequired
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("tool", TOOLS)
def test_a_python_that_is_too_old_is_named(pool: Pool, tmp_path: Path, tool: Tool) -> None:
    old = tmp_path / "python3.9"
    old.write_text(OLD_PYTHON.format(python=sys.executable))
    old.chmod(0o755)
    with pytest.raises(
        PythonTooOld, match=r"needs Python 3\.11 or newer; .*/python3\.9 is 3\.9\.2"
    ) as caught:
        pool.submit(kind(command=(str(old),), tool=tool), job("pass")).result(60)
    assert "Traceback" not in str(caught.value)
    assert (caught.value.version, caught.value.oldest) == ("3.9.2", "3.11")
