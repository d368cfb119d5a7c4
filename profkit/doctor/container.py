"""Container and PID namespace of this process, and the commands that grant permissions in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.places import text_of
from profkit.model.checkup import Check, Group, Status

INITIAL_PID_NAMESPACE = "pid:[4026531836]"
"""Link of the first PID namespace (PROC_PID_INIT_INO in the kernel's proc_ns.h)."""

_CGROUPS = (
    ("kubernetes", re.compile(r"kubepods")),
    ("docker", re.compile(r"/docker[-/]")),
    ("podman", re.compile(r"libpod")),
    ("containerd", re.compile(r"containerd")),
    ("lxc", re.compile(r"/lxc[./]")),
)
_NAMES = {"docker": "Docker", "podman": "Podman", "kubernetes": "Kubernetes", "lxc": "LXC"}
_NO_PROC = "/proc shows another PID namespace"


@dataclass(frozen=True, slots=True)
class ContainerFacts:
    """What contains this process."""

    kind: str | None = None
    """Name such as "docker" or "kubernetes"; None if there is no sign of a container."""
    sign: str = ""
    """File or variable that shows it."""
    own_pids: bool | None = False
    """True if the PID namespace is not the first one; None if unknown."""
    foreign_proc: bool = False
    """True if /proc is that of another PID namespace."""


def container_facts(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> ContainerFacts:
    """Return the facts from the files that container runtimes leave, and from /proc."""
    kind, sign = _kind_and_sign(root, environ)
    proc = root / "proc/self"
    namespaces = re.search(r"^NSpid:(.*)$", text_of(proc / "status"), re.MULTILINE)
    return ContainerFacts(
        kind, sign, _has_own_pids(proc / "ns/pid"), len(namespaces[1].split()) > 1 if namespaces else False
    )


def container_checks(facts: ContainerFacts) -> tuple[Check, ...]:
    """Return the checks of the container and of the PID namespace."""
    found = f"{_NAMES.get(facts.kind, facts.kind)} ({facts.sign})" if facts.kind else "none found"
    return Check(Group.PERMISSIONS, "container", Status.OK, found), _namespace_check(facts)


def docker_like(facts: ContainerFacts, option: str) -> str:
    """Return the command that starts a container with an option, for Docker unless it is Podman."""
    return f"{'podman' if facts.kind == 'podman' else 'docker'} run {option} …"


def grant_ptrace(facts: ContainerFacts) -> str:
    """Return how to let a container trace its processes; with the capability, runtimes permit the calls."""
    if facts.kind == "kubernetes":
        return 'set securityContext: {capabilities: {add: ["SYS_PTRACE"]}} in the pod'
    return docker_like(facts, "--cap-add SYS_PTRACE")


def _namespace_check(facts: ContainerFacts) -> Check:
    if facts.foreign_proc:
        cost = "samplers cannot find the processes that they sample"
        fix = "sudo mount -t proc proc /proc"
        return Check(Group.PERMISSIONS, "PID namespace", Status.SHORTFALL, _NO_PROC, cost, fix)
    words = {None: "unknown", True: "its own, with its /proc", False: "the first one"}
    return Check(Group.PERMISSIONS, "PID namespace", Status.OK, words[facts.own_pids])


def _kind_and_sign(root: Path, environ: Mapping[str, str]) -> tuple[str | None, str]:
    if "KUBERNETES_SERVICE_HOST" in environ:
        return "kubernetes", "KUBERNETES_SERVICE_HOST"
    for kind, name in (("podman", "run/.containerenv"), ("docker", ".dockerenv")):
        if (root / name).exists():
            return kind, f"/{name}"
    cgroup = text_of(root / "proc/self/cgroup")
    for kind, pattern in _CGROUPS:
        if pattern.search(cgroup):
            return kind, "/proc/self/cgroup"
    systemd = text_of(root / "run/systemd/container").strip()
    return (systemd, "/run/systemd/container") if systemd else (None, "")


def _has_own_pids(link: Path) -> bool | None:
    try:
        return os.readlink(link) != INITIAL_PID_NAMESPACE
    except OSError:  # no /proc, or an old kernel
        return None
