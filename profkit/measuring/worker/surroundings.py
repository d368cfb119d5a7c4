"""What a job's process looks like to the job: output, folder, path, environment, cores, memory."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from types import ModuleType

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
    reseed_numpy()
    os.chdir(job["cwd"])
    change_environment(job["env"])
    if job["path"]:  # else this environment has its own
        sys.path[:] = job["path"]
    sys.path[:0] = job.get("first", ())
    if job["cores"]:
        os.sched_setaffinity(0, job["cores"])


def reseed_numpy() -> None:
    """Have numpy draw other numbers than the other forks do, as in a process that has just imported it.

    Python's own `random` sees to that by itself, and torch always starts with the same seed.
    """
    if (drawing := sys.modules.get("numpy.random")) is not None:
        drawing.seed()


def change_environment(changes: Mapping[str, str | None]) -> None:
    """Set variables, or unset those that are None; under Valgrind each takes a quarter of a millisecond."""
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def refuse_strays(job: Message) -> None:
    """Raise ImportError where a module came from the caller's checkout, and the job's copy of it has it too.

    Import hooks of editable installs know nothing of copies; what was measured then is not the commit.
    """
    if "moved" not in job:
        return
    checkout, copy = map(os.path.realpath, job["moved"])
    for name, module in tuple(sys.modules.items()):
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        path = os.path.realpath(file) if isinstance(file, str) else ""
        if not path.startswith(checkout + os.sep) or path.startswith(os.path.realpath(sys.prefix) + os.sep):
            continue
        if name.split(".")[0] != __package__ and os.path.exists(copy + path.removeprefix(checkout)):
            raise ImportError(
                f"{name} was imported from {path}, which is not the commit; name its folder in PYTHONPATH, "
                "or install it without import hooks (for setuptools: --config-settings editable_mode=compat)"
            )
