"""The programs and their answers, written from descriptions of programs and not from profkit's rules.

A program with an answer has a comment `# PLANTED` at its own line that a report should name. On a `def`, the
comment means the whole function. A second answer that is as true, such as the line that waits for the planted
one, has the comment `# ALSO`. A program without answers has nothing wrong: no report says that one of its
lines takes the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
PLANTED, ALSO = "PLANTED", "ALSO"
GIL = "GIL"
"""Reason of threads that compute and wait for the GIL."""


class State(Enum):
    """State of a thread at a line."""

    WORKS = "works"
    WAITS = "waits"
    SUSPENDED = "suspended"
    """A coroutine is suspended there, so its thread waits or runs others."""
    CHILDREN = "children"
    """The thread waits for child processes, which are not sampled and use the processors."""
    EITHER = "works or waits"
    """It depends on the machine, as for `fsync`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A true statement about one marked line."""

    marker: str
    state: State
    reason: str = ""
    """What is waited for, or what the work is."""
    thread: str = "MainThread"
    """Beginning of the names of the threads whose time it is."""
    child: bool = False
    """Whether it is about child processes."""
    part: tuple[float, float] = (0.8, 1.0)
    """Share of the program's own measurement that the marked line itself takes."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program, how it is started, and its answers; any one of them is right."""

    name: str
    what: str
    answers: tuple[Answer, ...] = ()
    program: str = ""
    """Name of the program's file without `.py`, if it is not that of the case."""
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """Options of `profkit run` that a user would give."""
    launcher: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Modules, and `cuda` for a GPU."""
    oldest: tuple[int, int] = (3, 11)
    newest: tuple[int, int] = (3, 15)
    contended: bool = False
    """Whether its threads also wait for the GIL, which no clock shows."""

    @property
    def path(self) -> Path:
        """Return the path of the program."""
        return PROGRAMS / f"{self.program or self.name}.py"


def _works(reason: str = "", thread: str = "MainThread", marker: str = PLANTED) -> Answer:
    return Answer(marker, State.WORKS, reason, thread)


def _waits(reason: str, thread: str = "MainThread", marker: str = PLANTED) -> Answer:
    return Answer(marker, State.WAITS, reason, thread, part=_ALL)


def _suspended(reason: str, marker: str = PLANTED) -> Answer:
    return Answer(marker, State.SUSPENDED, reason, part=_ALL)


_ALL = (0.95, 1.0)
_CHILDREN = Answer(PLANTED, State.CHILDREN, "child process", part=_ALL)
_IN_CHILD = Answer(ALSO, State.WORKS, "in child processes", child=True)
_RANKS = ("torchrun", "--nproc-per-node", "4", "--standalone")
_TORCH = ("torch",)

CASES = (
    Case("pipe_worker", "main computes; a thread is in os.read of a pipe", (_works(),)),
    Case("simple_queue_worker", "main computes; a thread is in SimpleQueue.get", (_works(),)),
    Case("queue_main_waits", "main is in Queue.get; a thread derives keys",
         (_waits("other thread"), _works("pbkdf2", "derive", ALSO))),
    Case("popen_stdout", "main iterates over the output of an idle program", (_waits("pipe"),)),
    Case("subprocess_python", "subprocess.run of a busy Python", (_CHILDREN,)),
    Case("subprocess_gzip", "subprocess.run of gzip", (_CHILDREN,)),
    Case("os_system_sort", "os.system of sort", (_CHILDREN,)),
    Case("select_wait", "select.select until a sensor sends", (_waits("network"),)),
    Case("selectors_clients", "a selector waits for slow clients", (_waits("network"),)),
    Case("ctypes_usleep", "libc.usleep through ctypes", (_waits("sleep"),)),
    Case("ctypes_poll", "libc.poll through ctypes", (_waits("pipe"),)),
    Case("ctypes_mutex", "a C library's mutex that a thread holds while it writes", (_waits("lock"),)),
    Case("sqlite_busy", "a SQLite database that another connection has locked", (_waits("lock"),)),
    Case("lock_convoy", "four threads wait for one lock; its holder sleeps",
         (_waits("lock", "worker-"), _waits("sleep", "worker-", ALSO))),
    Case("condition_wait", "Condition.wait until a thread has received a message", (_waits("other thread"),)),
    Case("futures_hash", "threads of a pool hash; main waits for their results",
         (_works("pbkdf2", "hasher"), _waits("other thread", marker=ALSO))),
    Case("futures_sleep", "threads of a pool sleep; main waits for their results",
         (_waits("sleep", "client"), _waits("other thread", marker=ALSO))),
    Case("gil_two", "two threads compute in pure Python", (_works(GIL, "pendulum-"),), contended=True),
    Case("gil_four", "four threads compute in pure Python", (_works(GIL, "counter-"),), contended=True),
    Case("async_sleep_hash", "a coroutine hashes; another one awaits sleeps", (_works("sha256"),)),
    Case("async_await_task", "a coroutine awaits a task, which awaits sleeps",
         (_suspended("task"), _suspended("sleep", ALSO))),
    Case("async_to_thread", "a coroutine awaits asyncio.to_thread; the thread sleeps",
         (_suspended("other thread"), _waits("sleep", "asyncio_", ALSO))),
    Case("async_blocking", "a coroutine calls time.sleep", (_waits("sleep"),)),
    Case("async_gather_sleeps", "forty coroutines await sleeps",
         (_suspended("sleep"), _suspended("coroutines", ALSO))),
    Case("fastapi_slow", "a handler awaits its database 150 ms, and computes less",
         (_suspended("sleep"),), needs=("fastapi", "uvicorn")),
    Case("fork_waitpid", "os.waitpid of forked children that compute", (_CHILDREN, _IN_CHILD)),
    Case("pool_fork", "a pool of forked processes computes", (_CHILDREN, _IN_CHILD),
         "pool_search", ("fork",)),
    Case("pool_spawn", "a pool of spawned processes computes", (_CHILDREN, _IN_CHILD),
         "pool_search", ("spawn",)),
    Case("pool_forkserver", "a pool of processes of a fork server computes", (_CHILDREN, _IN_CHILD),
         "pool_search", ("forkserver",)),
    Case("joblib_loky", "processes of joblib compute", (_CHILDREN, _IN_CHILD), needs=("joblib",)),
    Case("exec_after_work", "computes, then calls os.execvp", (_works(),)),
    Case("loader_bound_0", "a DataLoader without workers augments slowly", (_works(),), needs=_TORCH),
    Case("loader_bound_2", "two workers of a DataLoader augment slowly",
         (_waits("data loader"), _IN_CHILD), needs=_TORCH),
    Case("compute_bound_0", "forward and backward take the time; no workers", (_works(),),
         "compute_bound", ("0",), needs=_TORCH),
    Case("compute_bound_2", "forward and backward take the time; two workers", (_works(),),
         "compute_bound", ("2",), needs=_TORCH),
    Case("ddp_slow_rank", "four ranks wait for the augmentation of one",
         (Answer(PLANTED, State.WORKS, "rank 1", child=True),
          Answer(ALSO, State.WAITS, "other ranks", child=True)),
         options=("--subprocesses", "--"), launcher=_RANKS, needs=_TORCH),
    Case("lazy_import", "a function imports a large generated package", (_works("import"),)),
    Case("lazy_import_torch", "a function imports torch", (_works("import"),), needs=_TORCH),
    Case("gc_collect", "gc.collect after each document", (_works("GC"),)),
    Case("gc_cycles", "allocates many records that refer to one another", (_works("GC"),)),
    Case("busy_thread", "a thread spins; main waits for an event",
         (_works(thread="poller"), _waits("other thread", marker=ALSO))),
    Case("join_worker", "main joins a thread that computes",
         (_works(thread="ranking"), _waits("other thread", marker=ALSO))),
    Case("socket_recv", "recv from a slow server", (_waits("network"),)),
    Case("retry_sleep", "sleeps until a file appears", (_waits("sleep"),)),
    Case("fsync_journal", "os.fsync after each entry", (Answer(PLANTED, State.EITHER, "file"),)),
    Case("matmul_numpy", "a matrix product of numpy", (_works(),), needs=("numpy",)),
    Case("matmul_torch", "a matrix product of torch", (_works(),), needs=_TORCH),
    Case("gpu_sync", "Tensor.item waits for a GPU", (Answer(PLANTED, State.EITHER, "GPU"),),
         needs=("torch", "cuda")),
    Case("regex_backtracking", "a regular expression backtracks", (_works(),)),
    Case("json_big", "json.loads of a large document", (_works(),)),
    Case("membership", "membership in a long list", (_works(),)),
    Case("string_concat", "adds to a long string", (_works(),)),
    Case("sort_key", "an expensive key of a sort", (_works(),)),
    Case("generator_stage", "one slow stage in a pipeline of generators", (_works(),)),
    Case("recursion", "a recursive function", (_works(),)),
    Case("lru_miss", "a cached function whose cache never hits", (_works(),)),
    Case("sqlite_slow_query", "a join without an index", (_works(),)),
    Case("sqlalchemy_lazy", "a lazy relationship in a loop", (_works(),), needs=("sqlalchemy",)),
    Case("logging_slow", "a logging handler that sleeps",
         (_waits("sleep"), _waits("sleep", marker=ALSO))),
    Case("zlib_level", "zlib at its highest level", (_works(),)),
    Case("hash_files", "checksums of files", (_works(),)),
    Case("deepcopy_loop", "copy.deepcopy in a loop", (_works(),)),
    Case("even_functions", "nothing wrong: fourteen functions with equal times"),
    Case("even_tasks", "nothing wrong: fourteen tasks of the standard library with equal times"),
    Case("even_pipeline", "nothing wrong: thirteen steps with equal times"),
    Case("even_threads", "nothing wrong: twelve functions in each of four threads",
         program="even_figures", arguments=("threads",), contended=True),
    Case("even_async", "nothing wrong: twelve functions in each of four coroutines",
         program="even_figures", arguments=("coroutines",)),
    Case("ddp_balanced", "nothing wrong: twelve functions in each of four ranks",
         program="even_figures", arguments=("ranks",),
         options=("--subprocesses", "--"), launcher=_RANKS, needs=_TORCH),
    Case("idle_server", "nothing wrong: a server without clients"),
    Case("idle_asyncio", "nothing wrong: an asyncio server without clients"),
    Case("idle_worker", "nothing wrong: a worker without jobs"),
    Case("short_script", "nothing wrong: a script of 50 ms"),
)  # fmt: skip
