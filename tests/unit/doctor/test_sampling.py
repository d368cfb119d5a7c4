"""Checks of samplers, made from trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from profkit.doctor.sampling import sampling_checks
from profkit.doctor.system import ContainerFacts, SystemFacts
from profkit.doctor.trials import Candidate, Trial, TrialError
from profkit.errors import SamplerMissing
from profkit.model.checkup import Check, Status
from profkit.samplers.attach_facts import AttachFacts
from profkit.samplers.inprocess.ways import Kind
from profkit.samplers.ptrace import DenialCause

BLOCKING, NONBLOCKING = Candidate("pyspy", True), Candidate("pyspy", False)
CPYTHON, INPROCESS = Candidate("cpython"), Candidate("inprocess")
UNTIL_3_14 = (BLOCKING, NONBLOCKING, INPROCESS)
"""Order of `auto`."""
SINCE_3_15 = (CPYTHON, BLOCKING, NONBLOCKING, INPROCESS)
FREE_THREADED_3_14 = (INPROCESS, CPYTHON, BLOCKING, NONBLOCKING)

GOOD = Trial(NONBLOCKING, "0.4.3", 0.0812, samples=9, kept=True, took_s=0.5)
DENIED = Trial(
    BLOCKING, "0.4.3", kept=True,
    error=TrialError("a seccomp filter refuses ptrace (EPERM)", "allow ptrace", DenialCause.SECCOMP),
)  # fmt: skip
MISSING = Trial(BLOCKING, missing=SamplerMissing("pyspy", "py-spy", "install it"))
TORN = "callers of short functions may be wrong, as stacks are read while they change"
INSIDE = "neither native stacks nor child processes are sampled"


def checked(*trials: Trial, order: Sequence[Candidate] = UNTIL_3_14) -> list[Check]:
    facts = AttachFacts(filters=1)
    return list(sampling_checks(trials, facts, SystemFacts(ContainerFacts("docker")), order))


def good(candidate: Candidate, *inside: Kind) -> Trial:
    return Trial(candidate, samples=9, kept=True, inside=inside)


def failed(candidate: Candidate) -> Trial:
    return Trial(candidate, error=TrialError("it failed"))


@pytest.mark.parametrize(
    ("trial", "found"),
    [
        (GOOD, "0.4.3 · RUNNING after 81.2 ms · 9 samples"),
        (replace(GOOD, repeated=True), "0.4.3 · RUNNING after 81.2 ms · 9 samples · at the second attempt"),
        # One that keeps its samples elsewhere.
        (Trial(Candidate("strobeclient"), None, 0.5, links=3, kept=True), "RUNNING after 500 ms · 3 links"),
    ],
)
def test_a_sampler_that_works(trial: Trial, found: str) -> None:
    (check,) = checked(trial)
    assert (check.name, check.status, check.found) == (trial.candidate.name, Status.OK, found)
    assert check.took_s == trial.took_s


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ((Kind.INTERPRETER,), "subinterpreter"), ((Kind.TIMER,), "timer"), ((Kind.THREAD,), "thread"),
        ((Kind.TIMER, Kind.THREAD), "timer · thread"),
    ],
)  # fmt: skip
def test_how_a_sampler_inside_the_program_reads_stacks(kinds: tuple[Kind, ...], words: str) -> None:
    (check,) = checked(Trial(INPROCESS, "3.15.2", 0.05, samples=9, inside=kinds, kept=True))
    assert check.found == f"3.15.2 · {words} · RUNNING after 50.0 ms · 9 samples"


def test_a_denied_sampler_beside_one_that_works() -> None:
    denied, works = checked(DENIED, GOOD)
    assert (denied.status, works.status) == (Status.SHORTFALL, Status.OK)
    assert denied.found == "a seccomp filter refuses ptrace (EPERM)"
    assert denied.fix == "docker run --cap-add SYS_PTRACE …"


TIMER = good(INPROCESS, Kind.TIMER)
UNSTOPPED = "programs that must not be stopped, such as those with socket timeouts"


@pytest.mark.parametrize(
    ("order", "candidate", "working", "cost"),
    [
        (UNTIL_3_14, BLOCKING, (good(NONBLOCKING),),
         f"`auto` takes nonblocking pyspy instead: {TORN}; native=True cannot be used"),
        (UNTIL_3_14, BLOCKING, (TIMER,),
         f"`auto` takes inprocess instead: {INSIDE}; threads other than the main one are seen mostly "
         "where they release the GIL"),
        (UNTIL_3_14, NONBLOCKING, (good(BLOCKING), TIMER), f"{UNSTOPPED}, are sampled by inprocess"),
        (UNTIL_3_14, NONBLOCKING, (good(BLOCKING),), f"{UNSTOPPED}, are not sampled"),
        (UNTIL_3_14, CPYTHON, (good(BLOCKING), good(NONBLOCKING)),
         "`auto` takes blocking pyspy in any case, but sampler='cpython' cannot be used"),
        (UNTIL_3_14, INPROCESS, (good(BLOCKING),),
         "`auto` takes blocking pyspy in any case, but sampler='inprocess' cannot be used"),
        (SINCE_3_15, BLOCKING, (good(CPYTHON), good(NONBLOCKING)),
         "`auto` takes cpython in any case, but blocking=True and native=True cannot be used"),
        (SINCE_3_15, NONBLOCKING, (good(CPYTHON), good(BLOCKING)),
         "`auto` takes cpython in any case, but sampler='pyspy', blocking=False cannot be used"),
        (SINCE_3_15, CPYTHON, (good(BLOCKING), good(NONBLOCKING)),
         "`auto` takes blocking pyspy instead (100 Hz, not 1,000 Hz): the program stops for each sample"),
        (SINCE_3_15, CPYTHON, (good(INPROCESS, Kind.INTERPRETER),),
         f"`auto` takes inprocess instead (100 Hz, not 1,000 Hz): {INSIDE}"),
        (FREE_THREADED_3_14, INPROCESS, (good(CPYTHON),), "`auto` takes cpython instead"),
        (UNTIL_3_14, BLOCKING, (good(CPYTHON),), "`auto` records calls and wall times without samples"),
    ],
)  # fmt: skip
def test_costs_follow_from_what_auto_takes(
    order: Sequence[Candidate], candidate: Candidate, working: tuple[Trial, ...], cost: str
) -> None:
    check, *_ = checked(failed(candidate), *working, order=order)
    assert (check.status, check.cost) == (Status.SHORTFALL, cost)
    assert check.fix


def test_a_sampler_that_can_never_read_this_python() -> None:
    why = "py-spy does not read free-threaded Python"
    trials = [Trial(candidate, unsupported=why) for candidate in (BLOCKING, NONBLOCKING)]
    for works in (good(INPROCESS), failed(INPROCESS)):
        *never, _ = checked(*trials, works, order=FREE_THREADED_3_14)
        for check in never:
            assert (check.status, check.found) == (Status.NOT_APPLICABLE, why)
            assert check.cost == check.fix == ""


def test_no_sampler_that_works() -> None:
    for check in checked(DENIED, MISSING):
        assert (check.status, check.cost) == (Status.FAILED, "no program can be sampled here")


def test_samplers_that_are_missing() -> None:
    strobeclient = Candidate("strobeclient")
    pyspy, other, _ = checked(
        MISSING, Trial(strobeclient, missing=SamplerMissing("strobeclient", "strobeclient", "")), GOOD
    )
    assert (pyspy.status, pyspy.found) == (Status.SHORTFALL, "py-spy is not on PATH")
    assert pyspy.fix == "python -m pip install py-spy"
    assert (other.status, other.found) == (Status.NOT_APPLICABLE, "needs strobeclient")


def test_a_sampler_without_samples() -> None:
    empty, _ = checked(Trial(BLOCKING, "0.4.3", 0.05, kept=True), GOOD)
    assert empty.status is Status.SHORTFALL
    assert empty.found == "0.4.3 · RUNNING after 50.0 ms · 0 samples; the trial has no samples"
    assert empty.fix


def test_a_sampler_that_somebody_added() -> None:
    check, _ = checked(failed(Candidate("odd")), GOOD)
    assert check.cost == "`auto` takes nonblocking pyspy in any case, but sampler='odd' cannot be used"
