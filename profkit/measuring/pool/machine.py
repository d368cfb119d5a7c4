"""How much memory a worker may use unless somebody says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

SHARE = 0.5
"""Default memory limit as a part of the machine's memory, or of its control group's limit if that is less."""


@cache
def default_limit_bytes() -> int:
    """Return half of the memory that this process can have at all."""
    return int(usable_bytes() * SHARE)


def usable_bytes(root: Path = Path("/")) -> int:
    """Return the machine's memory, or the lowest limit of the control groups that this process is in."""
    return min((_physical_bytes(root), *_group_limits(root)))


def _physical_bytes(root: Path) -> int:
    for line in (root / "proc/meminfo").read_text("ascii").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo does not say how much memory there is")


def _group_limits(root: Path) -> Iterator[int]:
    """Yield the limits of all groups above this process; a container sees its own as the topmost one."""
    for folder, name in _groups(root):
        for place in (folder, *folder.parents):
            try:
                text = (place / name).read_text("ascii").strip()
            except OSError:  # no such limit there
                continue
            if text.isdecimal():  # else "max"
                yield int(text)
            if place == root / "sys/fs/cgroup":
                break


def _groups(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders of this process's groups for memory, and the file that holds the limit there."""
    try:
        lines = (root / "proc/self/cgroup").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:  # a kernel without control groups
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        below = PurePosixPath(path.lstrip("/"))
        if ".." in below.parts:  # a group outside the container's
            below = PurePosixPath()
        if not controllers:
            yield root / "sys/fs/cgroup" / below, "memory.max"
        elif "memory" in controllers.split(","):
            yield root / "sys/fs/cgroup/memory" / below, "memory.limit_in_bytes"
