"""Conditions of the figures: machine, kernel, versions, and load by other programs."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from profkit.version import VERSION

_PACKAGES = ("py-spy", "wrapt", "psutil", "torch", "pyinstrument", "viztracer")


def machine_facts() -> dict[str, str]:
    """Return facts that stay the same while the benchmarks run, by name."""
    return {
        "processor": f"{_processor()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}, ptrace_scope {_ptrace_scope()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "versions": f"profkit {VERSION}, {', '.join(f'{name} {_version(name)}' for name in _PACKAGES)}",
    }


def load() -> str:
    """Return the load averages, in processes that want a core."""
    return " ".join(f"{average:.2f}" for average in os.getloadavg())


class Stolen:
    """Share of the cores' time that the hypervisor has taken since the object's creation."""

    def __init__(self) -> None:
        self._before = psutil.cpu_times()

    def share(self) -> float:
        """Return the share of all cores' time; 0 if the kernel does not report it."""
        now = psutil.cpu_times()
        passed = sum(now) - sum(self._before)
        return (now.steal - self._before.steal) / passed if passed else 0.0


def _processor() -> str:
    found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    return found.group(1) if found else platform.machine()


def _ptrace_scope() -> str:
    """Return Yama's setting, which limits attaching (the kernel's admin-guide/LSM/Yama.rst)."""
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    return scope.read_text("utf-8").strip() if scope.exists() else "none"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
