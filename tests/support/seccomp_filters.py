"""Seccomp filters as container runtimes install them: system calls that fail, or kill the process.

As a program, installs a filter and runs a command under it: `seccomp_filters.py ACTION CALL,CALL COMMAND...`.
Without CAP_SYS_ADMIN, this also sets no_new_privs, which the kernel then requires.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Collection

READ = "process_vm_readv"
PTRACE = "ptrace"
ACTIONS = {
    "EPERM": 0x0005_0000 | errno.EPERM,
    "ENOSYS": 0x0005_0000 | errno.ENOSYS,
    "KILL": 0x8000_0000,
}
"""Values that a filter returns for the system calls that it refuses."""

_NUMBERS = {
    "x86_64": {PTRACE: 101, READ: 310},
    "aarch64": {PTRACE: 117, READ: 270},
}
_ALLOW = 0x7FFF_0000
_LOAD_WORD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER_MODE = 22, 38, 2


class _Program(ctypes.Structure):
    """The kernel's `struct sock_fprog`."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def launcher(*calls: str, action: str = "EPERM") -> tuple[str, ...]:
    """Return the prefix of a command that then runs without some system calls."""
    return (sys.executable, "-I", "-S", __file__, action, ",".join(calls))


def install(calls: Collection[str], action: str) -> None:
    """Refuse system calls to this process and its descendants from now on."""
    code = _program([_NUMBERS[platform.machine()][call] for call in calls], ACTIONS[action])
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) == 0:
        return
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        _PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the kernel refuses the filter")


def _program(numbers: Collection[int], refusal: int) -> bytes:
    """Return a BPF program (seccomp(2)): the first word of its input is the system call's number."""
    checks = [
        instruction
        for number in numbers
        for instruction in ((_JUMP_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, refusal))
    ]
    instructions = [(_LOAD_WORD, 0, 0, 0), *checks, (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)


if __name__ == "__main__":
    install(sys.argv[2].split(","), sys.argv[1])
    os.execvp(sys.argv[3], sys.argv[3:])
