"""Containers and PID namespaces, found by the files that runtimes leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.doctor.container import (
    INITIAL_PID_NAMESPACE,
    ContainerFacts,
    container_checks,
    container_facts,
    docker_like,
    grant_ptrace,
)
from profkit.model.checkup import Status


def root_with(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


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
    facts = container_facts(root_with(tmp_path, files), {})
    assert (facts.kind, facts.sign) == (kind, sign)
    check = container_checks(facts)[0]
    assert check.status is Status.OK
    assert sign in check.found


def test_a_pod_of_kubernetes(tmp_path: Path) -> None:
    facts = container_facts(tmp_path, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert facts.kind == "kubernetes"
    assert "SYS_PTRACE" in grant_ptrace(facts)
    assert "docker" not in grant_ptrace(facts)


def test_commands_of_runtimes() -> None:
    assert grant_ptrace(ContainerFacts("docker")) == "docker run --cap-add SYS_PTRACE …"
    assert grant_ptrace(ContainerFacts("podman")) == "podman run --cap-add SYS_PTRACE …"
    assert docker_like(ContainerFacts(), "--gpus all") == "docker run --gpus all …"


@pytest.mark.parametrize(
    ("link", "own", "found"),
    [
        (INITIAL_PID_NAMESPACE, False, "the first one"),
        ("pid:[4026532000]", True, "its own, with its /proc"),
        (None, None, "unknown"),
    ],
)
def test_pid_namespaces(link: str | None, own: bool | None, found: str, tmp_path: Path) -> None:
    root = root_with(tmp_path, {"proc/self/status": "Name:\tpython\nNSpid:\t500\n", "proc/self/ns/x": ""})
    if link is not None:
        (root / "proc/self/ns/pid").symlink_to(link)
    facts = container_facts(root, {})
    assert (facts.own_pids, facts.foreign_proc) == (own, False)
    check = container_checks(facts)[1]
    assert (check.status, check.found) == (Status.OK, found)


def test_proc_of_another_namespace(tmp_path: Path) -> None:
    facts = container_facts(root_with(tmp_path, {"proc/self/status": "NSpid:\t500\t1\n"}), {})
    assert facts.foreign_proc
    check = container_checks(facts)[1]
    assert (check.status, check.fix) == (Status.SHORTFALL, "sudo mount -t proc proc /proc")
