"""`profkit import`: profiles that other tools took, and runs that were exported, into the store."""

from __future__ import annotations

from collections.abc import Iterable

import click

from profkit.cli.imported import import_formats, runs_of_file
from profkit.cli.limit_options import limit_options, limits_of
from profkit.cli.output import page, tell, write
from profkit.config import Config
from profkit.model.run import AnyInfo, RunInfo


@click.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--format",
    "name",
    type=click.Choice(import_formats()),
    help="Told from the content if left out.",
)
@click.option("--label", metavar="LABEL", help="What to call it.  [default: the file's name]")
@click.option("--json", "as_json", is_flag=True, help="Say as JSON what the files hold.")
@limit_options
@click.pass_obj
def import_command(
    config: Config,
    files: tuple[str, ...],
    name: str | None,
    label: str | None,
    as_json: bool,
    max_bytes: int,
    max_depth: int,
    max_records: int,
    max_frames: int,
    max_seconds: float,
) -> None:
    """Keep profiles that other tools took, as runs.

    FILE may be compressed by gzip; - is stdin. A file whose content is kept already is not kept again.
    Nothing is kept unless every FILE can be read within the limits.
    """
    from profkit.store.runs import open_store

    limits = limits_of(max_bytes, max_depth, max_records, max_frames, max_seconds)
    runs = [run for file in files for run in runs_of_file(file, name, label, limits)]
    with open_store(config.store_url) as store:
        new = {info.id for info in store.add(runs, again=True)}
        infos = [store.find(run_id) for run_id in dict.fromkeys(run.info.id for run in runs)]
    _show(infos, as_json=as_json)
    for info in infos:
        _remark(info, known=info.id not in new, label=label)


def _show(infos: Iterable[AnyInfo], *, as_json: bool) -> None:
    if as_json:
        from profkit.render.as_json import imported_json

        write(imported_json(infos))
    else:
        from profkit.render.text.runs import runs_text

        write(runs_text(tuple(infos), page()))


def _remark(info: AnyInfo, *, known: bool, label: str | None) -> None:
    """What the table does not say: that a run was there, and what its file could not tell."""
    if known:
        so = "" if label in (None, info.label) else ", and keeps its label: `profkit rm` it first for another"
        tell("note", f"{info.id} ({info.label}) was kept already{so}")
    elif isinstance(info, RunInfo) and info.imported is not None:
        for note in info.notes:
            tell("note", f"{info.id} ({info.label}): {note}")
