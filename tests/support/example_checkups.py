"""Checkups of three machines: one that lacks nothing, one with shortfalls, and one where nothing works."""

from __future__ import annotations

from profkit.model.checkup import Check, Checkup, Group, Status

OK, SHORTFALL, FAILED, NOT_APPLICABLE = (
    Status.OK, Status.SHORTFALL, Status.FAILED, Status.NOT_APPLICABLE
)  # fmt: skip
GRANT = "docker run --cap-add SYS_PTRACE …"


def well() -> Checkup:
    return Checkup(
        sampling=True,
        timing=True,
        checks=(
            Check(Group.PYTHON, "interpreter", OK, "CPython 3.15.2"),
            Check(Group.SAMPLERS, "cpython", OK, "3.15.2 · RUNNING after 21.4 ms · 11 samples", took_s=0.25),
            Check(Group.SAMPLERS, "strobeclient", NOT_APPLICABLE, "needs strobeclient"),
            Check(Group.MEASURING, "isolated worker", OK, "timed a statement", took_s=0.5),
        ),
    )


def contained() -> Checkup:
    return Checkup(
        sampling=True,
        timing=True,
        checks=(
            Check(Group.PYTHON, "interpreter", OK, "CPython 3.13.2"),
            Check(
                Group.PYTHON, "symbols", SHORTFALL, "none for /usr/bin/python3.13",
                "native stacks and instruction counts name exported functions of the interpreter only; "
                "memory allocators are not recognised, so stripped counts include them",
                "sudo apt-get install python3.13-dbg",
            ),
            Check(Group.SAMPLERS, "cpython", NOT_APPLICABLE, "needs CPython 3.14 or later"),
            Check(
                Group.SAMPLERS, "pyspy, blocking", SHORTFALL, "a seccomp filter refuses ptrace (EPERM)",
                "callers of short functions may be wrong, as stacks are read while they change", GRANT, 0.6,
            ),
            Check(
                Group.SAMPLERS, "pyspy, nonblocking", OK, "0.4.3 · RUNNING after 31.4 ms · 10 samples",
                took_s=0.5,
            ),
            Check(Group.PERMISSIONS, "container", OK, "Docker (/.dockerenv)"),
            Check(Group.MEASURING, "isolated worker", OK, "timed a statement", took_s=0.5),
            Check(
                Group.MEASURING, "valgrind", SHORTFALL, "not on PATH",
                "no instruction counts (--mode callgrind)", "sudo apt-get install valgrind",
            ),
            Check(Group.STORAGE, "spool", OK, "/home/ann/app/.profkit/spool, writable, 48.0 KiB of 1.00 GiB"),
            Check(Group.NOISE, "cores", OK, "8 of 8"),
        ),
    )  # fmt: skip


def broken() -> Checkup:
    return Checkup(
        sampling=False,
        timing=False,
        checks=(
            Check(
                Group.SAMPLERS, "pyspy, blocking", FAILED, "py-spy is not on PATH",
                "no program can be sampled here", "python -m pip install py-spy",
            ),
            Check(
                Group.MEASURING, "isolated worker", FAILED, "it ended\x1b[31m",
                "nothing can be timed or counted", "profkit measure pass", 1.5,
            ),
        ),
    )  # fmt: skip
