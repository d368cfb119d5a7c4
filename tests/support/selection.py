"""Line at the end of a test run about tests that were not run: pytest-xdist does not report them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from tests.support import programs

_KEY = "profkit_selection"


@dataclass(slots=True)
class Selection:
    """Numbers of one collection of tests."""

    collected: int = 0
    deselected: int = 0
    modules_left_out: int = 0
    """Number of test modules that were not imported, because a library is missing."""

    def line(self) -> str:
        """Return the numbers as a line."""
        modules = f", {self.modules_left_out} modules left out" if self.modules_left_out else ""
        return f"{self.collected} collected, {self.deselected} deselected{modules}"


class SelectionReport:
    """Plugin that counts in each process that collects, and prints the numbers of one of them."""

    def __init__(self) -> None:
        self._here = Selection()
        self._left_out: set[Path] = set()

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Leave out modules that import torch where it is not installed, if `-m` leaves out their tests."""
        if collection_path.suffix != ".py":
            return None
        if not programs.needs_missing_library(collection_path, config.option.markexpr):
            return None
        if collection_path.name.startswith("test_"):
            self._left_out.add(collection_path)
        return True

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the tests that `-m`, `-k` or a marker excludes."""
        self._here.deselected += len(items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the selected tests, too."""
        self._here.collected = len(session.items) + self._here.deselected
        self._here.modules_left_out = len(self._left_out)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the numbers from a worker to the process that reports."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = asdict(self._here)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the numbers of a worker; all workers collect the same tests."""
        numbers: Mapping[str, int] = getattr(node, "workeroutput", {}).get(_KEY, {})
        if numbers:
            self._here = Selection(**{one.name: numbers[one.name] for one in fields(Selection)})

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the line."""
        terminalreporter.write_line(self._here.line())
