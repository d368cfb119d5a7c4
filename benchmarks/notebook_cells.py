"""Cost of the extension for IPython: of a cell that is not profiled, and of one with `%%profiled`.

The cells run in one shell, as a kernel runs them. The extension is loaded or unloaded before each run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol, cast

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from benchmarks.figures import Figure
from benchmarks.pairs import difference_figure, interleaved, ratio_figure
from benchmarks.work import fixed_work, turns_for
from profkit.integrations.ipython.extension import load, unload
from profkit.integrations.ipython.shell import Shell

_CELLS = 100
_LOADED_US, _PROFILED_US, _SLOWDOWN = 10.0, 200_000.0, 1.1
_WORK_S = 2.0


class _Cells(Shell, Protocol):
    """A shell that runs cells."""

    def run_cell(self, raw_cell: str) -> object:
        """Run a cell as a front end does."""


def measure(quick: bool) -> list[Figure]:
    """Compare cells with the extension to the same cells without it."""
    shell = _shell()
    with_it, without_it = partial(_seconds, shell, load), partial(_seconds, shell, unload)
    taken = interleaved(
        lambda: with_it("pass", _CELLS), lambda: without_it("pass", _CELLS), 6 if quick else 60
    )
    figures = [difference_figure("`pass`, extension loaded - unloaded", taken, _CELLS, _LOADED_US)]
    with_it("%%profiled --quiet\npass")
    pairs = 3 if quick else 30
    taken = interleaved(lambda: with_it("%%profiled --quiet\npass"), lambda: without_it("pass"), pairs)
    figures.append(difference_figure("`pass` with %%profiled --quiet - `pass`", taken, 1, _PROFILED_US))
    shell.user_ns["work"] = partial(fixed_work, turns_for(0.2 if quick else _WORK_S))
    taken = interleaved(
        lambda: with_it("%%profiled --quiet\n_ = work()"), lambda: without_it("_ = work()"), pairs
    )
    what = f"a cell of {0.2 if quick else _WORK_S:g} s of Python with %%profiled --quiet ÷ without"
    return [*figures, ratio_figure(what, taken, _SLOWDOWN)]


def _shell() -> _Cells:
    """Return a shell that keeps no history and reads no settings of the user."""
    os.environ["IPYTHONDIR"] = os.getcwd()
    made: Callable[..., object] = InteractiveShell
    return cast(_Cells, made(config=Config({"HistoryManager": {"enabled": False}})))


def _seconds(shell: _Cells, switch: Callable[[Shell], None], cell: str, times: int = 1) -> float:
    """Load or unload the extension, and return how long a cell then takes."""
    switch(shell)
    start_s = time.perf_counter()
    for _ in range(times):
        shell.run_cell(cell)
    return time.perf_counter() - start_s
