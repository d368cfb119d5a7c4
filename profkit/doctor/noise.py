"""Checks of what disturbs times: cores, quota, load, steal, frequency, memory layout."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.container import KUBERNETES
from profkit.doctor.places import text_of
from profkit.doctor.system import SystemFacts
from profkit.model.checkup import Check, Group, Status

_GROUP = Group.NOISE
_MUCH_LOAD = 0.5
"""Runnable tasks per core at which timing processes begin to wait often."""
_MUCH_STEAL = 0.01
_FEWEST_TICKS = 20
_TOTAL, _STEAL = 8, 7
"""Number of fields of a line of /proc/stat that are time, and the index of the stolen time."""
_NO_RANDOM_LAYOUT = 0x0040000
"""ADDR_NO_RANDOMIZE in personality(2)."""
_GROUPS = re.compile(r"^\d+:(.*?):/?(.*)$", re.MULTILINE)
"""Lines of /proc/self/cgroup: controllers, none for version 2, and the path of the group."""
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


@dataclass(frozen=True, slots=True)
class NoiseFacts:
    """Facts about the processors and their use."""

    cores: int
    """Cores that this process may use."""
    all_cores: int
    quota: float | None = None
    """Cores for whose time the control group has a quota; None without a quota."""
    load: float = 0.0
    """Runnable tasks, mean of the minute before the trials."""
    stolen: float | None = None
    """Share of stolen time; None if it is unknown."""
    governor: str | None = None
    """None if the machine does not show how its frequency is scaled."""
    turbo: bool | None = None
    """None if the machine does not show it."""
    turbo_switch: str = ""
    """Command that turns it off."""
    random_layout: int = 2
    """kernel.randomize_va_space: 0 is off, 1 leaves out the heap."""
    fixed_layout: bool = False
    """True if this process and its children have turned it off, as by `setarch -R`."""


def current_use(root: Path = Path("/")) -> Use:
    """Return the use of the processors now."""
    load = float((text_of(root / "proc/loadavg").split() or ["0"])[0])
    fields = [int(field) for field in text_of(root / "proc/stat").partition("\n")[0].split()[1:]]
    return Use(load, sum(fields[:_TOTAL]), fields[_STEAL]) if len(fields) >= _TOTAL else Use(load)


def noise_facts(before: Use, root: Path = Path("/")) -> NoiseFacts:
    """Return the facts; the load is that of `before`, and time is stolen since then."""
    cpu = root / "sys/devices/system/cpu"
    turbo, switch = _turbo(root)
    return NoiseFacts(
        cores=len(os.sched_getaffinity(0)),
        all_cores=os.cpu_count() or 1,
        quota=_quota(root),
        load=before.load,
        stolen=_stolen(before, current_use(root)),
        governor=text_of(cpu / "cpu0/cpufreq/scaling_governor").strip() or None,
        turbo=turbo,
        turbo_switch=switch,
        random_layout=_random_layout(root / "proc"),
        fixed_layout=_has_fixed_layout(root / "proc"),
    )


def noise_checks(facts: NoiseFacts, system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks."""
    return (
        _cores_check(facts, system),
        _load_check(facts),
        _steal_check(facts),
        _governor_check(facts, system),
        _turbo_check(facts, system),
        _layout_check(facts, system),
    )


def _cores_check(facts: NoiseFacts, system: SystemFacts) -> Check:
    found = f"{facts.cores} of {facts.all_cores}"
    if facts.quota is not None and facts.quota < facts.cores:
        found += f", quota of {facts.quota:.3g}"
        cost = "the control group stops programs that have used up their quota, in the middle of a block"
        return Check(_GROUP, "cores", Status.SHORTFALL, found, cost, _lift_quota(facts, system))
    if facts.cores == 1:
        cost = "the sampler, and everything else, takes time from the program"
        fix = f"taskset -c 0-{facts.all_cores - 1} COMMAND" if facts.all_cores > 1 else "use a larger machine"
        return Check(_GROUP, "cores", Status.SHORTFALL, found, cost, fix)
    return Check(_GROUP, "cores", Status.OK, found)


def _lift_quota(facts: NoiseFacts, system: SystemFacts) -> str:
    command = system.container.run_with(f"--cpuset-cpus 0-{facts.cores - 1}")
    if command is not None:
        return f"{command}, instead of --cpus"
    if system.container.kind == KUBERNETES:
        return "leave out limits: {cpu: …} of the pod's resources"
    return "remove the quota of the control group (systemd: CPUQuota=)"


def _load_check(facts: NoiseFacts) -> Check:
    found = f"{facts.load:.2f} in the last minute"
    if facts.load < _MUCH_LOAD * facts.cores:
        return Check(_GROUP, "load", Status.OK, found)
    cost = "other programs take time from timing processes, which then have warnings; counts are exact anyway"
    return Check(_GROUP, "load", Status.SHORTFALL, found, cost, "end the programs that `top -o %CPU` shows")


