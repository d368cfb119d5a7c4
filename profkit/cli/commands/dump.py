"""`profkit dump`: show what a process does at this moment."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from profkit.cli.options import profiler_options, sampling_options
from profkit.cli.output import say
from profkit.cli.report_output import Showing, showing_options
from profkit.clock import SYSTEM_CLOCK
from profkit.config import Config
from profkit.errors import SamplerFailed
from profkit.model.run import Run
from profkit.render.options import DEFAULTS
from profkit.render.registry import STACKS

_DURATION_S = 0.2


@click.command("dump")
@click.argument("pid", type=click.IntRange(1))
@sampling_options(labelled=False)
@showing_options(STACKS.formats)
@click.pass_obj
def dump_command(config: Config, /, pid: int, **given: object) -> None:
    """Show the stacks of all threads of a running process.

    The process is sampled for a fifth of a second. The newest whole stack of each thread is shown, innermost
    call first, and whether the thread works or waits. Nothing is kept.
    """
    showing = Showing.of(given, STACKS.formats)
    run = _newest(pid, given, config)
    showing.show(STACKS.renderer(showing.format)(run, DEFAULTS, showing.terminal()), "stacks")


def _pause(duration_s: float) -> bool:
    SYSTEM_CLOCK.sleep(duration_s)
    return False


def _newest(pid: int, given: Mapping[str, object], config: Config) -> Run:
    """Sample a process for a moment; raises UsageError and SamplerError."""
    from profkit.calls.options import settings_over_defaults
    from profkit.ingest.read import read_runs
    from profkit.program.attached import AttachedProgram, Attaching, find_target

    chosen = settings_over_defaults(profiler_options(given))
    how = Attaching(chosen.sampler, duration_s=_DURATION_S)
    with tempfile.TemporaryDirectory(prefix="profkit-") as folder:
        apart = replace(config, spool=Path(folder))
        attached = AttachedProgram(find_target(pid), how, apart, lambda text: say("warning", text))
        attached.sample(_pause)
        contents = read_runs(attached.session.folder)
    (run,) = contents.runs
    if run.profile is None or not run.profile.samples:
        detail = f"it read no stack of process {pid} within {_DURATION_S:g} s"
        raise SamplerFailed(run.info.plan.sampler, "sampling", detail, "try again")
    return run
