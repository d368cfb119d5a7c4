"""Programs of others that read what profkit writes, from npm: fetched once a machine.

Each is pinned by version and by digest.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NpmPackage:
    """A package and the SHA-256 of its file."""

    name: str
    version: str
    sha256: str

    def folder(self) -> Path:
        """Where the package lies; it is fetched if it does not yet, by one process at a time."""
        plain = self.name.strip("@").replace("/", "-")
        home = Path(tempfile.gettempdir()) / f"profkit-npm-{plain}-{self.version}"
        home.mkdir(exist_ok=True)
        with (home / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (home / "done").exists():
                self._fetch(home)
                (home / "done").touch()
        return home / "package"

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

PROFILER_CLI = NpmPackage(
    "@firefox-devtools/profiler-cli",
    "0.10.0",
    "41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2",
)
"""The Firefox Profiler's own reading code as a command: what it cannot read, profiler.firefox.com cannot."""
