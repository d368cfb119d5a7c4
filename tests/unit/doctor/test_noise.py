"""Checks of what disturbs times, from a folder that stands for the root folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from profkit.doctor.container import ContainerFacts
from profkit.doctor.noise import NoiseFacts, Use, current_use, noise_checks, noise_facts
from profkit.doctor.system import SystemFacts
from profkit.model.checkup import Check, Status

QUIET = NoiseFacts(cores=8, all_cores=8, load=0.3, stolen=0.0)
CPU = "sys/devices/system/cpu"


V2, V1 = "sys/fs/cgroup", "sys/fs/cgroup/cpu,cpuacct"
NOT_CONTAINED = SystemFacts()
DOCKER = SystemFacts(ContainerFacts("docker", "/.dockerenv"), is_root=True)


def checked(facts: NoiseFacts, system: SystemFacts = NOT_CONTAINED) -> dict[str, Check]:
    return {check.name: check for check in noise_checks(facts, system)}


def quota_files(folder: str, quota: int, period: int = 100_000) -> dict[str, str]:
    """Return the files of a quota of version 1."""
    return {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": f"{period}\n"}


def read(root: Path, files: dict[str, str]) -> NoiseFacts:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return noise_facts(Use(), root)


def test_a_quiet_machine() -> None:
    checks = checked(QUIET)
    assert list(checks) == ["cores", "load", "steal", "frequency", "turbo", "ASLR"]
    assert {check.status for check in checks.values()} == {Status.OK}


def test_few_cores() -> None:
    one = checked(replace(QUIET, cores=1))["cores"]
    assert (one.status, one.found, one.fix) == (Status.SHORTFALL, "1 of 8", "taskset -c 0-7 COMMAND")
    assert checked(replace(QUIET, cores=1, all_cores=1))["cores"].fix == "use a larger machine"
    assert checked(replace(QUIET, cores=2))["cores"].status is Status.OK


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
    assert read(tmp_path, files).quota == quota


def test_a_quota_is_a_shortfall() -> None:
    check = checked(replace(QUIET, quota=1.5))["cores"]
    assert (check.status, check.found) == (Status.SHORTFALL, "8 of 8, quota of 1.5")
    assert check.fix == "remove the quota of the control group (systemd: CPUQuota=)"


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
    system = SystemFacts(ContainerFacts(kind))
    assert checked(replace(QUIET, quota=1.5), system)["cores"].fix == fix


def test_a_container_cannot_change_its_host() -> None:
    facts = replace(QUIET, governor="powersave", turbo=True, turbo_switch="echo 1 | sudo tee /sys/x")
    checks = checked(replace(facts, random_layout=0), DOCKER)
    for name in ("frequency", "turbo", "ASLR"):
        assert checks[name].fix.startswith("on the host: "), name
        assert "sudo " in checks[name].fix, name
    own = checked(replace(QUIET, fixed_layout=True), DOCKER)["ASLR"]
    assert own.fix == "start profkit without `setarch -R`"


def test_load() -> None:
    assert checked(replace(QUIET, load=3.9))["load"].status is Status.OK
    check = checked(replace(QUIET, load=4.0))["load"]
    assert (check.status, check.found) == (Status.SHORTFALL, "4.00 in the last minute")


def test_use_of_the_processors(tmp_path: Path) -> None:
    read(
        tmp_path,
        {"proc/loadavg": "1.50 1.00 0.50 2/100 77\n", "proc/stat": "cpu  10 0 20 60 5 0 1 4 9 9\ncpu0 1\n"},
    )
    assert current_use(tmp_path) == Use(load=1.5, ticks=100, stolen=4)
    assert current_use(tmp_path / "nothing") == Use()


def test_steal(tmp_path: Path) -> None:
    read(tmp_path, {"proc/stat": "cpu 0 0 0 1000 0 0 0 50 0 0\n"})
    assert noise_facts(Use(ticks=850, stolen=20), tmp_path).stolen == pytest.approx(0.15)
    since_boot = noise_facts(Use(ticks=1045, stolen=50), tmp_path).stolen
    assert since_boot == pytest.approx(50 / 1050), "too little time has passed"
    check = checked(replace(QUIET, stolen=0.034))["steal"]
    assert (check.status, check.found) == (Status.SHORTFALL, "3.4 % of the time")
    assert "--mode callgrind" in check.fix
    assert checked(replace(QUIET, stolen=None))["steal"].found == "unknown"


def test_frequency_scaling(tmp_path: Path) -> None:
    facts = read(tmp_path, {f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave\n"})
    check = checked(facts)["frequency"]
    assert (check.status, check.found) == (Status.SHORTFALL, "governor powersave")
    assert check.fix == "sudo cpupower frequency-set --governor performance"
    assert checked(replace(facts, governor="performance"))["frequency"].status is Status.OK


@pytest.mark.parametrize(
    ("file", "text", "turbo", "switch"),
    [
        (
            "intel_pstate/no_turbo",
            "0\n",
            True,
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
        ),
        (
            "intel_pstate/no_turbo",
            "1\n",
            False,
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
        ),
        ("cpufreq/boost", "1\n", True, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
        ("cpufreq/boost", "0\n", False, "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"),
    ],
)
def test_turbo(file: str, text: str, turbo: bool, switch: str, tmp_path: Path) -> None:
    facts = read(tmp_path, {f"{CPU}/{file}": text})
    check = checked(facts)["turbo"]
    assert facts.turbo is turbo
    assert check.status is (Status.SHORTFALL if turbo else Status.OK)
    assert check.fix == (switch if turbo else "")


@pytest.mark.parametrize(
    ("files", "found", "fix"),
    [
        ({"proc/sys/kernel/randomize_va_space": "0\n"}, "off", "sudo sysctl kernel.randomize_va_space=2"),
        (
            {"proc/sys/kernel/randomize_va_space": "1\n"},
            "on without the heap",
            "sudo sysctl kernel.randomize_va_space=2",
        ),
        (
            {"proc/self/personality": "00040000\n"},
            "off for this process",
            "start profkit without `setarch -R`",
        ),
    ],
)
def test_one_memory_layout_for_all(files: dict[str, str], found: str, fix: str, tmp_path: Path) -> None:
    check = checked(read(tmp_path, files))["ASLR"]
    assert (check.status, check.found, check.fix) == (Status.SHORTFALL, found, fix)


def test_this_machine() -> None:
    facts = noise_facts(current_use())
    assert 1 <= facts.cores <= facts.all_cores
    assert facts.stolen is not None
    assert 0 <= facts.stolen <= 1
