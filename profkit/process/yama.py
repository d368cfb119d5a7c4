"""Yama, the security module that lets a program be read by its parents alone (Ubuntu's default).

Linux, Documentation/admin-guide/LSM/Yama.rst.
"""

from __future__ import annotations

from pathlib import Path

from profkit.process.prctl import set_ptracer

SCOPE_FILE = Path("/proc/sys/kernel/yama/ptrace_scope")
_RESTRICTED = 1


def ptrace_scope(path: Path = SCOPE_FILE) -> int:
    """0 to 3 as Yama counts; 0 where the kernel has no Yama."""
    try:
        return int(path.read_text("ascii"))
    except FileNotFoundError:
        return 0


def allow_tracer(pid: int, path: Path = SCOPE_FILE) -> bool:
    """Let process `pid` and its descendants read the calling process, where Yama needs to be asked.

    A process has one such permission: this takes the place of an earlier one. The kernel takes it
    back when `pid` ends. Returns whether it was given; needed and possible under scope 1 alone.
    """
    return ptrace_scope(path) == _RESTRICTED and set_ptracer(pid)
