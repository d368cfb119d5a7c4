"""`profkit list`: the runs that there are."""

from __future__ import annotations

import click

from profkit.cli.completion import complete_label
from profkit.cli.kept import open_kept
from profkit.cli.output import page, tell, write
from profkit.config import Config
from profkit.errors import RunNotFound, StoreEmpty

_LIMIT = 20


@click.command("list")
@click.option("--label", metavar="LABEL", shell_complete=complete_label, help="Only runs with this label.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The newest N.  [default: 20]")
@click.option("--json", "as_json", is_flag=True, help="As JSON: all runs, unless limited.")
@click.pass_obj
def list_command(config: Config, label: str | None, limit: int | None, as_json: bool) -> None:
    """List runs, newest first.

    Sessions that are still being recorded come first; what they hold so far can be seen with
    `profkit report`.
    """
    shown = limit if limit is not None or as_json else _LIMIT
    with open_kept(config) as kept:
        infos = kept.runs(label, None if shown is None else shown + 1)
        if not infos and label is not None:
            raise RunNotFound(label)
        if not infos:
            raise StoreEmpty(kept.store.name, config.spool)
        if as_json:
            from profkit.render.as_json import runs_json

            write(runs_json(infos[:shown]))
        else:
            from profkit.render.text.runs import runs_text

            write(runs_text(infos[:shown], page()))
    if shown is not None and len(infos) > shown:
        tell("note", "there are older runs: see --limit")
