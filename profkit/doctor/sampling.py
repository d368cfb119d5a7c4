"""Checks of samplers, made from the trials of them."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.doctor.container import ContainerFacts
from profkit.doctor.permissions import PermissionFacts, fix_of_denial
from profkit.doctor.trials import Trial
from profkit.errors import SamplerMissing
from profkit.model.checkup import Check, Group, Status
from profkit.render.formatting import count
from profkit.units import format_duration

_COSTS = {
    "cpython": "py-spy samples instead: at 100 Hz, not 1,000 Hz, and at a higher cost for the program",
    "pyspy, blocking": "callers of short functions may be wrong, as stacks are read while they change",
    "pyspy, nonblocking": "programs that must not be stopped, as those with socket timeouts, are not sampled",
}
_NO_SAMPLER = "no program can be sampled here"
_INSTALL = {"pyspy": "python -m pip install py-spy"}
"""Commands that install the program of a sampler; the others come with Python, or are not public."""
_LOG = "run it again; if it fails again, look for what kills processes, and for free memory"


def sampling_checks(
    trials: Sequence[Trial], permissions: PermissionFacts, container: ContainerFacts
) -> tuple[Check, ...]:
    """Return a check for each trial: a failed trial is a failed check if no trial worked."""
    worst = Status.SHORTFALL if any(trial.worked for trial in trials) else Status.FAILED
    return tuple(_check(trial, worst, permissions, container) for trial in trials)


def _check(trial: Trial, worst: Status, permissions: PermissionFacts, container: ContainerFacts) -> Check:
    name = trial.way.name
    if trial.worked:
        return Check(Group.SAMPLERS, name, Status.OK, _found(trial), took_s=trial.took_s)
    if trial.missing is not None:
        return _missing_check(trial.way.sampler, name, trial.missing, worst)
    cost = _NO_SAMPLER if worst is Status.FAILED else _cost(trial.way.sampler, name)
    if trial.error is None:
        found, fix = f"{_found(trial)}; the trial has no samples", _LOG
    else:
        found, fix = trial.error.message, trial.error.fix
        if trial.error.cause is not None:
            fix = fix_of_denial(trial.error.cause, permissions, container, fix)
    return Check(Group.SAMPLERS, name, worst, found, cost, fix or _LOG, trial.took_s)


def _missing_check(sampler: str, name: str, missing: SamplerMissing, worst: Status) -> Check:
    fix = _INSTALL.get(sampler)
    if fix is None:
        return Check(Group.SAMPLERS, name, Status.NOT_APPLICABLE, f"needs {missing.program}")
    cost = _NO_SAMPLER if worst is Status.FAILED else _cost(sampler, name)
    return Check(Group.SAMPLERS, name, worst, f"{missing.program} is not on PATH", cost, fix)


def _cost(sampler: str, name: str) -> str:
    return _COSTS.get(name, f"sampler={sampler!r} cannot be used")


def _found(trial: Trial) -> str:
    """Return what a trial found, such as "0.4.3 · RUNNING after 85 ms · 11 samples"."""
    parts = [] if trial.version is None else [trial.version]
    if trial.running_s is not None:
        parts.append(f"RUNNING after {format_duration(trial.running_s)}")
    parts.append(count(trial.links, "link") if trial.links else count(trial.samples, "sample"))
    return " · ".join(parts)
