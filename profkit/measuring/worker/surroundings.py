"""What a job's process looks like to the job: output, folder, path, environment, cores, memory."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping

from .kernel import flush_c_streams
from .messages import Message


def send_output_to(descriptor: int) -> None:
    """Make a file stdout and stderr of this process and of those that it starts; closes the descriptor."""
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)


def flush_output() -> None:
    """Write out what was printed, by Python and by C, as far as the job has left the means to."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or something else by now
            stream.flush()
    flush_c_streams()


def take_on(job: Message) -> None:
    """Move into the job's folder, path, environment and cores; raises OSError where one does not exist."""
    os.chdir(job["cwd"])
    change_environment(job["env"])
    if job["path"]:  # else this environment has its own
        sys.path[:] = job["path"]
    sys.path[:0] = job.get("first", ())
    if job["cores"]:
        os.sched_setaffinity(0, job["cores"])


def change_environment(changes: Mapping[str, str | None]) -> None:
    """Set variables, or unset those that are None; under Valgrind each takes a quarter of a millisecond."""
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextlib.contextmanager
def limited_memory(limit_bytes: int | None) -> Iterator[None]:
    """Hold the address space to a size; beyond it allocations fail. Lifted again for the report of that."""
    if limit_bytes is None:
        yield
        return
    import resource  # seldom needed

    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
