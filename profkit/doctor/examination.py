"""The whole examination: facts, trials, and the checks made from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from profkit.config import Config
from profkit.doctor import interpreter, noise, storage, tools
from profkit.doctor.container import container_checks, container_facts
from profkit.doctor.permissions import permission_checks, permission_facts
from profkit.doctor.places import trial_folder
from profkit.doctor.sampling import sampling_checks
from profkit.doctor.timed_worker import worker_check
from profkit.doctor.trials import Trial, try_way, ways
from profkit.model.checkup import Check, Checkup, Group, has_failed


def examine(config: Config) -> Checkup:
    """Examine this machine: read its facts, and try each sampler and a worker.

    Leaves nothing behind, and does not create a spool or a store. Takes a few seconds. Raises
    SpoolUnavailable if not even temporary files can be written.
    """
    before = noise.current_use()
    with trial_folder(config.spool) as name:
        checks = tuple(_checks(config, Path(name)))
    checks += noise.noise_checks(noise.noise_facts(before))
    return checkup_of(checks)


def checkup_of(checks: tuple[Check, ...]) -> Checkup:
    """Return the checkup: a main use works if no check that it depends on has failed."""
    of_groups = Checkup(sampling=False, timing=False, checks=checks).of
    return Checkup(
        sampling=not has_failed((*of_groups(Group.SAMPLERS), *of_groups(Group.STORAGE))),
        timing=not has_failed(of_groups(Group.MEASURING)),
        checks=checks,
    )


def _checks(config: Config, folder: Path) -> Iterator[Check]:
    """Yield the checks in the order of the report."""
    container = container_facts()
    permissions = permission_facts(Path("/"), folder / "calls.log")
    yield interpreter.switches_check(config)
    yield from interpreter.interpreter_checks(interpreter.interpreter_facts())
    yield from sampling_checks(_trials(folder), permissions, container)
    yield from permission_checks(permissions, container)
    yield from container_checks(container)
    yield worker_check()
    yield tools.valgrind_check(tools.valgrind_facts(folder))
    yield tools.compiler_check(tools.compiler_facts())
    yield from tools.torch_checks(tools.torch_facts())
    yield tools.machine_check()
    disks = storage.disk_facts(config)
    yield from storage.storage_checks(storage.spool_facts(config), storage.store_facts(config), disks)


def _trials(folder: Path) -> tuple[Trial, ...]:
    trials = []
    for number, way in enumerate(ways()):
        own = folder / f"trial-{number}"
        own.mkdir()
        trials.append(try_way(way, own))
    return tuple(trials)
