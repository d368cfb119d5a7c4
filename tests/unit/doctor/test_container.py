"""Containers and PID namespaces, found by the files that runtimes leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.doctor.container import INITIAL_PID_NAMESPACE, ContainerFacts, container_facts


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
def test_pid_namespaces(link: str | None, own: bool | None, tmp_path: Path) -> None:
    root = root_with(tmp_path, {"proc/self/ns/x": ""})
    if link is not None:
        (root / "proc/self/ns/pid").symlink_to(link)
    assert container_facts(root, {}).own_pids is own
