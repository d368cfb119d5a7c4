"""Workers of Dask on machines of their own, as far as namespaces of this one can make them.

Each has a network interface, host name and lock of measuring of its own. A hub has a bridge that connects
them; the scheduler and its clients run there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from profkit.measuring.fleet.job import machine_id
from tests.neighbours.harness import environ
from tests.support.waiting import until

HOSTS = ("host-1", "host-2", "host-3")
ADDRESS = "tcp://10.87.0.100:8786"
"""Of the scheduler, on the hub."""

_HUB = """
ip link set lo up && ip link add hub type bridge && ip addr add 10.87.0.100/24 dev hub &&
ip link set hub up && echo ready && exec sleep infinity
"""
_MACHINE = """
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done &&
ip link set lo up && ip addr add "$1" dev eth0 && ip link set eth0 up &&
mount --make-rprivate / && mount --bind "$2.lock" /tmp/profkit-measuring.lock && hostname "$2" && shift 2 &&
exec "$@"
"""


@dataclass(frozen=True)
class Machines:
    """The hub, and a folder that all machines share."""

    folder: Path
    hub: int
    """Process that keeps the hub's network namespace."""

    def on_hub(self, *argv: str) -> list[str]:
        """Return the command that runs a program on the hub."""
        return ["nsenter", "-t", str(self.hub), "--net", *argv]

    def scheduler(self) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """Run the scheduler for the time of the block."""
        port = ADDRESS.rpartition(":")[2]
        return self._dask(self.on_hub(), "distributed.cli.dask_scheduler", "--port", port)

    @contextmanager
    def worker(self, host: str, launcher: Sequence[str] = ()) -> Iterator[subprocess.Popen[bytes]]:
        """Run a worker on a machine of its own for the time of the block."""
        (self.folder / f"{host}.lock").touch()
        number = HOSTS.index(host) + 1
        machine = ["unshare", "--net", "-m", "-u", "sh", "-c", _MACHINE, "sh", f"10.87.0.{number}/24", host]
        worker = ("distributed.cli.dask_worker", ADDRESS, "--nthreads", "2")
        with self._dask([*launcher, *machine], *worker) as process:
            until(lambda: _network(process.pid) != _network(os.getpid()), "a network namespace")
            with self._wired(process.pid):
                yield process

    @contextmanager
    def _wired(self, pid: int) -> Iterator[None]:
        link = f"link{pid}"
        wire = f"ip link add {link} type veth peer name eth0 netns {pid}"
        for command in (wire, f"ip link set {link} master hub up"):
            subprocess.run(self.on_hub(*command.split()), check=True)
        try:
            yield
        finally:
            # A killed worker's network may have other processes still.
            subprocess.run(self.on_hub("ip", "link", "del", link), check=False, stderr=subprocess.DEVNULL)

    def await_workers(self, number: int) -> None:
        """Wait until so many workers have registered."""
        log = self.folder / "dask.log"
        until(lambda: log.read_text().count("Registered to") >= number, log.read_text, limit_s=600)

    @contextmanager
    def _dask(self, launcher: Sequence[str], *argv: str) -> Iterator[subprocess.Popen[bytes]]:
        with (self.folder / "dask.log").open("ab") as log:
            process = subprocess.Popen(
                [*launcher, sys.executable, "-m", *argv, "--no-dashboard"], cwd=self.folder, env=environ(),
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        try:
            yield process
        finally:
            killed(process)


@contextmanager
def machines(folder: Path) -> Iterator[Machines]:
    """Make the hub for the time of the block."""
    machine_id()  # makes the file that each worker replaces
    hub = subprocess.Popen(["unshare", "--net", "sh", "-c", _HUB], stdout=subprocess.PIPE, text=True)
    with hub:
        try:
            assert hub.stdout is not None
            assert hub.stdout.readline() == "ready\n", "network namespaces are not permitted"
            yield Machines(folder, hub.pid)
        finally:
            hub.kill()


def killed(process: subprocess.Popen[bytes]) -> None:
    """Kill a program of Dask with its children, as if its machine had failed."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _network(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")
