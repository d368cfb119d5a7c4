"""What the shell offers for RUN and LABEL: labels and ids of kept runs."""

from __future__ import annotations

import click

from profkit.cli.kept import nothing_recorded
from profkit.config import Config
from profkit.errors import ProfkitError
from profkit.model.run import AnyInfo


def complete_run(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Labels and ids that begin as typed; none where the store cannot be read: a shell shows no errors."""
    infos = _infos(context)
    names = dict.fromkeys([*(info.label for info in infos), *(info.id for info in infos)])
    return [name for name in names if name.startswith(incomplete)]


def complete_label(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Labels that begin as typed."""
    names = dict.fromkeys(info.label for info in _infos(context))
    return [name for name in names if name.startswith(incomplete)]


def _infos(context: click.Context) -> tuple[AnyInfo, ...]:
    config = context.find_object(Config)
    if config is None or nothing_recorded(config):
        return ()
    from profkit.store.runs import open_store

    try:
        with open_store(config.store_url, skip_damaged=True) as store:
            return store.runs()
    except ProfkitError:
        return ()
