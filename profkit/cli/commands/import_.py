"""`profkit import`: store profiles of other tools, and exported runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from profkit.cli.files import import_formats, join_ranks, runs_of_file
from profkit.cli.memory import for_large_profiles
from profkit.cli.options import Command, json_option, rare_option, together
from profkit.cli.output import say, terminal, write
from profkit.config import Config
from profkit.errors import SpoolUnavailable
from profkit.formats.limits import ImportLimits
from profkit.model.measurement import AnyInfo
from profkit.model.run import RunInfo
from profkit.process.membership import JOB, given_job
from profkit.units import short_id

if TYPE_CHECKING:
    from profkit.store.runs import Store

_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_AMOUNT = re.compile(r"(\d{1,15})([KMGT]?)", re.IGNORECASE)
_DEFAULTS = ImportLimits()


def _amount(text: str) -> int:
    """Parse a positive whole number, with K, M, G or T for powers of 1024."""
    match = _AMOUNT.fullmatch(str(text))
    amount = int(match[1]) * _SUFFIXES[match[2].upper()] if match else 0
    if not amount:
        raise click.BadParameter(f"{text!r} is not a positive whole number such as 5000 or 2G")
    return amount


def _seconds(text: str) -> float:
    """Parse a time above zero; infinity for no limit."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise click.BadParameter(f"{text!r} is not a time above zero")
    return seconds


_LIMITS = (
    ("--max-bytes", "SIZE", "Size limit per file after decompression; K, M, G and T are units", "1G"),
    ("--max-depth", "N", "Limit on the frames of one stack", _DEFAULTS.max_depth),
    (
        "--max-records", "N", "Limit on the total of samples, events, functions and JSON objects",
        _DEFAULTS.max_records,
    ),
    (
        "--max-frames", "N", "Limit on the frames of all distinct stacks, 8 bytes of memory each",
        _DEFAULTS.max_frames,
    ),
    ("--max-seconds", "S", "Time limit for reading one file, in seconds", f"{_DEFAULTS.max_seconds:g}"),
)  # fmt: skip
"""Options, each with its metavar, its help and its default."""


def _limit_options() -> Callable[[Command], Command]:
    return together([
        rare_option(
            name, metavar=metavar, type=_seconds if metavar == "S" else _amount, default=str(default),
            help=f"{help}.  [default: {default}]",
        )
        for name, metavar, help, default in _LIMITS
    ])  # fmt: skip


@click.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option(
    "--format", "name", type=click.Choice(import_formats()),
    help="Format of the files.  [default: by content]",
)  # fmt: skip
@rare_option(
    "--value", metavar="NAME",
    help="Value to import if a file has several, such as an event of Callgrind.  [default: by format]",
)  # fmt: skip
@click.option("--label", metavar="LABEL", help="Label of the runs.  [default: the file's name]")
@json_option("List the runs in the files as JSON.")
@_limit_options()
@click.pass_obj
def import_command(
    config: Config,
    files: tuple[str, ...],
    name: str | None,
    value: str | None,
    label: str | None,
    as_json: bool,
    max_bytes: int,
    max_depth: int,
    max_records: int,
    max_frames: int,
    max_seconds: float,
) -> None:
    """Store profiles of other tools, and exported runs.

    FILE may be compressed by gzip; - is stdin. A file whose content is already stored is not stored again.
    Nothing is stored unless every FILE can be read within the limits.

    Traces of torch.profiler that are named together become a job if they are of several ranks. PROFKIT_JOB
    names the job, to which traces can then be added later.

    FILE may also be a URL to which `profkit push` has sent sessions. They are deleted there.
    """
    from profkit.store.places import is_remote
    from profkit.store.runs import open_store

    urls = tuple(filter(is_remote, files))
    limits = ImportLimits(max_bytes, max_depth, max_records, max_frames, max_seconds)
    with for_large_profiles():
        paths = [file for file in files if file not in urls]
        read = [run for file in paths for run in runs_of_file(file, name, label, limits, value)]
        runs = join_ranks(read, label, given_job(os.environ))
    with open_store(config.store_url) as store:
        new = {info.id for info in store.add(runs, again=True)}
        infos = [store.find(run_id) for run_id in dict.fromkeys(run.info.id for run in runs)]
        fetched = [info for url in urls for info in _fetch(url, config, store)]
    _show([*infos, *fetched], as_json=as_json)
    for info in infos:
        _remark(info, known=info.id not in new, label=label)


def _fetch(url: str, config: Config, store: Store) -> tuple[AnyInfo, ...]:
    """Keep what `profkit push` has sent to a URL, and delete it there."""
    from profkit.ingest.keep import ingest
    from profkit.ingest.push import fetch
    from profkit.store.places import RemotePlace

    try:
        fetch(RemotePlace(url), config.spool)
    except OSError as error:
        raise SpoolUnavailable(config.spool, error.strerror or str(error)) from error
    report = ingest(config.spool, store)
    for damage in report.damaged:
        say("warning", str(damage))
    return report.added


def _show(infos: Iterable[AnyInfo], *, as_json: bool) -> None:
    if as_json:
        from profkit.render.json.sampled import imported_json

        write(imported_json(infos))
    else:
        from profkit.render.registry import LISTED_RUNS

        write(LISTED_RUNS.text(tuple(infos), terminal=terminal()))


def _remark(info: AnyInfo, *, known: bool, label: str | None) -> None:
    """Report what the table does not show: whether a run was already stored, and what its file lacks."""
    if known:
        fix = (
            "" if label in (None, info.label) else "; to change its label, remove it with `profkit rm` first"
        )
        say("note", f"{short_id(info.id)} ({info.label}) is already stored{fix}")
    elif isinstance(info, RunInfo) and info.imported is not None:
        from profkit.render.views.notes import note_text

        for note in info.notes:
            say("note", f"{short_id(info.id)} ({info.label}): {note_text(note)}")
        member = info.process.member
        if not member.job and (member.world_size or 1) > 1:
            lone = f"{short_id(info.id)} ({info.label}) is of rank {member.rank}, and of no job"
            say("note", f"{lone}; name the traces of all ranks together, or set {JOB} to its name")
