"""Which runs `profkit report --all` merges, and the report about them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from profkit.cli.kept import Kept
from profkit.cli.output import tell
from profkit.cli.versions import others_phrase
from profkit.errors import DamagedFile, NoRunsToMerge, UsageError
from profkit.model.measurement import MeasuredInfo
from profkit.model.run import AnyInfo, Run, RunInfo
from profkit.model.session import SessionState
from profkit.render.words import count, moment
from profkit.units import parse_duration

_ENDED = (SessionState.SUCCESS, SessionState.FAILED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The runs of a label that are to be merged."""

    since_ns: int | None = None
    """Only runs that had calls after this moment, or are still being recorded."""
    sessions: tuple[str, ...] = ()
    """Only runs of sessions whose ids begin with one of these."""

    def has(self, info: RunInfo) -> bool:
        """Whether the run is one of them."""
        recent = (
            self.since_ns is None
            or info.state not in _ENDED
            or max(info.last_ns, info.started_ns) >= self.since_ns
        )
        return recent and (not self.sessions or info.session.startswith(self.sessions))

    def __str__(self) -> str:
        since = f"since {moment(self.since_ns)[:19]}" if self.since_ns is not None else ""
        session = f"in session {' or '.join(self.sessions)}" if self.sessions else ""
        return " ".join(filter(None, (session, since)))


def parse_moment(text: str, now_ns: int | None = None) -> int:
    """Return the Unix time in nanoseconds of `2h` ago, or of an ISO time, which is local without an offset.

    Raises UsageError for anything else.
    """
    try:
        ago_s = parse_duration(text)
    except ValueError:
        try:
            return round(datetime.fromisoformat(text).timestamp() * 1e9)
        except (ValueError, OverflowError) as error:
            problem = f"--since {text!r} is neither a duration nor a time"
            raise UsageError(problem, "give it as 10m, 2h, 1d or 2026-11-22T14:30") from error
    return (time.time_ns() if now_ns is None else now_ns) - round(ago_s * 1e9)


def runs_to_merge(kept: Kept, run: str | None, wanted: Wanted) -> tuple[RunInfo, ...]:
    """Return the runs of a label that are wanted, newest first: all that ran the same version of its code.

    That is the version of the run that is named, or the newest one of a label. Says how many runs of others
    there are. Raises RunNotFound, NoRunsToMerge if none is wanted, and UsageError for runs without samples.
    """
    named = _sampled(kept.find(run) if run is not None or not wanted.sessions else _of_session(kept, wanted))
    all_of_label = [
        info for info in kept.runs(named.label, None) if isinstance(info, RunInfo) and info.imported is None
    ]
    found = [info for info in all_of_label if wanted.has(info)]
    if not found:
        newest = all_of_label[0]
        raise NoRunsToMerge(named.label, str(wanted), f"{moment(newest.started_ns)[:19]} in {newest.session}")
    version = found[0].region.id if run in (None, named.label) else named.region.id
    same = tuple(info for info in found if info.region.id == version)
    if not same:
        raise NoRunsToMerge(named.label, f"with the code of run {named.id} {wanted}".rstrip(), _last(found))
    _tell_others(same[0], [info for info in found if info.region.id != version])
    return same


def loaded_runs(kept: Kept, infos: Sequence[RunInfo]) -> Iterator[Run]:
    """Load the runs; those that are damaged are named and left out, unless there is no other."""
    damages: list[DamagedFile] = []
    for info in infos:
        try:
            run = kept.load(info, in_order=False)
        except DamagedFile as error:
            damages.append(error)
            continue
        if isinstance(run, Run):
            yield run
    if len(damages) == len(infos):
        raise damages[0]
    for damage in damages:
        tell("warning", str(damage))


def _sampled(info: AnyInfo) -> RunInfo:
    if isinstance(info, MeasuredInfo):
        problem = f"run {info.id} ({info.label}) was measured, and only sampled runs can be merged"
        raise UsageError(problem, "leave out --all, --since and --session")
    if info.imported is not None:
        problem = f"run {info.id} ({info.label}) was imported, and only recorded runs can be merged"
        raise UsageError(problem, "leave out --all, --since and --session")
    return info


def _of_session(kept: Kept, wanted: Wanted) -> AnyInfo:
    """Return the newest run, of any label, of the sessions that are asked for."""
    found = [info for info in kept.runs(None, None) if isinstance(info, RunInfo) and wanted.has(info)]
    return found[0] if found else kept.find(None)


def _tell_others(merged: RunInfo, others: Sequence[RunInfo]) -> None:
    """Say that there are runs of other code with this label, and how to see them."""
    if not others:
        return
    what = others_phrase(merged.region, (info.region for info in others))
    verb = "is" if len(others) == 1 else "are"
    tell(
        "note",
        f"{count(len(others), 'run')} of {what} {verb} left out: `profkit report {others[0].id} --all` "
        f"merges those of the code that ran at {moment(others[0].started_ns)[:19]}",
    )


def _last(infos: Sequence[RunInfo]) -> str:
    return f"{moment(infos[0].started_ns)[:19]} in {infos[0].session}"
