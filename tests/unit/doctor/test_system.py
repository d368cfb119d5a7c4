"""Package managers by os-release, and commands with and without sudo."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.doctor.container import ContainerFacts
from profkit.doctor.system import Manager, SystemFacts, system_facts

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
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "os-release").write_text(text)
    facts = system_facts(tmp_path, {})
    assert facts == SystemFacts(ContainerFacts(own_pids=None), manager, is_root=os.geteuid() == 0)


def test_the_file_of_distributions_themselves(tmp_path: Path) -> None:
    folder = tmp_path / "usr" / "lib"
    folder.mkdir(parents=True)
    (folder / "os-release").write_text("ID=fedora\n")
    assert system_facts(tmp_path, {}).manager is Manager.DNF


@pytest.mark.parametrize(
    ("manager", "install", "reinstall"),
    [
        (Manager.APT, "sudo apt-get install g++", "sudo apt-get install --reinstall g++"),
        (Manager.DNF, "sudo dnf install gcc-c++", "sudo dnf reinstall gcc-c++"),
        (Manager.APK, "sudo apk add g++", "sudo apk fix g++"),
        (Manager.PACMAN, "sudo pacman -S gcc", "sudo pacman -S gcc"),
        (Manager.ZYPPER, "sudo zypper install gcc-c++", "sudo zypper install --force gcc-c++"),
        (
            None,
            "install g++ with the system's package manager",
            "reinstall g++ with the system's package manager",
        ),
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
