"""Checks of what disturbs times, from a folder that stands for the root folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.doctor.noise import (
    Use,
    cores_check,
    current_use,
    governor_check,
    layout_check,
    load_check,
    noise_checks,
    steal_check,
    turbo_check,
)
from profkit.doctor.system import ContainerFacts, SystemFacts
from profkit.model.checkup import Status
from tests.support.folders import write_files
from tests.support.outcomes import outcome

OK, SHORTFALL = Status.OK, Status.SHORTFALL
CPU = "sys/devices/system/cpu"
NO_TURBO, BOOST = f"{CPU}/intel_pstate/no_turbo", f"{CPU}/cpufreq/boost"
GOVERNOR = f"{CPU}/cpu0/cpufreq/scaling_governor"
LAYOUT, PERSONALITY = "proc/sys/kernel/randomize_va_space", "proc/self/personality"
NOT_CONTAINED = SystemFacts()
DOCKER = SystemFacts(ContainerFacts("docker", "/.dockerenv"), is_root=True)


@pytest.mark.parametrize(
    ("cores", "all_cores", "quota", "found", "fix"),
    [
        (8, 8, None, "8 of 8", ""),
        (2, 8, None, "2 of 8", ""),
        (1, 8, None, "1 of 8", "taskset -c 0-7 COMMAND"),
        (1, 1, None, "1 of 1", "use a larger machine"),
        (8, 8, 1.5, "8 of 8, quota of 1.5", "remove the quota of the control group (systemd: CPUQuota=)"),
    ],
)
def test_cores(cores: int, all_cores: int, quota: float | None, found: str, fix: str) -> None:
    check = cores_check(cores, all_cores, quota, NOT_CONTAINED)
    assert outcome(check) == (found, fix)


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("docker", "docker run --cpuset-cpus 0-7 …, instead of --cpus"),
        ("podman", "podman run --cpuset-cpus 0-7 …, instead of --cpus"),
        ("kubernetes", "leave out limits: {cpu: …} of the pod's resources"),
        ("lxc", "remove the quota of the control group (systemd: CPUQuota=)"),
    ],
)
def test_quotas_of_containers(kind: str, fix: str) -> None:
    assert cores_check(8, 8, 1.5, SystemFacts(ContainerFacts(kind))).fix == fix


def test_a_container_cannot_change_its_host(tmp_path: Path) -> None:
    write_files(tmp_path, {GOVERNOR: "powersave\n", NO_TURBO: "0\n", LAYOUT: "0\n"})
    for of in (governor_check, turbo_check, layout_check):
        check = of(DOCKER, tmp_path)
        assert check.fix.startswith("on the host: "), check
        assert "sudo " in check.fix, check
    write_files(tmp_path, {LAYOUT: "2\n", PERSONALITY: "00040000\n"})
    assert layout_check(DOCKER, tmp_path).fix == "start profkit without `setarch -R`"


def test_load() -> None:
    assert load_check(3.9, 8).status is OK
    check = load_check(4.0, 8)
    assert (check.status, check.found) == (SHORTFALL, "4.00 in the last minute")


def test_use_of_the_processors(tmp_path: Path) -> None:
    load, stat = "1.50 1.00 0.50 2/100 77\n", "cpu  10 0 20 60 5 0 1 4 9 9\ncpu0 1\n"
    write_files(tmp_path, {"proc/loadavg": load, "proc/stat": stat})
    assert current_use(tmp_path) == Use(load=1.5, ticks=100, stolen=4)
    assert current_use(tmp_path / "nothing") == Use()


@pytest.mark.parametrize(
    ("before", "after", "status", "found"),
    [
        (Use(ticks=850, stolen=20), Use(ticks=1050, stolen=50), SHORTFALL, "15.0 % of the time"),
        (Use(ticks=1045, stolen=50), Use(ticks=1050, stolen=50), SHORTFALL, "4.8 % of the time"),
        (Use(), Use(ticks=1000, stolen=9), OK, "0.9 % of the time"),
        (Use(), Use(), OK, "unknown"),
    ],
    ids=["since then", "since boot: too little time has passed", "little", "unknown"],
)
def test_steal(before: Use, after: Use, status: Status, found: str) -> None:
    check = steal_check(before, after)
    assert (check.status, check.found) == (status, found)
    assert ("--mode callgrind" in check.fix) is (status is SHORTFALL)


@pytest.mark.parametrize(
    ("text", "found", "fix"),
    [
        ("powersave\n", "governor powersave", "sudo cpupower frequency-set --governor performance"),
        ("performance\n", "governor performance", ""),
        ("", "scaling is not visible", ""),
    ],
)
def test_frequency_scaling(text: str, found: str, fix: str, tmp_path: Path) -> None:
    check = governor_check(NOT_CONTAINED, write_files(tmp_path, {GOVERNOR: text}))
    assert outcome(check) == (found, fix)


@pytest.mark.parametrize(
    ("files", "found", "fix"),
    [
        ({NO_TURBO: "0\n"}, "on", f"echo 1 | sudo tee /{NO_TURBO}"),
        ({NO_TURBO: "1\n"}, "off", ""),
        ({BOOST: "1\n"}, "on", f"echo 0 | sudo tee /{BOOST}"),
        ({BOOST: "0\n"}, "off", ""),
        ({}, "not visible", ""),
    ],
)
def test_turbo(files: dict[str, str], found: str, fix: str, tmp_path: Path) -> None:
    check = turbo_check(NOT_CONTAINED, write_files(tmp_path, files))
    assert outcome(check) == (found, fix)


@pytest.mark.parametrize(
    ("files", "found", "fix"),
    [
        ({LAYOUT: "0\n"}, "off", "sudo sysctl kernel.randomize_va_space=2"),
        ({LAYOUT: "1\n"}, "on without the heap", "sudo sysctl kernel.randomize_va_space=2"),
        ({PERSONALITY: "00040000\n"}, "off for this process", "start profkit without `setarch -R`"),
        ({LAYOUT: "2\n", PERSONALITY: "0\n"}, "on: each timing process has its own memory layout", ""),
        ({}, "on: each timing process has its own memory layout", ""),
    ],
)
def test_memory_layouts(files: dict[str, str], found: str, fix: str, tmp_path: Path) -> None:
    check = layout_check(NOT_CONTAINED, write_files(tmp_path, files))
    assert outcome(check) == (found, fix)


def test_this_machine() -> None:
    checks = noise_checks(current_use(), NOT_CONTAINED)
    assert [check.name for check in checks] == ["cores", "load", "steal", "frequency", "turbo", "ASLR"]
    assert checks[2].found.endswith(" % of the time")
