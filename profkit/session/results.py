"""Results of a region in this process, read back from its sessions' folders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.errors import DamagedFile, SpoolUnavailable
from profkit.process.guard import reraise_signal_error
from profkit.session.counters import Counters

if TYPE_CHECKING:
    from profkit.model.run import Run
    from profkit.model.session import Segment

_Stamp = tuple[int, int]
_READ: dict[tuple[Path, str, int], tuple[_Stamp, Run | None]] = {}
"""Runs that were read last, by folder, region and first segment, with the folder's state at that time."""
_MOST_READ = 30


def runs_in(folders: Sequence[Path], region_id: str, first_segment: int = 0) -> Iterator[Run]:
    """Yield a region's runs in the folders of sessions, in their order, as `slow_path.results_of`.

    A session that was never started, or whose folder is gone, has no run. Raises SpoolUnavailable if the
    recordings are no longer readable, as after a change of user.
    """
    try:
        for folder in folders:
            if (run := _run_in(folder, region_id, first_segment)) is not None:
                yield run
    except OSError as error:
        reraise_signal_error(error)
        raise SpoolUnavailable(folders[0].parent, error.strerror or str(error)) from error


def current_id(counters: Counters, spool: Path) -> str | int:
    """Return the id of a region's newest run, or its remote id, without reading the result."""
    from profkit.ingest.read import run_id

    remote = [segment.remote_id for segment in _segments(counters, spool) if segment.remote_id is not None]
    return int(remote[-1]) if remote else run_id(counters.sessions[-1], counters.region.id)


def is_lost(counters: Counters, spool: Path) -> bool:
    """Return whether the samples of the newest session's last segment are lost."""
    segments = _segments(counters, spool)
    return not segments or segments[-1].error is not None


def _segments(counters: Counters, spool: Path) -> tuple[Segment, ...]:
    """Return the segments of a region's newest session; none if its folder is gone."""
    from profkit.store.spool import read_session

    try:
        return read_session(spool / counters.sessions[-1]).manifest.segments
    except DamagedFile as error:
        reraise_signal_error(error)
        return ()


def _run_in(folder: Path, region_id: str, first_segment: int) -> Run | None:
    stamp = _stamp(folder)
    if stamp is None:
        return None
    key = folder, region_id, first_segment
    known = _READ.get(key)
    if known is not None and known[0] == stamp:
        return known[1]
    from profkit.ingest.read import read_runs

    runs = {run.info.region.id: run for run in read_runs(folder, first_segment=first_segment).runs}
    _READ.pop(key, None)
    for oldest in list(_READ)[: 1 - _MOST_READ]:
        _READ.pop(oldest, None)
    _READ[key] = stamp, runs.get(region_id)
    return runs.get(region_id)


def _stamp(folder: Path) -> _Stamp | None:
    from profkit.store.spool import CALLS, MANIFEST

    try:
        calls = folder / CALLS
        return (folder / MANIFEST).stat().st_mtime_ns, calls.stat().st_size if calls.exists() else 0
    except FileNotFoundError:
        return None
