"""What `rm` and `gc` say about the runs that they removed."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.cli.output import page, tell, write
from profkit.model.run import AnyInfo


def write_removed(infos: Sequence[AnyInfo], *, as_json: bool, dry_run: bool) -> None:
    """The runs as data, and their number for people."""
    if as_json:
        from profkit.render.as_json import removed_json

        write(removed_json(infos, dry_run=dry_run))
    elif infos:
        from profkit.render.text.runs import runs_text

        write(runs_text(infos, page()))
    runs = f"{len(infos)} run{'' if len(infos) == 1 else 's'}"
    tell("note", f"{runs} would be removed" if dry_run else f"{runs} removed")
