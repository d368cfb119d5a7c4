"""Checks of samplers, made from trials."""

from __future__ import annotations

from profkit.doctor.container import ContainerFacts
from profkit.doctor.permissions import PermissionFacts
from profkit.doctor.sampling import sampling_checks
from profkit.doctor.trials import Trial, TrialError, Way
from profkit.errors import SamplerMissing
from profkit.model.checkup import Check, Status
from profkit.samplers.attach_facts import PTRACE, AttachFacts
from profkit.samplers.ptrace import DenialCause

BLOCKING, NONBLOCKING = Way("pyspy", True), Way("pyspy", False)
GOOD = Trial(NONBLOCKING, "0.4.3", 0.0812, samples=9, kept=True, took_s=0.5)
DENIED = Trial(
    BLOCKING, "0.4.3", kept=True,
    error=TrialError("a seccomp filter refuses ptrace (EPERM)", "allow ptrace", DenialCause.SECCOMP),
)  # fmt: skip
MISSING = Trial(BLOCKING, missing=SamplerMissing("pyspy", "py-spy", "install it"))


def checked(*trials: Trial) -> list[Check]:
    permissions = PermissionFacts(AttachFacts(filters=1), refusals={PTRACE: "EPERM"})
    return list(sampling_checks(trials, permissions, ContainerFacts("docker")))


def test_a_sampler_that_works() -> None:
    (check,) = checked(GOOD)
    assert (check.name, check.status, check.took_s) == ("pyspy, nonblocking", Status.OK, 0.5)
    assert check.found == "0.4.3 · RUNNING after 81.2 ms · 9 samples"


def test_a_sampler_that_keeps_its_samples_elsewhere() -> None:
    (check,) = checked(Trial(Way("strobeclient"), None, 0.5, links=3, kept=True))
    assert (check.status, check.found) == (Status.OK, "RUNNING after 500 ms · 3 links")


def test_a_denied_sampler_beside_one_that_works() -> None:
    denied, good = checked(DENIED, GOOD)
    assert (denied.status, good.status) == (Status.SHORTFALL, Status.OK)
    assert denied.found == "a seccomp filter refuses ptrace (EPERM)"
    assert denied.cost.startswith("callers of short functions may be wrong")
    assert denied.fix == "docker run --cap-add SYS_PTRACE …"


def test_no_sampler_that_works() -> None:
    for check in checked(DENIED, MISSING):
        assert (check.status, check.cost) == (Status.FAILED, "no program can be sampled here")


def test_samplers_that_are_missing() -> None:
    pyspy, strobeclient, _ = checked(
        MISSING, Trial(Way("strobeclient"), missing=SamplerMissing("strobeclient", "strobeclient", "")), GOOD
    )
    assert (pyspy.status, pyspy.found) == (Status.SHORTFALL, "py-spy is not on PATH")
    assert pyspy.fix == "python -m pip install py-spy"
    assert (strobeclient.status, strobeclient.found) == (Status.NOT_APPLICABLE, "needs strobeclient")


def test_a_sampler_without_samples() -> None:
    empty, _ = checked(Trial(BLOCKING, "0.4.3", 0.05, kept=True), GOOD)
    assert empty.status is Status.SHORTFALL
    assert empty.found == "0.4.3 · RUNNING after 50.0 ms · 0 samples; the trial has no samples"
    assert empty.fix


def test_a_sampler_that_is_not_known_here() -> None:
    trial = Trial(Way("inprocess"), error=TrialError("it failed"))
    check, _ = checked(trial, GOOD)
    assert (check.status, check.cost) == (Status.SHORTFALL, "sampler='inprocess' cannot be used")
    assert check.fix
