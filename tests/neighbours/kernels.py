"""Jupyter kernels: cells and what they put out, as a front end gets it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.neighbours.harness import environ

if TYPE_CHECKING:  # the tests are collected where Jupyter is not installed, too
    from jupyter_client.blocking.client import BlockingKernelClient
    from jupyter_client.manager import KernelManager

TIMEOUT_S = 120
_ESCAPES = re.compile(r"\x1b\[[\d;]*m")


@dataclass
class Ran:
    """What a cell put out."""

    value: str = ""
    """The text of its last expression's value."""
    out: str = ""
    err: str = ""
    error: str = ""
    """Its traceback, without colours."""
    pages: list[str] = field(default_factory=list)
    """HTML of what it displayed."""
    reports: list[str] = field(default_factory=list)
    """Texts of the same."""

    @property
    def report(self) -> str:
        """The one report below the cell."""
        (report,) = self.reports
        return report


@dataclass
class Kernel:
    """A running kernel."""

    manager: KernelManager
    client: BlockingKernelClient

    def run(self, code: str, *, on_output: Callable[[], None] = lambda: None, silent: bool = False) -> Ran:
        """Execute a cell; `on_output` is called once it has printed something."""
        ran = Ran()

        def note(message: dict[str, object]) -> None:
            header, content = message["header"], message["content"]
            assert isinstance(header, dict)
            assert isinstance(content, dict)
            first = not ran.out
            _add(ran, str(header["msg_type"]), content)
            if first and ran.out:
                on_output()

        self.client.execute_interactive(
            code, silent=silent, allow_stdin=False, stop_on_error=False, timeout=TIMEOUT_S, output_hook=note
        )
        return ran

    def start(self, code: str) -> None:
        """Begin to execute a cell; return once it has printed something."""
        self.client.execute(code, allow_stdin=False)
        while self.client.get_iopub_msg(timeout=TIMEOUT_S)["msg_type"] != "stream":
            pass

    def restart(self) -> None:
        """Kill the kernel and start it again."""
        self.manager.restart_kernel(now=True)
        self.client.wait_for_ready(timeout=TIMEOUT_S)


def _add(ran: Ran, kind: str, content: dict[str, object]) -> None:
    if kind == "stream":
        name = "out" if content["name"] == "stdout" else "err"
        setattr(ran, name, getattr(ran, name) + str(content["text"]))
    elif kind == "error":
        ran.error = _ESCAPES.sub("", "\n".join(map(str, content["traceback"])))  # type: ignore[call-overload]
    elif kind in ("execute_result", "display_data"):
        data = content["data"]
        assert isinstance(data, dict)
        if kind == "execute_result":
            ran.value = data["text/plain"]
        else:
            ran.reports.append(data["text/plain"])
        ran.pages += [data["text/html"]] if "text/html" in data else []


@contextmanager
def started_kernel(folder: Path, **variables: str) -> Iterator[Kernel]:
    """Start a kernel in a folder, and shut it down at the end."""
    own = {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "jupyter")}
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder), env=environ(**own, **variables))
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT_S)
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=False)
