"""Reports below a cell: pages in notebooks, text in terminals."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from IPython.display import display

from profkit.integrations.ipython.shell import Shell
from profkit.model.measurement import MeasuredRun
from profkit.model.run import Run
from profkit.render.notebook import measured_frame
from profkit.render.options import ReportOptions, Terminal, terminal_of
from profkit.render.registry import MEASURED, SAMPLED

_NOTEBOOK = Terminal(width=100)
_HTML, _TEXT = "text/html", "text/plain"


def show_run(shell: Shell, run: Run) -> None:
    """Show a sampled run: as a page if the shell displays HTML, with the text for programs that show none."""
    render = SAMPLED.renderer("text")
    _show(shell, lambda: run._repr_html_(), lambda terminal: render((run,), ReportOptions(), terminal))


def show_runs(shell: Shell, runs: Sequence[MeasuredRun]) -> None:
    """Show measured runs in one report: as `show_run` does."""
    render = MEASURED.renderer("text")
    _show(shell, lambda: measured_frame(runs), lambda terminal: render(runs, ReportOptions(), terminal))


def _show(shell: Shell, page: Callable[[], str | None], text: Callable[[Terminal], str]) -> None:
    if _HTML not in shell.display_formatter.active_types:
        print(text(terminal_of(sys.stdout, os.environ)))  # noqa: T201 - a terminal
        return
    shown = page()
    plain = {_TEXT: text(_NOTEBOOK)}
    display(  # type: ignore[no-untyped-call]
        plain if shown is None else {_HTML: shown, **plain}, raw=True
    )
