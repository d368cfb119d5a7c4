"""A real other process for payloads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import profkit.measuring.worker
from profkit.measuring.transfer.payload import Payload

PROGRAM = Path(__file__).parent / "programs" / "unpacking.py"
WORKER = Path(profkit.measuring.worker.__file__).parent


class Unpacker:
    """Answers questions about payloads; a context manager."""

    def __init__(self, *more_path: str) -> None:
        command = [sys.executable, "-I", str(PROGRAM), str(WORKER), json.dumps([*more_path, *sys.path])]
        environ = {**os.environ, "PROFKIT_DISABLE": "1"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
        )

    def __enter__(self) -> Unpacker:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()

    def ask(self, payload: Payload, expression: str) -> Any:
        """What the expression says there; an exception comes back as an AssertionError."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([f"/proc/{os.getpid()}/fd/{payload.fd}", expression]) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        assert "error" not in said, said["error"]
        return said["value"]
