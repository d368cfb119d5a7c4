"""`profkit push`: send finished sessions and kept runs to a store, a folder or a URL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import rare_option
from profkit.cli.output import say, write
from profkit.cli.workspace import is_spool_empty, report_dropped
from profkit.config import Config
from profkit.errors import UsageError

if TYPE_CHECKING:
    from profkit.ingest.push import PushReport
    from profkit.ingest.push_kept import Send

_NICENESS = 10
"""How much others come first while a program is followed."""


@click.command("push")
@click.option(
    "--to", metavar="STORE|FOLDER", help="Store, folder or URL.  [default: PROFKIT_PUSH, or the store]"
)
@rare_option("--json", "as_json", is_flag=True, help="Write the numbers as JSON.")
@rare_option("--gone", metavar="HOST", help="First end the sessions of a host that was lost.")
@rare_option("--follow", is_flag=True, help="Send each session when it ends, until none is being recorded.")
@click.pass_obj
def push_command(config: Config, to: str | None, gone: str | None, *, follow: bool, as_json: bool) -> None:
    """Send finished sessions and runs elsewhere.

    Each is sent once, however often this is interrupted. A session is deleted here when it is there. Runs of
    this machine that its store keeps stay in it. Sessions that are being recorded are not sent. Another
    machine reads FOLDER with PROFKIT_SPOOL=FOLDER, and a URL such as s3://bucket/runs with `profkit import`.
    """
    from profkit.store.places import folder_of, is_store

    place = to or config.push or config.store_url
    folder = folder_of(place)
    if gone is not None:
        _end_sessions(config, folder or config.spool, gone)
    send = partial(_to_store, config, place) if is_store(place) else partial(_to_place, config, place, folder)
    if follow:
        _follow(config, send)
    else:
        _show(config, place, send(), as_json=as_json)


def _follow(config: Config, send: Callable[[], PushReport]) -> None:
    from profkit.ingest.following import follow

    def send_and_report() -> None:
        report = send()
        for error in (*report.damaged, *report.refused):
            say("warning", str(error))

    os.nice(_NICENESS)
    follow(config.spool, send_and_report, partial(say, "warning"))


def _end_sessions(config: Config, spool: Path, host: str) -> None:
    from profkit.ingest.push import end_sessions_of

    if host == os.uname().nodename:
        raise UsageError(
            f"{host} is this machine, whose processes can be looked for",
            "run `profkit list`, which does that",
        )
    number = end_sessions_of(spool, host, config.owner)
    say("note", f"unfinished sessions of {host} that were ended in {spool}: {number}")


def _to_store(config: Config, url: str) -> PushReport:
    from profkit.ingest.push import sum_of
    from profkit.store.urls import hide_password

    moved = [] if is_spool_empty(config) else [_move_to_store(config, url)]  # nothing makes a database
    file = _database_file(url)
    place = hide_password(url) if file is None else str(file)
    return sum_of([*moved, _send_kept(config, place, _sending_to_store(url))])


def _move_to_store(config: Config, url: str) -> PushReport:
    """Move everything in the spool into a store; what is sent are its new runs."""
    from profkit.ingest.keep import ingest
    from profkit.ingest.push import PushReport
    from profkit.store.runs import open_store

    with open_store(url) as store:
        report = ingest(config.spool, store, owner=config.owner)
    report_dropped(config, report)
    return PushReport(len(report.added), recording=len(report.recording), damaged=report.damaged)


@contextmanager
def _sending_to_store(url: str) -> Iterator[Send]:
    from profkit.ingest.push_kept import send_to_store
    from profkit.store.runs import open_store

    with open_store(url) as store:
        yield partial(send_to_store, store)


def _to_place(config: Config, url: str, folder: Path | None) -> PushReport:
    from profkit.ingest.keep import clear_unfinished
    from profkit.ingest.push import PushReport, push, sum_of
    from profkit.ingest.push_kept import send_to_place, send_to_server
    from profkit.ingest.servers.profile_server import ProfileServer
    from profkit.store.places import FolderPlace, RemotePlace, is_profile_server

    if folder is not None and folder.exists() and config.spool.exists() and config.spool.samefile(folder):
        raise UsageError(f"{folder} is the spool of this machine itself", "give another folder with --to")
    there: FolderPlace | RemotePlace | ProfileServer
    if folder is not None:
        there = FolderPlace(folder)
    else:
        there = ProfileServer(url) if is_profile_server(url) else RemotePlace(url)
    with closing(there):
        moved = push(config.spool, there, owner=config.owner)
        place = there.name if folder is None else str(folder.resolve())
        send = (
            partial(send_to_server, there)
            if isinstance(there, ProfileServer)
            else partial(send_to_place, there)
        )
        kept = _send_kept(config, place, nullcontext(send))
    cleared = PushReport(damaged=clear_unfinished(config.spool, owner=config.owner))
    return sum_of([moved, kept, cleared])


def _send_kept(config: Config, place: str, sending: AbstractContextManager[Send]) -> PushReport:
    """Send what this machine's store keeps and has not sent to a place yet; a server is no machine's."""
    from profkit.ingest.push import PushReport
    from profkit.ingest.push_kept import push_kept
    from profkit.store.runs import open_store

    file, host = _database_file(config.store_url), os.uname().nodename
    if file is None or not file.exists() or place == str(file):
        return PushReport()
    with open_store(config.store_url) as kept:
        if not (unsent := kept.unsent(place, host)):
            return PushReport()
        with sending as send:
            return push_kept(kept, unsent, place, host, send)


def _database_file(url: str) -> Path | None:
    from profkit.store.urls import SqlitePlace

    place = SqlitePlace.of(url)
    return None if place is None or place.file is None else Path(place.file).resolve()


def _show(config: Config, place: str, report: PushReport, *, as_json: bool) -> None:
    from profkit.store.urls import hide_password

    name = hide_password(place)
    if as_json:
        from profkit.render.json.sampled import pushed_json

        write(pushed_json(name, report.sent, report.known, report.recording))
    elif report.sent:
        known = f", {report.known} of which were there already" if report.known else ""
        write(f"sent {_number(report.sent, 'session or run')} to {name}{known}")
    else:
        say("note", f"there is nothing to send in {config.spool}, nor a kept run that is not in {name} yet")
    if report.recording:
        say("note", f"{_number(report.recording, 'session')} may still be written to: not sent")
    if report.unsuitable:
        kept = _number(report.unsuitable, "session or run")
        say("note", f"{kept} without samples of time, which {name} does not take: not sent")
    for damage in report.damaged:
        say("warning", str(damage))
    for refusal in report.refused[1:]:
        say("warning", str(refusal))
    if report.refused:
        raise report.refused[0]


def _number(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number} {what.replace('session', 'sessions').replace('run', 'runs')}"
