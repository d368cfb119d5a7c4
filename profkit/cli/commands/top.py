"""`profkit top`: watch a process while it runs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import activity_options, profiler_options, sampling_options
from profkit.cli.output import say
from profkit.config import Config
from profkit.errors import UsageError
from profkit.render.options import Activity

if TYPE_CHECKING:
    from profkit.cli.top.app import Actions
    from profkit.cli.top.showing import Showing
    from profkit.live.source import LiveSource
    from profkit.model.run import Run


@click.command("top")
@click.argument("pid", type=click.IntRange(1))
@sampling_options()
@activity_options()
@click.pass_obj
def top_command(config: Config, /, pid: int, activity: str | None, label: str | None, **given: object) -> int:
    """Watch a process live: functions, flame graph, threads.

    Nothing is kept unless you press k, which keeps all samples as a run. Press ? for all keys, and q to quit.
    The process needs no change and does not notice. It must run Python, and this user must be allowed to
    read it; otherwise the message says what forbids it.
    """
    from profkit.cli.top.terminal import check_terminal, ended_with_terminal

    check_terminal()
    _import_screen()
    from profkit.calls.options import settings
    from profkit.cli.top.app import Actions
    from profkit.live.source import LiveSource
    from profkit.process.signals import interruptions, signals_delayed
    from profkit.program.attached import find_target

    options = settings(profiler_options({**given, "label": label})).sampler
    warnings: list[str] = []
    with interruptions() as wait, tempfile.TemporaryDirectory(prefix="profkit-") as folder:
        source = LiveSource(find_target(pid), options, Path(folder), warnings.append)
        try:
            source.begin()
            for warning in warnings:
                say("warning", warning)
            source.start_thread()
            actions = Actions(_keeper(config), lambda: wait(0), label)
            with ended_with_terminal(partial(_clean_up, source, folder)):
                return _show(source, Activity(activity or Activity.ALL.value), actions)
        finally:
            with signals_delayed():
                source.close()


def _import_screen() -> None:
    """Import the screen; raises UsageError if textual is missing, or too old."""
    try:
        import profkit.cli.top.app  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"`profkit top` needs textual ({error})", "install it with `pip install 'profkit[tui]'`"
        ) from error


def _show(source: LiveSource, activity: Activity, actions: Actions) -> int:
    """Show the screen until the user quits; return the exit code."""
    from profkit.cli.top.app import TopApp

    app = TopApp(source, showing_of(source, activity), actions)
    app.run()
    for run in app.kept:
        say("note", f"kept run {run}; `profkit report {run}` shows it")
    return app.return_code or 0


def _clean_up(source: LiveSource, folder: str) -> None:
    source.close()
    shutil.rmtree(folder, ignore_errors=True)


def showing_of(source: LiveSource, activity: Activity) -> Showing:
    """Return what the screen shows of a source that samples, at first nothing."""
    from profkit.cli.top.showing import Showing
    from profkit.live.rows import Chosen
    from profkit.live.samples import LiveSamples
    from profkit.process.procfs import unix_ns_of
    from profkit.render.views.source import SourceLines

    process = source.target.process
    # A file that changed since the process began is not what runs.
    lines = SourceLines(unix_ns_of(process.start_ticks), process.cwd)
    return Showing(LiveSamples(lines.line), process, source.plan, lines, Chosen(activity=activity))


def _keeper(config: Config) -> Callable[[Run], None]:
    from profkit.store.runs import open_store

    def keep(run: Run) -> None:
        with open_store(config.store_url) as store:
            store.add([run])

    return keep
