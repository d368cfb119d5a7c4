"""What the shell offers for RUN: labels and ids of kept runs."""

from __future__ import annotations

import click

from profkit.cli.kept import nothing_recorded
from profkit.config import Config
from profkit.errors import ProfkitError


def complete_run(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Those that begin as typed; none where the store cannot be read, for a shell shows no errors."""
    config = context.find_object(Config)
    if config is None or nothing_recorded(config):
        return []
    from profkit.store.runs import open_store

    try:
        with open_store(config.store_url) as store:
            infos = store.runs()
    except ProfkitError:
        return []
    names = dict.fromkeys([*(info.label for info in infos), *(info.id for info in infos)])
    return [name for name in names if name.startswith(incomplete)]
