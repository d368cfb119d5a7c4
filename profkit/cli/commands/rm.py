"""`profkit rm`: remove runs by name."""

from __future__ import annotations

import click

from profkit.cli.options import json_option
from profkit.cli.output import say
from profkit.cli.report_output import write_removed
from profkit.cli.workspace import Workspace, complete_run, open_workspace
from profkit.config import Config
from profkit.errors import DamagedFile, UsageError
from profkit.model.measurement import AnyInfo


@click.command("rm")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_run)
@json_option("List the removed runs as JSON.")
@click.pass_obj
def rm_command(config: Config, runs: tuple[str, ...], as_json: bool) -> None:
    """Remove runs permanently.

    RUN is the prefix of a run's id, or a label, which selects its newest run. Nothing is removed unless every
    RUN is found.
    """
    with open_workspace(config) as workspace:
        found = tuple(dict.fromkeys(_removable(wanted, workspace) for wanted in runs))
        infos = tuple(one for one in found if not isinstance(one, str))
        unreadable = [one for one in found if isinstance(one, str)]
        workspace.store.remove([*(info.id for info in infos), *unreadable])
        if infos or not unreadable:
            write_removed(infos, as_json=as_json, dry_run=False)
    for run_id in unreadable:
        say("note", f"run {run_id}, which could not be read, is removed")


def _removable(wanted: str, workspace: Workspace) -> AnyInfo | str:
    """Return the metadata of a run that may be removed; its id if it cannot be read."""
    try:
        info = workspace.find(wanted)
    except DamagedFile:
        if workspace.store.has(wanted):
            return wanted
        raise
    if any(run.info.id == info.id for run in workspace.recording):
        raise UsageError(
            f"run {info.id} ({info.label}) is still being recorded by process {info.process.pid}",
            "remove it when that has ended",
        )
    return info