def _steal_check(facts: NoiseFacts) -> Check:
    if facts.stolen is None:
        return Check(_GROUP, "steal", Status.OK, "unknown")
    found = f"{100 * facts.stolen:.1f} % of the time"
    if facts.stolen < _MUCH_STEAL:
        return Check(_GROUP, "steal", Status.OK, found)
    fix = "use a machine with processors of its own, or count: profkit measure --mode callgrind"
    return Check(_GROUP, "steal", Status.SHORTFALL, found, f"the host runs other machines: {_SCATTER}", fix)


def _governor_check(facts: NoiseFacts, system: SystemFacts) -> Check:
    if facts.governor is None:
        return Check(_GROUP, "frequency", Status.OK, "scaling is not visible")
    if facts.governor == "performance":
        return Check(_GROUP, "frequency", Status.OK, "governor performance")
    cost = f"the frequency follows the load: {_SCATTER}"
    fix = system.for_kernel("sudo cpupower frequency-set --governor performance")
    return Check(_GROUP, "frequency", Status.SHORTFALL, f"governor {facts.governor}", cost, fix)


def _turbo_check(facts: NoiseFacts, system: SystemFacts) -> Check:
    if facts.turbo is None:
        return Check(_GROUP, "turbo", Status.OK, "not visible")
    if not facts.turbo:
        return Check(_GROUP, "turbo", Status.OK, "off")
    cost = f"the frequency depends on temperature and on other cores: {_SCATTER}"
    fix = system.for_kernel(facts.turbo_switch)
    return Check(_GROUP, "turbo", Status.SHORTFALL, "on", cost, fix)


def _layout_check(facts: NoiseFacts, system: SystemFacts) -> Check:
    if facts.random_layout == 2 and not facts.fixed_layout:
        return Check(_GROUP, "ASLR", Status.OK, "on: each timing process has its own memory layout")
    cost = "all processes have one memory layout, so intervals leave out its effect of up to 10 %"
    found, fix = "off for this process", "start profkit without `setarch -R`"
    if facts.random_layout != 2:
        found = "off" if not facts.random_layout else "on without the heap"
        fix = system.for_kernel("sudo sysctl kernel.randomize_va_space=2")
    return Check(_GROUP, "ASLR", Status.SHORTFALL, found, cost, fix)


def _stolen(before: Use, after: Use) -> float | None:
    """Return the share between two moments, or since boot if they are too close."""
    ticks, stolen = after.ticks - before.ticks, after.stolen - before.stolen
    if ticks < _FEWEST_TICKS:
        ticks, stolen = after.ticks, after.stolen
    return stolen / ticks if ticks else None


def _quota(root: Path) -> float | None:
    """Return the CPU quota of this process in cores: the smallest of its control group and all above it."""
    quotas = (_quota_of(folder) for folder in _groups_with_quotas(root))
    return min((quota for quota in quotas if quota is not None), default=None)


def _groups_with_quotas(root: Path) -> Iterator[Path]:
    """Yield the folders in which this process's groups of version 2 and 1 would be; see cgroups(7)."""
    base = root / "sys/fs/cgroup"
    groups = dict(_GROUPS.findall(text_of(root / "proc/self/cgroup")))
    yield from _with_parents(base, groups.get("", ""))
    controllers = next((names for names in groups if "cpu" in names.split(",")), "cpu")
    for mount in {"cpu", "cpu,cpuacct", controllers}:
        yield from _with_parents(base / mount, groups.get(controllers, ""))


def _with_parents(base: Path, group: str) -> Iterator[Path]:
    """Yield the folder of a group, and those above it; in a container, often only the last one exists."""
    parts = [part for part in group.split("/") if part not in ("", "..")]
    yield from (base.joinpath(*parts[:length]) for length in range(len(parts), -1, -1))


def _quota_of(folder: Path) -> float | None:
    """Return the quota of one group in cores: of version 2, else of version 1; None without a quota."""
    quota, _, period = text_of(folder / "cpu.max").strip().partition(" ")
    if not period:
        quota, period = (text_of(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period"))
    if not quota.isdecimal() or not period.isdecimal() or not int(period):
        return None
    return int(quota) / int(period)


def _turbo(root: Path) -> tuple[bool | None, str]:
    """Return whether processors may exceed their nominal frequency, and the command that forbids it."""
    for path, on, off in ((_NO_TURBO, "0", "1"), (_BOOST, "1", "0")):
        text = text_of(root / path.lstrip("/")).strip()
        if text:
            return text == on, f"echo {off} | sudo tee {path}"
    return None, ""


def _random_layout(proc: Path) -> int:
    text = text_of(proc / "sys/kernel/randomize_va_space").strip()
    return int(text) if text.isdecimal() else 2


def _has_fixed_layout(proc: Path) -> bool:
    personality = text_of(proc / "self/personality").strip()
    return bool(personality) and bool(int(personality, 16) & _NO_RANDOM_LAYOUT)
