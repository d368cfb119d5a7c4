"""Programs from npm, fetched once a machine and pinned by version and by digest.

Some read what profkit writes; others build and check the scripts of the HTML page.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _fetch_once(name: str, fetch: Callable[[Path], None]) -> Path:
    """Return the folder of this name, which `fetch` fills once; one process at a time."""
    home = Path(tempfile.gettempdir()) / f"profkit-npm-{name}"
    home.mkdir(exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "done").exists():
            fetch(home)
            (home / "done").touch()
    return home


@dataclass(frozen=True)
class NpmPackage:
    """A package and the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    def folder(self) -> Path:
        """Return the folder of the package; fetch it if this machine does not have it."""
        plain = self.name.strip("@").replace("/", "-")
        return _fetch_once(f"{plain}-{self.version}", self._fetch) / "package"

    def _fetch(self, home: Path) -> None:
        command = ["npm", "pack", "--silent", "--pack-destination", str(home), f"{self.name}@{self.version}"]
        packed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=120)
        file = home / packed.stdout.split()[-1]
        assert hashlib.sha256(file.read_bytes()).hexdigest() == self.sha256, f"{file} is another file"
        with tarfile.open(file) as archive:
            archive.extractall(home, filter="data")


SPEEDSCOPE = NpmPackage(
    "speedscope", "1.25.0", "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03"
)
"""Its page, and the schema of its format."""

PPROF_FORMAT = NpmPackage(
    "pprof-format", "2.3.2", "209b123f810b084accdcdbba2e2304469a7161250f28974d194c226aeb94026c"
)
"""A reader of pprof files."""

PROFILER_CLI = NpmPackage(
    "@firefox-devtools/profiler-cli",
    "0.10.0",
    "41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2",
)
"""The Firefox Profiler's own reading code as a command: what it cannot read, profiler.firefox.com cannot."""


AXE = NpmPackage("axe-core", "4.10.3", "0f2b4d7dcdf7d1219df8d1959ad68e565f51d14c3f0d88bb71cd59abeb956292")
"""Checks of a page for accessibility; its rules are those of WCAG and of good practice."""


def install_locked(project: Path) -> Path:
    """Return the folder `node_modules` with exactly what the project's package-lock.json names."""
    files = [project / name for name in ("package.json", "package-lock.json")]

    def install(home: Path) -> None:
        for file in files:
            shutil.copy(file, home)
        # Stays out of the registry's audit, and runs no code of packages.
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=home, check=True, timeout=300)

    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    return _fetch_once(f"{project.name}-{digest[:16]}", install) / "node_modules"
