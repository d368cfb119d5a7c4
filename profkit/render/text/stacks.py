"""Text of a process's stacks at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from profkit.model.run import Run
from profkit.render.escape import short, visible
from profkit.render.formatting import count, moment, place
from profkit.render.options import DEFAULTS, PIPE, ReportOptions, Terminal
from profkit.render.text.layout import FAINT, compose
from profkit.render.views.stacks import ThreadStack, ThreadState, newest_stacks

_SOURCE_COLUMN = 60
"""Cells before a line's source, if the name and the place are not longer."""


def stacks_text(run: Run, _options: ReportOptions = DEFAULTS, terminal: Terminal = PIPE) -> str:
    """Return the newest stack of each thread, innermost frame first."""
    return compose(_blocks(run, newest_stacks(run)), terminal)


def _blocks(run: Run, stacks: Sequence[ThreadStack]) -> Iterator[RenderableType]:
    process = run.info.process
    python = f" · Python {process.python}" if process.python else ""
    yield Text(f"process {process.pid}{python} · {visible(' '.join(process.argv))}", style="bold")
    yield Text(f"{moment(run.info.started_ns)} · {count(len(stacks), 'thread')}", style=FAINT)
    for stack in stacks:
        yield Text("")
        yield _title(stack, process.pid)
        for line in stack.lines:
            text = f"  {short(line.frame.name)}"
            where = place(line.frame.file, line.frame.line, process.cwd)
            text += f" ({visible(where)})" if where else ""
            shown = Text(text)
            if line.source:
                shown.append(f"{' ' * max(2, _SOURCE_COLUMN - len(text))}{visible(line.source)}", style=FAINT)
            yield shown


def _title(stack: ThreadStack, pid: int) -> Text:
    thread = stack.thread
    of_child = f" of process {thread.pid}" if thread.pid not in (0, pid) else ""
    text = Text(f"thread {short(thread.name)} ({thread.tid}){of_child}: ", style="bold")
    text.append(stack.state.value, style="" if stack.state is ThreadState.WORKING else FAINT)
    return text
