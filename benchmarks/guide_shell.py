"""A shell in which the commands of a guide run; programs started with `&` go on until the end."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.children import end_group
from benchmarks.guides import TERMINAL

_PORTS = ("8000", "8786")
"""The ports in the guides, replaced by free ones."""
_AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder, and the environment of the commands that run there."""

    folder: Path
    environment: Mapping[str, str]
    timeout_s: float = 600

    def run(self, commands: Sequence[str]) -> list[float]:
        """Run commands one after the other and return their times in seconds.

        What they print is in the file `terminal`. Raises RuntimeError if one of them fails.
        """
        stamps = self.folder / "stamps"
        stamp = f'echo "$EPOCHREALTIME" >> {shlex.quote(str(stamps))}'
        stamps.write_text("", "utf-8")
        script = "\n".join(["set -e", stamp, *(line for command in commands for line in (command, stamp))])
        for port in _PORTS:
            script = re.sub(rf"\b{port}\b", str(_free_port()), script)
        status = self._run(script)
        times = [float(line) for line in stamps.read_text("utf-8").splitlines()]
        if status:
            failed = commands[len(times) - 1]
            raise RuntimeError(f"{failed}: exit code {status}\n{self.printed()[-4000:]}")
        return [after - before for before, after in pairwise(times)]

    def printed(self) -> str:
        """Return what the last commands have printed."""
        return (self.folder / TERMINAL).read_text("utf-8", errors="replace")

    def _run(self, script: str) -> int:
        with (self.folder / TERMINAL).open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", script], cwd=self.folder, env={**self.environment, **_AUTHOR},
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                return process.wait(self.timeout_s)
            finally:
                end_group(process)  # also what it started in the background


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
