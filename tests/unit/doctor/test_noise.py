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
    quota_of_process,
    steal_check,
    turbo_check,
)
from profkit.doctor.system import ContainerFacts, SystemFacts
from profkit.model.checkup import Status
from tests.support.folders import write_files

OK, SHORTFALL = Status.OK, Status.SHORTFALL
CPU = "sys/devices/system/cpu"
NO_TURBO, BOOST = f"{CPU}/intel_pstate/no_turbo", f"{CPU}/cpufreq/boost"
GOVERNOR = f"{CPU}/cpu0/cpufreq/scaling_governor"
LAYOUT, PERSONALITY = "proc/sys/kernel/randomize_va_space", "proc/self/personality"
V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/cpu,cpuacct"
NOT_CONTAINED = SystemFacts()
DOCKER = SystemFacts(ContainerFacts("docker", "/.dockerenv"), is_root=True)


def quota_files(folder: str, quota: int, period: int = 100_000) -> dict[str, str]:
    """Return the files of a quota of version 1."""
    return {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": f"{period}\n"}


@pytest.mark.parametrize(
    ("cores", "all_cores", "quota", "status", "found", "fix"),
    [
        (8, 8, None, OK, "8 of 8", ""),
        (2, 8, None, OK, "2 of 8", ""),
        (1, 8, None, SHORTFALL, "1 of 8", "taskset -c 0-7 COMMAND"),
        (1, 1, None, SHORTFALL, "1 of 1", "use a larger machine"),
        (
            *(8, 8, 1.5, SHORTFALL, "8 of 8, quota of 1.5"),
            "remove the quota of the control group (systemd: CPUQuota=)",
        ),
    ],
)
def test_cores(
    cores: int, all_cores: int, quota: float | None, status: Status, found: str, fix: str
) -> None:  # fmt: skip
    check = cores_check(cores, all_cores, quota, NOT_CONTAINED)
    assert (check.status, check.found, check.fix) == (status, found, fix)


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


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": "0::/app.slice\n", f"{V2}/app.slice/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "50000 100000\n"}, 0.5),
        ({f"{V2}/cpu.max": "max 100000\n"}, None),
        # A group above has the least quota.
        (
            {
                "proc/self/cgroup": "0::/pod.slice/app.scope\n",
                f"{V2}/pod.slice/app.scope/cpu.max": "400000 100000\n",
                f"{V2}/pod.slice/cpu.max": "150000 100000\n",
                f"{V2}/cpu.max": "max 100000\n",
            },
            1.5,
        ),
        (
            {
                "proc/self/cgroup": "0::/pod.slice/app.scope\n",
                f"{V2}/pod.slice/app.scope/cpu.max": "max 100000\n",
                f"{V2}/pod.slice/cpu.max": "300000 100000\n",
            },
            3,
        ),
        # The own group is outside the namespace that is visible.
        ({"proc/self/cgroup": "0::/../other\n", f"{V2}/cpu.max": "50000 100000\n"}, 0.5),
        (quota_files(f"{V2}/cpu", 25_000), 0.25),
        (quota_files(f"{V2}/cpu", -1), None),
        (quota_files(V1, 50_000), 0.5),
        # Version 1: the own path of the controller `cpu`, and what is above it.
        (
            {
                "proc/self/cgroup": "9:memory:/m\n4:cpu,cpuacct:/a/b\n0::/c\n",
                **quota_files(f"{V1}/a/b", 75_000),
            },
            0.75,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/a/b\n1:name=systemd:/c\n",
                **quota_files(f"{V1}/a/b", 200_000),
                **quota_files(f"{V1}/a", 75_000),
                **quota_files(V1, -1),
            },
            0.75,
        ),
        ({"proc/self/cgroup": "3:cpu:/a\n", **quota_files(f"{V2}/cpu/a", 10_000)}, 0.1),
        # A container sees its own group as the topmost one.
        ({"proc/self/cgroup": "4:cpu,cpuacct:/docker/01\n", **quota_files(V1, 50_000)}, 0.5),
        ({f"{V2}/cpu.max": "50000 0\n"}, None),
        ({}, None),
    ],
)
def test_quotas(files: dict[str, str], quota: float | None, tmp_path: Path) -> None:
    assert quota_of_process(write_files(tmp_path, files)) == quota


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
    ("text", "status", "found", "fix"),
    [
        (
            *("powersave\n", SHORTFALL, "governor powersave"),
            "sudo cpupower frequency-set --governor performance",
        ),
        ("performance\n", OK, "governor performance", ""),
        ("", OK, "scaling is not visible", ""),
    ],
)
def test_frequency_scaling(text: str, status: Status, found: str, fix: str, tmp_path: Path) -> None:
    check = governor_check(NOT_CONTAINED, write_files(tmp_path, {GOVERNOR: text}))
    assert (check.status, check.found, check.fix) == (status, found, fix)


@pytest.mark.parametrize(
    ("files", "status", "found", "fix"),
    [
        ({NO_TURBO: "0\n"}, SHORTFALL, "on", f"echo 1 | sudo tee /{NO_TURBO}"),
        ({NO_TURBO: "1\n"}, OK, "off", ""),
        ({BOOST: "1\n"}, SHORTFALL, "on", f"echo 0 | sudo tee /{BOOST}"),
        ({BOOST: "0\n"}, OK, "off", ""),
        ({}, OK, "not visible", ""),
    ],
)
def test_turbo(files: dict[str, str], status: Status, found: str, fix: str, tmp_path: Path) -> None:
    check = turbo_check(NOT_CONTAINED, write_files(tmp_path, files))
    assert (check.status, check.found, check.fix) == (status, found, fix)


@pytest.mark.parametrize(
    ("files", "status", "found", "fix"),
    [
        ({LAYOUT: "0\n"}, SHORTFALL, "off", "sudo sysctl kernel.randomize_va_space=2"),
        ({LAYOUT: "1\n"}, SHORTFALL, "on without the heap", "sudo sysctl kernel.randomize_va_space=2"),
        (
            {PERSONALITY: "00040000\n"},
            *(SHORTFALL, "off for this process", "start profkit without `setarch -R`"),
        ),
        ({LAYOUT: "2\n", PERSONALITY: "0\n"}, OK, "on: each timing process has its own memory layout", ""),
        ({}, OK, "on: each timing process has its own memory layout", ""),
    ],
)
def test_memory_layouts(
    files: dict[str, str], status: Status, found: str, fix: str, tmp_path: Path
) -> None:  # fmt: skip
    check = layout_check(NOT_CONTAINED, write_files(tmp_path, files))
    assert (check.status, check.found, check.fix) == (status, found, fix)


def test_this_machine() -> None:
    checks = noise_checks(current_use(), NOT_CONTAINED)
    assert [check.name for check in checks] == ["cores", "load", "steal", "frequency", "turbo", "ASLR"]
    assert checks[2].found.endswith(" % of the time")
