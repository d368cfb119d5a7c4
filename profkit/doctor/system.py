"""What the text of fixes depends on: container, package manager, superuser."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from profkit.doctor.container import ContainerFacts, container_facts
from profkit.doctor.places import text_of


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
_NAMES = {
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
        return self.as_root(f"sudo {commands[self.manager]} {_NAMES.get((package, self.manager), package)}")


def system_facts(root: Path = Path("/"), environ: Mapping[str, str] = os.environ) -> SystemFacts:
    """Return the facts of this process and of the system that is installed below a root folder."""
    return SystemFacts(container_facts(root, environ), _manager(root), is_root=os.geteuid() == 0)


def _manager(root: Path) -> Manager | None:
    text = text_of(root / "etc/os-release") or text_of(root / "usr/lib/os-release")
    words = [word for line in _IDS.findall(text) for word in re.findall(r"[a-z]+", line)]
    return next((_DISTRIBUTIONS[word] for word in words if word in _DISTRIBUTIONS), None)
