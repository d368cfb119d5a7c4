"""Become PROGRAM, and end with the parent: `python -I -S ending_with_parent.py PID FOLDER PROGRAM …`.

If the parent, process PID, ends first, a second process, an orphan, kills PROGRAM's process group and removes
FOLDER. PROGRAM must lead its process group.
"""

from __future__ import annotations

import os
import select
import signal
import sys

_SET_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores; without a reset, PROGRAM would inherit that."""
_CANNOT_RUN = 127


def _main(parent: int, folder: str, argv: list[str]) -> int:
    watched = os.pidfd_open(parent)
    if os.getppid() != parent:  # it has ended, and its pid may be reused
        return _CANNOT_RUN
    _watch_apart(watched, folder)
    for number in _SET_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(1, f"cannot run {argv[0]}: {error.strerror}\n".encode())
    return _CANNOT_RUN


def _watch_apart(parent: int, folder: str) -> None:
    """Watch this process and its parent from an orphan process in another session."""
    program = os.getpid()
    watched = os.pidfd_open(program)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork() == 0:
        _watch(program, watched, parent, folder)
    os._exit(0)


def _watch(program: int, watched: int, parent: int, folder: str) -> None:
    os.closerange(0, 3)  # readers of PROGRAM's output must not wait for this process
    poller = select.poll()
    for descriptor in (watched, parent):
        poller.register(descriptor, select.POLLIN)
    ended = {descriptor for descriptor, _ in poller.poll()}
    if watched in ended:
        return
    os.killpg(program, signal.SIGKILL)
    select.select([watched], [], [])
    import shutil  # takes milliseconds, which would slow each start

    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os._exit(_main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
