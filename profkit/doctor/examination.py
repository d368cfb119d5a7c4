"""The whole examination: facts, trials, the checks made from them, and whether the main uses work."""

from __future__ import annotations

import os
from pathlib import Path

from profkit.config import Config
from profkit.doctor import interpreter, noise, storage, tools
from profkit.doctor.permissions import permission_checks
from profkit.doctor.sampling import sampling_checks
from profkit.doctor.system import SystemFacts, system_facts, trial_folder
from profkit.doctor.trials import Trial, TrialError, auto_order, candidates, not_tried, try_candidate
from profkit.model.checkup import Check, Checkup, Group, has_failed
from profkit.samplers.attach_facts import CallResults, attach_facts, try_calls


def examine(config: Config) -> Checkup:
    """Examine this machine: read its facts, and try each sampler and a worker.

    Leaves nothing behind, and does not create a spool or a store. Takes a few seconds.
    """
    before, system = noise.current_use(), system_facts()
    calls, trials = _tried(config.spool, system)
    attach = attach_facts(os.getpid())
    return checkup_of(
        (
            interpreter.switches_check(config),
            *interpreter.interpreter_checks(system),
            *sampling_checks(trials, attach, system, auto_order()),
            *permission_checks(attach, calls, system),
            tools.worker_check(),
            tools.valgrind_check(system),
            tools.compiler_check(system),
            tools.cache_check(),
            *tools.torch_checks(system),
            tools.machine_check(),
            *storage.storage_checks(config, system),
            *noise.noise_checks(before, system),
        )
    )


def checkup_of(checks: tuple[Check, ...]) -> Checkup:
    """Return the checkup: a main use works if no check that it depends on has failed."""
    of_groups = Checkup(sampling=False, timing=False, checks=checks).of
    return Checkup(
        sampling=not has_failed((*of_groups(Group.SAMPLERS), *of_groups(Group.STORAGE))),
        timing=not has_failed(of_groups(Group.MEASURING)),
        checks=checks,
    )


def _tried(spool: Path, system: SystemFacts) -> tuple[CallResults | None, tuple[Trial, ...]]:
    """Try system calls and samplers, unless there is no folder for their files."""
    try:
        folder = trial_folder(spool)
    except OSError as error:
        reason = f"not tried, since no file can be written: {error.strerror or error}"
        failure = TrialError(reason, storage.other_temporary(system))
        return None, tuple(not_tried(one, failure) for one in candidates())
    with folder as name:
        return try_calls(os.getpid(), Path(name, "calls.log")), _trials(Path(name))


def _trials(folder: Path) -> tuple[Trial, ...]:
    trials = []
    for number, candidate in enumerate(candidates()):
        own = folder / f"trial-{number}"
        own.mkdir()
        trials.append(try_candidate(candidate, own))
    return tuple(trials)
