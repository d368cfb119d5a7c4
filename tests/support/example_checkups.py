"""Checkups of three machines: one that lacks nothing, one with shortfalls, and one where nothing works."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from profkit.clock import ManualClock
from profkit.config import read_config
from profkit.doctor.container import ContainerFacts
from profkit.doctor.elf import Symbols
from profkit.doctor.examination import checkup_of
from profkit.doctor.interpreter import InterpreterFacts, interpreter_checks, switches_check
from profkit.doctor.noise import NoiseFacts, noise_checks
from profkit.doctor.permissions import PermissionFacts, permission_checks
from profkit.doctor.sampling import sampling_checks
from profkit.doctor.storage import DiskFacts, SpoolFacts, StoreFacts, TemporaryFacts, storage_checks
from profkit.doctor.system import Manager, SystemFacts
from profkit.doctor.timed_worker import worker_check
from profkit.doctor.tools import (
    CacheFacts,
    ToolFacts,
    cache_check,
    compiler_check,
    machine_check,
    valgrind_check,
)
from profkit.doctor.torch_files import TorchFacts, torch_checks
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
_INTERPRETER = InterpreterFacts(
    version="3.13.2", release=(3, 13), implementation="cpython", free_threaded=False, has_gil=True,
    code=Path("/usr/bin/python3.13"), symbols=Symbols(has_table=False, build_id=None), debug_file=None,
    is_packaged=True,
)  # fmt: skip
_PERMISSIONS = PermissionFacts(
    AttachFacts(sampler_user=1000, filters=1, yama_scope=1), refusals={PTRACE: "EPERM"}, has_yama=True
)
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
    places = Path("/home/ann/app"), Path("/tmp")
    return checkup_of(
        (
            replace(switches_check(read_config({}, places[0]), {}), found="version 0.1.0"),
            *interpreter_checks(_INTERPRETER, _SYSTEM),
            *sampling_checks(_TRIALS, _PERMISSIONS, _SYSTEM, (_BLOCKING, _NONBLOCKING, _INPROCESS)),
            *permission_checks(_PERMISSIONS, _SYSTEM),
            _worker_check(),
            valgrind_check(ToolFacts(), _SYSTEM),
            compiler_check(ToolFacts("/usr/bin/g++", "g++ (Debian 14.2.0-19) 14.2.0"), _SYSTEM),
            cache_check(CacheFacts(Path("/home/ann/.cache/profkit/cpp"), exists=False)),
            *torch_checks(TorchFacts(Path("/usr/lib/python3/dist-packages/torch"), "2.13.0+cpu"), _SYSTEM),
            machine_check("x86_64"),
            *storage_checks(
                SpoolFacts(places[0] / ".profkit/spool", size_bytes=48 * 2**10, limit_bytes=2**30),
                StoreFacts(f"sqlite:///{places[0]}/.profkit/runs.db"),
                TemporaryFacts(places[1]),
                (DiskFacts(places[0], 81 * 2**30, 252 * 2**30),),
                _SYSTEM,
            ),
            *noise_checks(NoiseFacts(cores=8, all_cores=8, load=0.41, stolen=0.0), _SYSTEM),
        )
    )


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
