"""Checks of what disturbs times: cores, quota, load, steal, frequency, memory layout."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.system import KUBERNETES, SystemFacts, text_of
from profkit.model.checkup import Check, Group, Status
from profkit.process.procfs import quota_of_process

_GROUP = Group.NOISE
_MUCH_LOAD = 0.5
"""Runnable tasks per core at which timing processes begin to wait often."""
_MUCH_STEAL = 0.01
_FEWEST_TICKS = 20
_TOTAL, _STEAL = 8, 7
"""Number of fields of a line of /proc/stat that are time, and the index of the stolen time."""
_NO_RANDOM_LAYOUT = 0x0040000
"""ADDR_NO_RANDOMIZE in personality(2)."""
_SCATTER = "times scatter and drift"
_NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_BOOST = "/sys/devices/system/cpu/cpufreq/boost"


@dataclass(frozen=True, slots=True)
class Use:
    """Use of the processors at one moment."""

    load: float = 0.0
    """Runnable tasks, mean of the last minute."""
    ticks: int = 0
    """Time of all processors since boot."""
    stolen: int = 0
    """Part of it in which the host ran something else."""


def current_use(root: Path = Path("/")) -> Use:
    """Return the use of the processors now."""
    load = float((text_of(root / "proc/loadavg").split() or ["0"])[0])
    fields = [int(field) for field in text_of(root / "proc/stat").partition("\n")[0].split()[1:]]
    return Use(load, sum(fields[:_TOTAL]), fields[_STEAL]) if len(fields) >= _TOTAL else Use(load)


def noise_checks(before: Use, system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks; the load is that of `before`, and time is stolen since then."""
    cores = len(os.sched_getaffinity(0))
    return (
        cores_check(cores, os.cpu_count() or 1, quota_of_process(), system),
        load_check(before.load, cores),
        steal_check(before, current_use()),
        governor_check(system),
        turbo_check(system),
        layout_check(system),
    )


def cores_check(cores: int, all_cores: int, quota: float | None, system: SystemFacts) -> Check:
    """Return the check of the cores that this process may use, and of the quota of their time."""
    found = f"{cores} of {all_cores}"
    if quota is not None and quota < cores:
        found += f", quota of {quota:.3g}"
        cost = "the control group stops programs that have used up their quota, in the middle of a block"
        return Check(_GROUP, "cores", Status.SHORTFALL, found, cost, _lift_quota(cores, system))
    if cores == 1:
        cost = "the sampler, and everything else, takes time from the program"
        fix = f"taskset -c 0-{all_cores - 1} COMMAND" if all_cores > 1 else "use a larger machine"
        return Check(_GROUP, "cores", Status.SHORTFALL, found, cost, fix)
    return Check(_GROUP, "cores", Status.OK, found)


def _lift_quota(cores: int, system: SystemFacts) -> str:
    command = system.container.run_with(f"--cpuset-cpus 0-{cores - 1}")
    if command is not None:
        return f"{command}, instead of --cpus"
    if system.container.kind == KUBERNETES:
        return "leave out limits: {cpu: …} of the pod's resources"
    return "remove the quota of the control group (systemd: CPUQuota=)"


def load_check(load: float, cores: int) -> Check:
    """Return the check of the load of the last minute before the trials."""
    found = f"{load:.2f} in the last minute"
    if load < _MUCH_LOAD * cores:
        return Check(_GROUP, "load", Status.OK, found)
    cost = "other programs take time from timing processes, which then have warnings; counts are exact anyway"
    return Check(_GROUP, "load", Status.SHORTFALL, found, cost, "end the programs that `top -o %CPU` shows")


def steal_check(before: Use, after: Use) -> Check:
    """Return the check of the time stolen between two moments, or since boot if they are too close."""
    ticks, stolen = after.ticks - before.ticks, after.stolen - before.stolen
    if ticks < _FEWEST_TICKS:
        ticks, stolen = after.ticks, after.stolen
    if not ticks:
        return Check(_GROUP, "steal", Status.OK, "unknown")
    found = f"{100 * stolen / ticks:.1f} % of the time"
    if stolen / ticks < _MUCH_STEAL:
        return Check(_GROUP, "steal", Status.OK, found)
    fix = "use a machine with processors of its own, or count: profkit measure --mode callgrind"
    return Check(_GROUP, "steal", Status.SHORTFALL, found, f"the host runs other machines: {_SCATTER}", fix)


def governor_check(system: SystemFacts, root: Path = Path("/")) -> Check:
    """Return the check of the scaling of the processors' frequency."""
    governor = text_of(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()
    if governor in ("", "performance"):
        found = f"governor {governor}" if governor else "scaling is not visible"
        return Check(_GROUP, "frequency", Status.OK, found)
    cost = f"the frequency follows the load: {_SCATTER}"
    fix = system.for_kernel("sudo cpupower frequency-set --governor performance")
    return Check(_GROUP, "frequency", Status.SHORTFALL, f"governor {governor}", cost, fix)


def turbo_check(system: SystemFacts, root: Path = Path("/")) -> Check:
    """Return the check whether processors may exceed their nominal frequency."""
    for path, on, off in ((_NO_TURBO, "0", "1"), (_BOOST, "1", "0")):
        text = text_of(root / path.lstrip("/")).strip()
        if text == on:
            cost = f"the frequency depends on temperature and on other cores: {_SCATTER}"
            fix = system.for_kernel(f"echo {off} | sudo tee {path}")
            return Check(_GROUP, "turbo", Status.SHORTFALL, "on", cost, fix)
        if text:
            return Check(_GROUP, "turbo", Status.OK, "off")
    return Check(_GROUP, "turbo", Status.OK, "not visible")


def layout_check(system: SystemFacts, root: Path = Path("/")) -> Check:
    """Return the check of the random memory layout, which `setarch -R` turns off for its children."""
    randomness = text_of(root / "proc/sys/kernel/randomize_va_space").strip()
    personality = text_of(root / "proc/self/personality").strip() or "0"
    found = {"0": "off", "1": "on without the heap"}.get(randomness)
    fix = system.for_kernel("sudo sysctl kernel.randomize_va_space=2")
    if found is None and int(personality, 16) & _NO_RANDOM_LAYOUT:
        found, fix = "off for this process", "start profkit without `setarch -R`"
    if found is None:
        return Check(_GROUP, "ASLR", Status.OK, "on: each timing process has its own memory layout")
    cost = "all processes have one memory layout, so intervals leave out its effect of up to 10 %"
    return Check(_GROUP, "ASLR", Status.SHORTFALL, found, cost, fix)
