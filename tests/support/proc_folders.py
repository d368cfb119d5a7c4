"""Folders like /proc, with processes whose times a test chooses."""

from __future__ import annotations

import posix
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree

_TICKS = posix.sysconf("SC_CLK_TCK")


@dataclass
class ProcFolder:
    """A folder like /proc; processes have the children that name them as their parent."""

    path: Path
    _children: dict[int, list[int]] = field(default_factory=dict)

    def add(
        self, pid: int, parent: int = 0, cpu_s: float = 0.0, waited_s: float = 0.0, *,
        command: str = "python3 app.py", start: int = 7,
    ) -> None:  # fmt: skip
        """Add a process, or change its times."""
        (self.path / str(pid) / "task" / str(pid)).mkdir(parents=True, exist_ok=True)
        times = (round(cpu_s * _TICKS), 0, round(waited_s * _TICKS), 0)
        fields = ["S", str(parent), *["0"] * 9, *map(str, times), "20", "0", "1", "0", str(start), "0", "9"]
        self._write(pid, "stat", f"{pid} (a b) c) {' '.join(fields)}\n")
        self._write(pid, "cmdline", command.replace(" ", "\0") + "\0")
        self._write(pid, "statm", "100 10 0 0 0 0 0\n")
        self._children.setdefault(pid, [])
        if pid not in self._children.setdefault(parent, []):
            self._children[parent].append(pid)
        self._list(pid, parent)

    def end(self, pid: int) -> None:
        """Remove a process."""
        rmtree(self.path / str(pid))
        for parent, children in self._children.items():
            if pid in children:
                children.remove(pid)
                self._list(parent)

    def _list(self, *pids: int) -> None:
        for pid in filter(None, pids):
            self._write(pid, f"task/{pid}/children", "".join(f"{child} " for child in self._children[pid]))

    def _write(self, pid: int, name: str, text: str) -> None:
        (self.path / str(pid) / name).write_text(text, "ascii")
