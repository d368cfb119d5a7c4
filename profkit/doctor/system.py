"""This system: its files, container, package manager and superuser, on which the text of fixes depends."""

from __future__ import annotations

import enum
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import HOME, NO_FOLDER, is_nowhere

PREFIX = ".profkit-doctor-"
"""Beginning of the names of files and folders of trials; readers of a spool ignore hidden ones."""
_WRITTEN = b"0" * 4096


def text_of(path: Path) -> str:
    """Return the text of a file, empty if it is missing or may not be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # many of these files depend on the kernel and its settings
        return ""


def nearest_folder(path: Path) -> Path:
    """Return the folder itself, or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.parents) if os.path.exists(folder))


def write_problem(path: Path) -> str | None:
    """Return why nothing can be written to a folder, or created below the nearest one; None if it can."""
    if is_nowhere(path):
        return NO_FOLDER
    try:
        with tempfile.NamedTemporaryFile(prefix=PREFIX, dir=nearest_folder(path)) as file:
            file.write(_WRITTEN)
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return None


def can_use_home(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether $HOME is a folder in which profkit can create its own."""
    home = environ.get("HOME", "")
    return os.path.isabs(home) and os.path.isdir(home) and write_problem(Path(home, HOME)) is None


_ENDING_S, _PAUSE_S = 5.0, 0.05
"""Maximum time for a sampler to end after its program was killed, and between two looks."""


class TrialFolder(tempfile.TemporaryDirectory[str]):
    """A folder that is removed after use, also if a sampler that is ending still writes to it."""

    def __init__(self, parent: Path | None, clock: Clock = SYSTEM_CLOCK) -> None:
        super().__init__(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True)
        self._clock = clock

    def cleanup(self) -> None:
        """Remove the folder; returns without an error if that fails."""
        super().cleanup()
        deadline_s = self._clock.monotonic_s() + _ENDING_S
        while os.path.exists(self.name) and self._clock.monotonic_s() < deadline_s:
            self._clock.sleep(_PAUSE_S)
            shutil.rmtree(self.name, ignore_errors=True)


def trial_folder(spool: Path) -> TrialFolder:
    """Make a folder for trials in the spool, or where it would be created; removed after use.

    If nothing can be written there, it is among temporary files: samplers can be tried anyway. Raises
    OSError if there are none either.
    """
    return TrialFolder(None if write_problem(spool) is not None else nearest_folder(spool))


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


class Manager(enum.Enum):
    """Package manager; the value is its program."""

    APT = "apt-get"
    DNF = "dnf"
    APK = "apk"
    PACMAN = "pacman"
    ZYPPER = "zypper"


_DISTRIBUTIONS = {
    "debian": Manager.APT, "ubuntu": Manager.APT, "fedora": Manager.DNF, "rhel": Manager.DNF,
    "centos": Manager.DNF, "alpine": Manager.APK, "arch": Manager.PACMAN, "opensuse": Manager.ZYPPER,
    "suse": Manager.ZYPPER,
}  # fmt: skip
"""Package managers by a word in ID or ID_LIKE of os-release(5)."""
_IDS = re.compile(r"^(?:ID|ID_LIKE)=(.*)$", re.MULTILINE)
_INSTALL = {
    Manager.APT: "apt-get install", Manager.DNF: "dnf install", Manager.APK: "apk add",
    Manager.PACMAN: "pacman -S", Manager.ZYPPER: "zypper install",
}  # fmt: skip
_REINSTALL = _INSTALL | {
    Manager.APT: "apt-get install --reinstall", Manager.DNF: "dnf reinstall", Manager.APK: "apk fix",
    Manager.ZYPPER: "zypper install --force",
}  # fmt: skip
_PACKAGE_NAMES = {
    ("g++", Manager.DNF): "gcc-c++", ("g++", Manager.ZYPPER): "gcc-c++", ("g++", Manager.PACMAN): "gcc",
}  # fmt: skip
"""Names of packages that are not those of Debian."""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What the text of fixes depends on."""

    container: ContainerFacts = field(default_factory=ContainerFacts)
    manager: Manager | None = None
    """None if it is unknown."""
    is_root: bool = False
    """True if this process is the superuser's."""

    def as_root(self, command: str) -> str:
        """Return a command with sudo, which is left out if this process is the superuser's."""
        return command.replace("sudo ", "") if self.is_root else command

    def for_kernel(self, command: str) -> str:
        """Return a command with sudo that changes the kernel, which a container shares with its host."""
        return f"on the host: {command}" if self.container.shares_kernel else self.as_root(command)

    def install(self, package: str) -> str:
        """Return how to install a package, which has its name in Debian."""
        return self._packages(_INSTALL, "install", package)

    def reinstall(self, package: str) -> str:
        """Return how to install a package again."""
        return self._packages(_REINSTALL, "reinstall", package)

    def _packages(self, commands: Mapping[Manager, str], verb: str, package: str) -> str:
        if self.manager is None:
            return f"{verb} {package} with the system's package manager"
        name = _PACKAGE_NAMES.get((package, self.manager), package)
        return self.as_root(f"sudo {commands[self.manager]} {name}")


def system_facts(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> SystemFacts:
    """Return the facts of this process and of the system that is installed below a root folder."""
    return SystemFacts(container_facts(root, environ), _manager(root), is_root=os.geteuid() == 0)


def _manager(root: Path) -> Manager | None:
    text = text_of(root / "etc/os-release") or text_of(root / "usr/lib/os-release")
    words = [word for line in _IDS.findall(text) for word in re.findall(r"[a-z]+", line)]
    return next((_DISTRIBUTIONS[word] for word in words if word in _DISTRIBUTIONS), None)


def without_fix(error: Exception) -> tuple[str, str]:
    """Return an error's message without its fix and without output of others, and the fix."""
    first = (str(error) or type(error).__name__).partition("\n")[0]
    fix = str(getattr(error, "fix", "")) or first.rpartition("; ")[2]
    return (first.replace(f"; {fix}", ""), fix) if f"; {fix}" in first else (first, "")
