"""The Firefox Profiler's own reading code, asked about a profile: its command is a server and its clients."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.npm_packages import PROFILER_CLI
from tests.support.waiting import until

Answer = dict[str, Any]

_START_S = 60.0


@dataclass(frozen=True)
class FirefoxProfiler:
    """A server that has loaded a profile."""

    program: tuple[str, ...]
    environment: dict[str, str]

    def ask(self, *words: str) -> Answer:
        """The answer to a command such as `thread list`."""
        done = self._run(*words, "--json")
        assert done.returncode == 0, done.stderr
        answer: Answer = json.loads(done.stdout)
        return answer

    def is_ready(self) -> bool:
        return self._run("thread", "list").returncode == 0

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [*self.program, *words, "--session", "test"]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)


@contextmanager
def firefox_profiler(data: bytes) -> Iterator[FirefoxProfiler]:
    """Loads a profile.

    The server is started as its `load` command does it, which waits no longer than half a second. Nobody may
    ask before it has said where it listens: a client that finds no socket clears away what is there by then.
    """
    program = ("node", str(PROFILER_CLI.folder() / "dist" / "profiler-cli.js"))
    # The server's socket lies there, whose path has to be short.
    with tempfile.TemporaryDirectory(prefix="profiler-") as folder:
        file = Path(folder) / "profile.json"
        file.write_bytes(data)
        environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": folder}
        command = [*program, "--daemon", str(file), "--session", "test"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as server:
            try:
                profiler = FirefoxProfiler(program, environment)
                until(
                    lambda: (
                        server.poll() is not None
                        or (Path(folder, "test.json").exists() and profiler.is_ready())
                    ),
                    "the profiler's server does not answer",
                )
                assert server.poll() is None, "the profiler's server ended; it printed why"
                yield profiler
            finally:
                server.kill()
