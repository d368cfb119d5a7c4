"""`profkit dump`: show what a process does at this moment."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import profiler_options, sampling_options
from profkit.cli.output import say
from profkit.cli.report_output import Showing, showing_options
from profkit.clock import SYSTEM_CLOCK
from profkit.errors import SamplerFailed
from profkit.render.options import DEFAULTS
from profkit.render.registry import STACKS

if TYPE_CHECKING:
    from profkit.model.run import Run

_DURATION_S = 0.2


@click.command("dump")
@click.argument("pid", type=click.IntRange(1))
@sampling_options(labelled=False)
@showing_options(STACKS.formats)
def dump_command(pid: int, **given: object) -> None:
    """Show the stacks of all threads of a running process.

    The process is sampled for a fifth of a second. The newest whole stack of each thread is shown, innermost
    call first, and whether the thread works or waits. Nothing is kept.
    """
    showing = Showing.of(given, STACKS.formats)
    run = _newest(pid, given, partial(STACKS.renderer, showing.format))
    showing.show(STACKS.renderer(showing.format)(run, DEFAULTS, showing.terminal()), "stacks")


def _newest(pid: int, given: Mapping[str, object], prepare: Callable[[], object]) -> Run:
    """Sample a process for a moment; raises UsageError and SamplerError."""
    from profkit.calls.options import settings_over_defaults
    from profkit.live.source import LiveSource
    from profkit.model.run import Run, RunInfo
    from profkit.model.session import SessionState
    from profkit.program.target import find_target, region_of

    options = settings_over_defaults(profiler_options(given)).sampler
    target = find_target(pid)
    with tempfile.TemporaryDirectory(prefix="profkit-") as folder:
        source = LiveSource(
            target, options, Path(folder), lambda text: say("warning", text), meanwhile=prepare
        )
        try:
            source.begin()
            started_ns = SYSTEM_CLOCK.unix_ns()
            SYSTEM_CLOCK.sleep(_DURATION_S)
        finally:
            source.close()
    batches = [batch for batch in source.take() if batch.profile.samples]
    if not batches:
        detail = f"it read no stack of process {pid} within {_DURATION_S:g} s"
        raise SamplerFailed(source.plan.sampler, "sampling", detail, "try again")
    region = region_of(target, options, None)
    info = RunInfo("", "", region, SessionState.SUCCESS, started_ns, target.process, source.plan)
    return Run(info, batches[-1].profile)
