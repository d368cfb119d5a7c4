"""Container and PID namespace of this process, and the commands that start a container with more rights."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.places import text_of

INITIAL_PID_NAMESPACE = "pid:[4026531836]"
"""Link of the first PID namespace (PROC_PID_INIT_INO in the kernel's proc_ns.h)."""

DOCKER, PODMAN, KUBERNETES = "docker", "podman", "kubernetes"
_OWN_KERNEL = "wsl"
"""A virtual machine that looks like a container: its users can change settings of its kernel."""
_CGROUPS = (
    (KUBERNETES, re.compile(r"kubepods")),
    (DOCKER, re.compile(r"/docker[-/]")),
    (PODMAN, re.compile(r"libpod")),
    ("containerd", re.compile(r"containerd")),
    ("lxc", re.compile(r"/lxc[./]")),
)
_NAMES = {DOCKER: "Docker", PODMAN: "Podman", KUBERNETES: "Kubernetes", "lxc": "LXC", _OWN_KERNEL: "WSL"}
_GPUS = {
    DOCKER: "docker run --gpus all …",
    PODMAN: "podman run --device nvidia.com/gpu=all …",
    KUBERNETES: "set resources: {limits: {nvidia.com/gpu: 1}} in the pod",
}


@dataclass(frozen=True, slots=True)
class ContainerFacts:
    """What contains this process."""

    kind: str | None = None
    """Name such as "docker" or "kubernetes"; None if there is no sign of a container."""
    sign: str = ""
    """File or variable that shows it."""
    own_pids: bool | None = False
    """True if the PID namespace is not the first one; None if unknown."""

    @property
    def name(self) -> str:
        """Name in the report."""
        return "none found" if self.kind is None else f"{_NAMES.get(self.kind, self.kind)} ({self.sign})"

    @property
    def shares_kernel(self) -> bool:
        """Whether settings of the kernel are those of a host outside the container."""
        return self.kind not in (None, _OWN_KERNEL)

    def run_with(self, options: str) -> str | None:
        """Return the command that starts a container with options; None if there is none for this kind."""
        return f"{self.kind} run {options} …" if self.kind in (DOCKER, PODMAN) else None

    def grant_ptrace(self, *, to_root: bool = False) -> str | None:
        """Return how to let a container trace its processes, None if that is unknown for this kind.

        With the capability, runtimes permit the system calls to every user. To use the capability itself, a
        process must be root's (`to_root`).
        """
        if self.kind == KUBERNETES:
            user = "runAsUser: 0, " if to_root else ""
            return f'set securityContext: {{{user}capabilities: {{add: ["SYS_PTRACE"]}}}} in the pod'
        return self.run_with("--cap-add SYS_PTRACE" + (" --user root" if to_root else ""))

    def grant_gpus(self) -> str:
        """Return how to let a container use the GPUs of its host."""
        return _GPUS.get(self.kind or "", "give the container the devices /dev/nvidia* of its host")


def container_facts(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> ContainerFacts:
    """Return the facts from the files that container runtimes leave, and from /proc."""
    kind, sign = _kind_and_sign(root, environ)
    return ContainerFacts(kind, sign, _has_own_pids(root / "proc/self/ns/pid"))


def _kind_and_sign(root: Path, environ: Mapping[str, str]) -> tuple[str | None, str]:
    if "KUBERNETES_SERVICE_HOST" in environ:
        return KUBERNETES, "KUBERNETES_SERVICE_HOST"
    for kind, name in ((PODMAN, "run/.containerenv"), (DOCKER, ".dockerenv")):
        if os.path.exists(root / name):  # a method of Path raises PermissionError
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
