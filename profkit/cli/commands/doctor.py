"""`profkit doctor`: examine this machine."""

from __future__ import annotations

import click

from profkit.cli.report_output import Showing, showing_options
from profkit.config import Config
from profkit.errors import SamplerError, SpoolUnavailable
from profkit.model.checkup import Checkup, Group, has_failed
from profkit.render.options import DEFAULTS
from profkit.render.registry import CHECKUP


@click.command("doctor")
@showing_options(CHECKUP.formats)
@click.pass_obj
def doctor_command(config: Config, /, **given: object) -> int:
    """Examine what profkit can do here, and how to fix what it cannot.

    Tries each sampler on a program of its own, and times a statement in an isolated worker. Takes a few
    seconds. Each shortfall has its cost and its fix.

    Exit codes: 0 if sampling and timing work, 7 if the spool or the store cannot be used, else 3.
    """
    from profkit.doctor.examination import examine

    showing = Showing.of(given, CHECKUP.formats)
    checkup = examine(config)
    showing.show(CHECKUP.renderer(showing.format)(checkup, DEFAULTS, showing.terminal()), "checkup")
    return exit_code(checkup)


def exit_code(checkup: Checkup) -> int:
    """Return 0 if the main uses work, else the code of the errors that users meet."""
    if checkup.works:
        return 0
    unusable = has_failed(checkup.of(Group.STORAGE))
    return SpoolUnavailable.exit_code if unusable else SamplerError.exit_code
