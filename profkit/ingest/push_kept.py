"""Sending of runs that a store keeps; they stay there, and it notes the places to which they were sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from profkit.errors import DamagedFile, RunNotFound
from profkit.ingest.keep import AT_ONCE, SAMPLES_AT_ONCE, add_each
from profkit.ingest.push import PushReport, has_time, sum_of
from profkit.ingest.servers.profile_server import ProfileServer, RunsRefused
from profkit.model.measurement import AnyRun
from profkit.model.run import Run, RunInfo, derived_id
from profkit.store.known import IdTaken
from profkit.store.measured import SENT_SUFFIX
from profkit.store.places import Place
from profkit.store.run_files import encode_runs
from profkit.store.runs import Store

Send = Callable[[Sequence[AnyRun]], PushReport]
"""Sends some runs, and reports what has become of them; raises StoreUnavailable or PlaceUnavailable."""

_LONGEST_NAME = 100


def push_kept(kept: Store, run_ids: Iterable[str], place: str, host: str, send: Send) -> PushReport:
    """Send those of a store's runs that were recorded on a host, and note each that is in the place.

    After any interruption, the next call sends the rest, and at most one batch again, which the receiver
    knows by its ids. Runs that cannot be read, or whose ids other runs there have, are reported.
    """
    reports: list[PushReport] = []
    for batch in _batches(kept, run_ids, host, reports):
        reports.append(report := send(batch))
        refused = {error.run_id for error in report.damaged if isinstance(error, IdTaken)}
        refused |= {error.name for error in report.refused}
        kept.note_sent([run.info.id for run in batch if run.info.id not in refused], place)
    return sum_of(reports)


def _batches(
    kept: Store, run_ids: Iterable[str], host: str, reports: list[PushReport]
) -> Iterator[list[AnyRun]]:
    batch: list[AnyRun] = []
    samples = 0
    for run_id in run_ids:
        try:
            run = kept.load(run_id, trace_file=True)
        except DamagedFile as damage:
            reports.append(PushReport(damaged=(damage,)))
            continue
        except RunNotFound:  # removed meanwhile
            continue
        if run.info.process.host != host:
            continue
        batch.append(run)
        samples += run.info.samples if isinstance(run.info, RunInfo) else 0
        if len(batch) >= AT_ONCE or samples >= SAMPLES_AT_ONCE:
            yield batch
            batch, samples = [], 0
    if batch:
        yield batch


def send_to_store(store: Store, runs: Sequence[AnyRun]) -> PushReport:
    """Add runs to another store."""
    added, refused = add_each(store, {run.info.id: (run,) for run in runs})
    sent = len(runs) - len(refused)
    return PushReport(sent, sent - len(added), damaged=tuple(refused.values()))


def send_to_place(place: Place, runs: Sequence[AnyRun]) -> PushReport:
    """Write each run as a file that `ingest` reads."""
    known = 0
    for run in runs:
        name, data = f"{_name(run.info.id)}{SENT_SUFFIX}", encode_runs((run,))
        if place.size_of(name) == len(data):
            known += 1
        else:
            place.write(name, (data,))
    return PushReport(len(runs), known)


def send_to_server(server: ProfileServer, runs: Sequence[AnyRun]) -> PushReport:
    """Send each run with samples of time to a server of profiles."""
    reports: list[PushReport] = []
    for run in runs:
        if not isinstance(run, Run) or not has_time(run):
            reports.append(PushReport(unsuitable=1))
            continue
        try:
            server.send(run.info.id, (run,))
            reports.append(PushReport(1))
        except RunsRefused as refusal:
            reports.append(PushReport(refused=(refusal,)))
    return sum_of(reports)


def _name(run_id: str) -> str:
    """Return a name without characters that have a meaning in paths, which ids in imported files can have."""
    is_plain = run_id.isalnum() and run_id.isascii() and len(run_id) <= _LONGEST_NAME
    return run_id if is_plain else derived_id(run_id.encode("utf-8", "backslashreplace"))
