"""Checkups of three machines: one that lacks nothing, one with shortfalls, and one where nothing works."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.doctor.examination import checkup_of
from profkit.doctor.interpreter import switches_check, threading_check, version_check
from profkit.doctor.noise import cores_check, load_check
from profkit.doctor.permissions import capabilities_check, seccomp_check
from profkit.doctor.sampling import sampling_checks
from profkit.doctor.system import ContainerFacts, Manager, SystemFacts
from profkit.doctor.tools import machine_check, worker_check
from profkit.doctor.trials import Candidate, Trial, TrialError
from profkit.errors import SamplerMissing
from profkit.model.checkup import Check, Checkup, Group, Status
from profkit.samplers.attach_facts import PTRACE, AttachFacts
from profkit.samplers.inprocess.ways import Kind
from profkit.samplers.ptrace import DenialCause

OK, SHORTFALL, FAILED, NOT_APPLICABLE = (
    Status.OK, Status.SHORTFALL, Status.FAILED, Status.NOT_APPLICABLE
)  # fmt: skip

_SYSTEM = SystemFacts(ContainerFacts("docker", "/.dockerenv", own_pids=True), Manager.APT)
_BLOCKING, _NONBLOCKING, _INPROCESS = (
    Candidate("pyspy", True),
    Candidate("pyspy", False),
    Candidate("inprocess"),
)
_TRIALS = (
    Trial(Candidate("cpython"), missing=SamplerMissing("cpython", "CPython 3.14 or later", "")),
    Trial(_INPROCESS, "3.13.2", 0.0213, samples=11, inside=(Kind.TIMER,), kept=True, took_s=0.4),
    Trial(
        _BLOCKING, took_s=0.6,
        error=TrialError("a seccomp filter refuses ptrace (EPERM)", cause=DenialCause.SECCOMP),
    ),
    Trial(_NONBLOCKING, "0.4.3", 0.0314, samples=10, kept=True, took_s=0.5),
    Trial(Candidate("strobeclient"), missing=SamplerMissing("strobeclient", "strobeclient", "")),
)  # fmt: skip


_FOUND: dict[Group, tuple[tuple[Any, ...], ...]] = {
    Group.PYTHON: (
        (
            "symbols", SHORTFALL, "none for /usr/bin/python3.13",
            "native stacks and instruction counts name exported functions of the interpreter only; memory "
            "allocators are not recognised, so stripped counts include them",
            "sudo apt-get install python3.13-dbg",
        ),
    ),
    Group.PERMISSIONS: (
        ("no_new_privs", OK, "not set"),
        (
            "Yama", OK,
            "ptrace_scope 1: descendants, and whom the program permits; profkit permits its sampler",
        ),
        ("dumpable", OK, "yes"),
        ("container", OK, "Docker (/.dockerenv)"),
        ("PID namespace", OK, "its own, with its /proc"),
    ),
    Group.MEASURING: (
        (
            "valgrind", SHORTFALL, "not on PATH", "no instruction counts (--mode callgrind)",
            "sudo apt-get install valgrind",
        ),
        ("compiler", OK, "g++ (Debian 14.2.0-19) 14.2.0, /usr/bin/g++"),
        ("C++ cache", OK, "/home/ann/.cache/profkit/cpp does not exist, and can be created"),
        ("torch", OK, "2.13.0+cpu, built without CUDA; files found, not imported"),
        ("CUDA", NOT_APPLICABLE, "no NVIDIA driver, no GPU"),
    ),
    Group.STORAGE: (
        ("spool", OK, "/home/ann/app/.profkit/spool, writable, 48.0 KiB of 1.00 GiB"),
        ("store", OK, "sqlite:////home/ann/app/.profkit/runs.db does not exist, and can be created"),
        ("temporary files", OK, "/tmp, writable"),
        ("disk", OK, "81.0 GiB free of 252 GiB at /home/ann/app"),
    ),
    Group.NOISE: (
        ("steal", OK, "0.0 % of the time"),
        ("frequency", OK, "scaling is not visible"),
        ("turbo", OK, "not visible"),
        ("ASLR", OK, "on: each timing process has its own memory layout"),
    ),
}  # fmt: skip


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
    """Return what `profkit doctor` would report in a container, by its own checks."""
    facts = AttachFacts(sampler_user=1000, filters=1)
    return checkup_of(
        (
            replace(switches_check(read_config({}, Path("/home/ann/app")), {}), found="version 0.1.0"),
            version_check("cpython", "3.13.2", (3, 13)),
            threading_check((3, 13), free_threaded=False, has_gil=True),
            *_found(Group.PYTHON),
            *sampling_checks(_TRIALS, facts, _SYSTEM, (_BLOCKING, _NONBLOCKING, _INPROCESS)),
            capabilities_check(facts),
            seccomp_check(1, {PTRACE: "EPERM"}, _SYSTEM.container),
            *_found(Group.PERMISSIONS),
            _worker_check(),
            *_found(Group.MEASURING),
            machine_check("x86_64"),
            *_found(Group.STORAGE),
            cores_check(8, 8, None, _SYSTEM),
            load_check(0.41, 8),
            *_found(Group.NOISE),
        )
    )


def _found(group: Group) -> tuple[Check, ...]:
    """Return the checks of files that another machine has."""
    return tuple(Check(group, *fields) for fields in _FOUND[group])


def _worker_check() -> Check:
    clock = ManualClock()
    return worker_check(lambda: clock.advance(0.412), clock)


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
