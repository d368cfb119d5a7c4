"""The whole examination: facts, trials, and the checks made from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from profkit.config import Config
from profkit.doctor import interpreter, noise, storage, tools
from profkit.doctor.permissions import PermissionFacts, permission_checks, permission_facts
from profkit.doctor.places import trial_folder
from profkit.doctor.sampling import sampling_checks
from profkit.doctor.system import SystemFacts, system_facts
from profkit.doctor.timed_worker import worker_check
from profkit.doctor.torch_files import torch_checks, torch_facts
from profkit.doctor.trials import Trial, TrialError, auto_order, candidates, not_tried, try_candidate
from profkit.model.checkup import Check, Checkup, Group, has_failed


def examine(config: Config) -> Checkup:
    """Examine this machine: read its facts, and try each sampler and a worker.

    Leaves nothing behind, and does not create a spool or a store. Takes a few seconds.
    """
    before, system = noise.current_use(), system_facts()
    permissions, trials = _tried(config.spool, system)
    checks = tuple(_checks(config, system, permissions, trials))
    checks += noise.noise_checks(noise.noise_facts(before), system)
    return checkup_of(checks)


def checkup_of(checks: tuple[Check, ...]) -> Checkup:
    """Return the checkup: a main use works if no check that it depends on has failed."""
    of_groups = Checkup(sampling=False, timing=False, checks=checks).of
    return Checkup(
        sampling=not has_failed((*of_groups(Group.SAMPLERS), *of_groups(Group.STORAGE))),
        timing=not has_failed(of_groups(Group.MEASURING)),
        checks=checks,
    )


def _tried(spool: Path, system: SystemFacts) -> tuple[PermissionFacts, tuple[Trial, ...]]:
    """Try system calls and samplers; without a folder for their files, only read facts."""
    root = Path("/")
    try:
        folder = trial_folder(spool)
    except OSError as error:
        reason = f"not tried, since no file can be written: {error.strerror or error}"
        failure = TrialError(reason, storage.other_temporary(system))
        return permission_facts(root, None), tuple(not_tried(one, failure) for one in candidates())
    with folder as name:
        return permission_facts(root, Path(name, "calls.log")), _trials(Path(name))


def _checks(
    config: Config, system: SystemFacts, permissions: PermissionFacts, trials: tuple[Trial, ...]
) -> Iterator[Check]:
    """Yield the checks in the order of the report, except those of noise."""
    yield interpreter.switches_check(config)
    yield from interpreter.interpreter_checks(interpreter.interpreter_facts(), system)
    yield from sampling_checks(trials, permissions, system, auto_order())
    yield from permission_checks(permissions, system)
    yield worker_check()
    yield tools.valgrind_check(tools.valgrind_facts(), system)
    yield tools.compiler_check(tools.compiler_facts(), system)
    yield tools.cache_check(tools.cache_facts())
    yield from torch_checks(torch_facts(), system)
    yield tools.machine_check()
    temporary = storage.temporary_facts()
    disks = storage.disk_facts(config, temporary)
    yield from storage.storage_checks(
        storage.spool_facts(config), storage.store_facts(config), temporary, disks, system
    )


def _trials(folder: Path) -> tuple[Trial, ...]:
    trials = []
    for number, candidate in enumerate(candidates()):
        own = folder / f"trial-{number}"
        own.mkdir()
        trials.append(try_candidate(candidate, own))
    return tuple(trials)
