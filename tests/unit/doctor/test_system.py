"""Package managers by os-release, commands with and without sudo, containers and PID namespaces."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.doctor.system import (
    INITIAL_PID_NAMESPACE,
    ContainerFacts,
    Manager,
    SystemFacts,
    container_facts,
    system_facts,
)
from tests.support.folders import write_files

DOCKER = ContainerFacts("docker", "/.dockerenv")


@pytest.mark.parametrize(
    ("text", "manager"),
    [
        ("ID=debian\n", Manager.APT),
        ('NAME="Linux Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', Manager.APT),
        ("ID=fedora\n", Manager.DNF),
        ('ID="rhel"\nID_LIKE="fedora"\n', Manager.DNF),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', Manager.DNF),
        ("ID=alpine\nVERSION_ID=3.22.0\n", Manager.APK),
        ("ID=arch\n", Manager.PACMAN),
        ('ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', Manager.ZYPPER),
        ("ID=nixos\n", None),
        ("", None),
    ],
)
def test_package_managers(text: str, manager: Manager | None, tmp_path: Path) -> None:
    facts = system_facts(write_files(tmp_path, {"etc/os-release": text}), {})
    assert facts == SystemFacts(ContainerFacts(own_pids=None), manager, is_root=os.geteuid() == 0)


def test_the_file_of_distributions_themselves(tmp_path: Path) -> None:
    write_files(tmp_path, {"usr/lib/os-release": "ID=fedora\n"})
    assert system_facts(tmp_path, {}).manager is Manager.DNF


BY_THE_SYSTEM = "g++ with the system's package manager"


@pytest.mark.parametrize(
    ("manager", "install", "reinstall"),
    [
        (Manager.APT, "sudo apt-get install g++", "sudo apt-get install --reinstall g++"),
        (Manager.DNF, "sudo dnf install gcc-c++", "sudo dnf reinstall gcc-c++"),
        (Manager.APK, "sudo apk add g++", "sudo apk fix g++"),
        (Manager.PACMAN, "sudo pacman -S gcc", "sudo pacman -S gcc"),
        (Manager.ZYPPER, "sudo zypper install gcc-c++", "sudo zypper install --force gcc-c++"),
        (None, f"install {BY_THE_SYSTEM}", f"reinstall {BY_THE_SYSTEM}"),
    ],
)
def test_packages(manager: Manager | None, install: str, reinstall: str) -> None:
    facts = SystemFacts(manager=manager)
    assert (facts.install("g++"), facts.reinstall("g++")) == (install, reinstall)
    root = replace(facts, is_root=True)
    assert root.install("g++") == install.removeprefix("sudo ")


def test_commands_that_change_the_kernel() -> None:
    command = "echo 1 | sudo tee /sys/x && sudo reboot"
    assert SystemFacts().for_kernel(command) == command
    assert SystemFacts(is_root=True).for_kernel(command) == "echo 1 | tee /sys/x && reboot"
    for is_root in (False, True):
        contained = SystemFacts(DOCKER, is_root=is_root)
        assert contained.for_kernel(command) == f"on the host: {command}", "the user there is unknown"
    assert SystemFacts(ContainerFacts("wsl")).for_kernel(command) == command


@pytest.mark.parametrize(
    ("files", "kind", "sign"),
    [
        ({".dockerenv": ""}, "docker", "/.dockerenv"),
        ({"run/.containerenv": ""}, "podman", "/run/.containerenv"),
        ({"run/systemd/container": "systemd-nspawn\n"}, "systemd-nspawn", "/run/systemd/container"),
        ({"proc/self/cgroup": "0::/kubepods.slice/kubepods-pod1.slice\n"}, "kubernetes", "/proc/self/cgroup"),
        ({"proc/self/cgroup": "4:memory:/docker/0123\n"}, "docker", "/proc/self/cgroup"),
        ({"proc/self/cgroup": "0::/system.slice/docker-0123.scope\n"}, "docker", "/proc/self/cgroup"),
        ({"proc/self/cgroup": "0::/machine.slice/libpod-0123.scope\n"}, "podman", "/proc/self/cgroup"),
        ({"proc/self/cgroup": "0::/lxc.payload.web\n"}, "lxc", "/proc/self/cgroup"),
        ({"proc/self/cgroup": "0::/user.slice/user-1000.slice\n"}, None, ""),
        ({}, None, ""),
    ],
)
def test_signs_of_containers(files: dict[str, str], kind: str | None, sign: str, tmp_path: Path) -> None:
    facts = container_facts(write_files(tmp_path, files), {})
    assert (facts.kind, facts.sign) == (kind, sign)
    assert facts.name.endswith(f"({sign})") if sign else facts.name == "none found"


def test_signs_that_may_not_be_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without permission to search it makes `Path.exists` raise PermissionError."""

    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", deny)
    monkeypatch.setattr(Path, "exists", deny)
    assert container_facts(tmp_path, {}).kind is None


def test_a_pod_of_kubernetes(tmp_path: Path) -> None:
    facts = container_facts(tmp_path, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert facts.kind == "kubernetes"
    grant = 'set securityContext: {capabilities: {add: ["SYS_PTRACE"]}} in the pod'
    assert facts.grant_ptrace() == grant
    assert facts.grant_ptrace(to_root=True) == grant.replace("{cap", "{runAsUser: 0, cap")


@pytest.mark.parametrize("kind", ["docker", "podman"])
def test_commands_of_runtimes(kind: str) -> None:
    facts = ContainerFacts(kind)
    assert facts.run_with("--runtime=runc") == f"{kind} run --runtime=runc …"
    assert facts.grant_ptrace() == f"{kind} run --cap-add SYS_PTRACE …"
    assert facts.grant_ptrace(to_root=True) == f"{kind} run --cap-add SYS_PTRACE --user root …"
    assert facts.grant_gpus().startswith(f"{kind} run --")
    assert facts.shares_kernel


@pytest.mark.parametrize("kind", [None, "wsl", "lxc", "systemd-nspawn", "containerd"])
def test_kinds_without_a_command(kind: str | None) -> None:
    facts = ContainerFacts(kind)
    assert facts.run_with("--gpus all") is None
    assert facts.grant_ptrace() is None
    assert " run " not in facts.grant_gpus()
    assert facts.shares_kernel is (kind not in (None, "wsl"))


@pytest.mark.parametrize(
    ("link", "own"), [(INITIAL_PID_NAMESPACE, False), ("pid:[4026532000]", True), (None, None)]
)
def test_pid_namespaces_of_containers(link: str | None, own: bool | None, tmp_path: Path) -> None:
    root = write_files(tmp_path, {"proc/self/ns/x": ""})
    if link is not None:
        (root / "proc/self/ns/pid").symlink_to(link)
    assert container_facts(root, {}).own_pids is own
