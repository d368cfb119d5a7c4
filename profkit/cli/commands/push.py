"""`profkit push`: send finished sessions to a store, a folder or a URL."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import click

from profkit.cli.options import rare_option
from profkit.cli.output import say, write
from profkit.cli.workspace import is_spool_empty, report_dropped
from profkit.config import Config
from profkit.errors import UsageError
from profkit.units import format_bytes


@click.command("push")
@click.option(
    "--to", metavar="STORE|FOLDER", help="Store, folder or URL.  [default: the store of PROFKIT_STORE]"
)
@rare_option("--gone", metavar="HOST", help="First end the sessions of a host that was lost.")
@click.pass_obj
def push_command(config: Config, to: str | None, gone: str | None) -> None:
    """Send finished sessions and measured runs elsewhere.

    Each is deleted here when it is there, and is there once, however often this is interrupted. Sessions that
    are being recorded stay. Another machine reads FOLDER with PROFKIT_SPOOL=FOLDER, and a URL such as
    s3://bucket/runs with `profkit import`.
    """
    from profkit.store.places import as_folder, is_remote, is_store

    place = to or config.store_url
    folder = None if is_store(place) or is_remote(place) else as_folder(place)
    if gone is not None:
        _end_sessions(config, folder or config.spool, gone)
    if is_store(place):
        _keep(config, place)
    else:
        _send(config, place, folder)


def _end_sessions(config: Config, spool: Path, host: str) -> None:
    from profkit.ingest.push import end_sessions_of

    if host == os.uname().nodename:
        raise UsageError(
            f"{host} is this machine, whose processes can be looked for",
            "run `profkit list`, which does that",
        )
    number = end_sessions_of(spool, host, config.owner)
    say("note", f"unfinished sessions of {host} that were ended in {spool}: {number}")


def _keep(config: Config, url: str) -> None:
    from profkit.ingest.keep import ingest
    from profkit.store.runs import open_store

    if is_spool_empty(config):  # nothing makes a database
        _say_empty(config)
        return
    with open_store(url) as store:
        report = ingest(config.spool, store, owner=config.owner)
        write(f"kept {_number(len(report.added), 'new run')} in {store.name}")
    _say_rest(len(report.recording))
    report_dropped(config, report)
    for damage in report.damaged:
        say("warning", str(damage))


def _send(config: Config, url: str, folder: Path | None) -> None:
    from profkit.ingest.keep import clear_unfinished
    from profkit.ingest.push import push
    from profkit.store.places import FolderPlace, RemotePlace

    if folder is not None and folder.exists() and config.spool.samefile(folder):
        raise UsageError(f"{folder} is the spool of this machine itself", "give another folder with --to")
    place = RemotePlace(url) if folder is None else FolderPlace(folder)
    with closing(place):
        report = push(config.spool, place, owner=config.owner)
    if report.sent:
        known = f", {report.known} of which were there already" if report.known else ""
        sent = f"{_number(report.sent, 'session or measured run')} ({format_bytes(report.sent_bytes)})"
        write(f"sent {sent} to {place.name}{known}")
    else:
        _say_empty(config)
    _say_rest(report.recording)
    for damage in (*report.damaged, *clear_unfinished(config.spool, owner=config.owner)):
        say("warning", str(damage))


def _say_empty(config: Config) -> None:
    say(
        "note",
        f"there is nothing to send in {config.spool}; runs that a command has kept are no longer in it",
    )


def _say_rest(recording: int) -> None:
    if recording:
        say(
            "note",
            f"{_number(recording, 'session')} may still be written to, and stay{'s' * (recording == 1)} here",
        )


def _number(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number} {what.replace('session', 'sessions').replace('run', 'runs')}"
