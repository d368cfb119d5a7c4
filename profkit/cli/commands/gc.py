"""`profkit gc`: remove runs by age and number."""

from __future__ import annotations

import click

from profkit.cli.options import json_option, read_by
from profkit.cli.report_output import MOST_LISTED, write_removed
from profkit.cli.workspace import open_workspace
from profkit.clock import SYSTEM_CLOCK
from profkit.config import Config
from profkit.units import parse_duration

_OLDER_THAN_S = 30 * 86400.0


@click.command("gc")
@click.option(
    "--older-than", callback=read_by(parse_duration), metavar="AGE",
    help="Remove runs older than AGE, such as 30d or 12h.",
)  # fmt: skip
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N runs of each label.")
@click.option("--dry-run", is_flag=True, help="Only list the runs that would be removed.")
@json_option("List the removed runs as JSON.")
@click.pass_obj
def gc_command(
    config: Config, older_than: float | None, keep: int | None, dry_run: bool, as_json: bool
) -> None:
    """Remove old runs permanently, and list them.

    With both options, a run is removed if it is older than AGE and not among the newest N of its label. With
    --keep alone, its age does not matter. With neither, runs older than 30 days are removed.
    """
    if older_than is None and keep is None:
        older_than = _OLDER_THAN_S
    before_ns = None if older_than is None else SYSTEM_CLOCK.unix_ns() - round(older_than * 1e9)
    with open_workspace(config) as workspace:
        store = workspace.store
        is_table = dry_run and not as_json
        expired = store.expired(before_ns, keep or 0, MOST_LISTED if is_table else None)
        rest = store.count_expired(before_ns, keep or 0) - len(expired) if is_table else 0
        infos = store.infos(expired, remove=not dry_run)
        write_removed(infos, rest, as_json=as_json, dry_run=dry_run)
