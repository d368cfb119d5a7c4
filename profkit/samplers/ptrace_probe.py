"""Probe of the system calls that samplers need, as a program: `python -I -S ptrace_probe.py PID`.

Prints one line: for each call, the error number with which it fails for a sampler of process PID, 0 if it
succeeds, or minus the number of the signal that kills the caller. Does not stop PID and reads none of its
memory: ptrace(2) is called for a process that does not exist, process_vm_readv(2) with an invalid address.

Each call has a process of its own, since a seccomp filter may kill it.
"""

from __future__ import annotations

import posix
import sys

PREFIX = "profkit-probe: "
"""Prefix of the printed line."""
NAMES = ("ptrace", "read_self", "read_target", "mem_file")
"""Names in the line: ptrace(2), process_vm_readv(2) on itself and on PID, and opening /proc/PID/mem."""

_PR_SET_DUMPABLE = 4
_PTRACE_SEIZE = 0x4206
_NO_PROCESS = 0


def _main(argv: list[str]) -> int:
    target = int(argv[0])
    line = PREFIX + " ".join(f"{name}={_try_apart(name, target)}" for name in NAMES)
    posix.write(1, f"{line}\n".encode())
    return 0


def _try_apart(name: str, target: int) -> int:
    """Try a call in a child process; return its error number, 0, or minus the signal that killed it."""
    pid = posix.fork()
    if not pid:
        posix._exit(_try(name, target))
    return posix.waitstatus_to_exitcode(posix.waitpid(pid, 0)[1])


def _try(name: str, target: int) -> int:
    import ctypes  # here, since the profiled program imports the names above

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # leaves no core file if it is killed
    if name == "mem_file":
        return _try_opening(f"/proc/{target}/mem")
    if name == "ptrace":
        libc.ptrace.restype = ctypes.c_long
        failed = libc.ptrace(_PTRACE_SEIZE, _NO_PROCESS, None, None) == -1
    else:
        byte = ctypes.create_string_buffer(1)
        span = ctypes.c_size_t * 2  # struct iovec
        here, nowhere = span(ctypes.addressof(byte), 1), span(0, 1)
        pid, source = (posix.getpid(), here) if name == "read_self" else (target, nowhere)
        one, no_flags = ctypes.c_ulong(1), ctypes.c_ulong(0)
        libc.process_vm_readv.restype = ctypes.c_ssize_t
        failed = libc.process_vm_readv(pid, here, one, source, one, no_flags) == -1
    return ctypes.get_errno() if failed else 0


def _try_opening(path: str) -> int:
    try:
        posix.open(path, posix.O_RDONLY)
    except OSError as error:
        return error.errno or 0
    return 0


if __name__ == "__main__":
    posix._exit(_main(sys.argv[1:]))
