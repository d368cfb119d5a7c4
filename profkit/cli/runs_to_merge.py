"""Runs of a label that are merged: all, those since a time (`--since`), or those of a session."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from profkit.cli.output import say
from profkit.cli.versions import others_phrase
from profkit.cli.workspace import Workspace
from profkit.errors import NoRunsToMerge, UsageError
from profkit.model.measurement import AnyInfo, MeasuredInfo
from profkit.model.region import MEMRAY
from profkit.model.run import RunInfo
from profkit.render.formatting import count, moment
from profkit.units import parse_duration, short_id


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filter for the runs of a label to merge."""

    since_ns: int | None = None
    """Only runs that had calls after this moment, or are still being recorded."""
    sessions: tuple[str, ...] = ()
    """Only runs of sessions whose ids begin with one of these."""

    def has(self, info: RunInfo) -> bool:
        """Return whether the run passes."""
        recent = (
            self.since_ns is None
            or not info.state.is_final
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


def runs_to_merge(workspace: Workspace, run: str | None, wanted: Wanted) -> tuple[RunInfo, ...]:
    """Return the selected runs of a label that ran the same version of its code, newest first.

    This is the version of the given run, or of the newest run of a label. A message reports the number of
    runs of other versions. Raises RunNotFound, NoRunsToMerge if no run is selected, and UsageError for runs
    without samples.
    """
    named = _sampled(
        workspace.find(run) if run is not None or not wanted.sessions else _of_session(workspace, wanted)
    )
    all_of_label = [
        info
        for info in workspace.runs(named.label, None)
        if isinstance(info, RunInfo) and info.imported is None and info.plan.sampler != MEMRAY
    ]
    found = [info for info in all_of_label if wanted.has(info)]
    if not found:
        newest = all_of_label[0]
        raise NoRunsToMerge(named.label, str(wanted), f"{moment(newest.started_ns)[:19]} in {newest.session}")
    version = found[0].region.version if run in (None, named.label) else named.region.version
    same = tuple(info for info in found if info.region.version == version)
    if not same:
        raise NoRunsToMerge(named.label, f"with the code of run {named.id} {wanted}".rstrip(), _last(found))
    _mention_others(same[0], [info for info in found if info.region.version != version])
    return same


def _sampled(info: AnyInfo) -> RunInfo:
    if isinstance(info, MeasuredInfo):
        problem = f"run {info.id} ({info.label}) was measured, and only sampled runs can be merged"
        raise UsageError(problem, "leave out --all, --since and --session")
    if info.imported is not None:
        problem = f"run {info.id} ({info.label}) was imported, and only recorded runs can be merged"
        raise UsageError(problem, "leave out --all, --since and --session")
    if info.plan.sampler == MEMRAY:
        problem = f"run {info.id} ({info.label}) is of memory, and peaks of several processes do not add up"
        raise UsageError(problem, "leave out --all, --since and --session; `profkit list` shows each peak")
    return info


def _of_session(workspace: Workspace, wanted: Wanted) -> AnyInfo:
    """Return the newest run, of any label, of the requested sessions."""
    found = [info for info in workspace.runs(None, None) if isinstance(info, RunInfo) and wanted.has(info)]
    return found[0] if found else workspace.find(None)


def _mention_others(merged: RunInfo, others: Sequence[RunInfo]) -> None:
    """Report the runs of other code with this label, and how to see them."""
    if not others:
        return
    what = others_phrase(merged, others)
    verb = "is" if len(others) == 1 else "are"
    say(
        "note",
        f"{count(len(others), 'run')} of {what} {verb} left out; "
        f"`profkit report {short_id(others[0].id)} --all` merges those of the code that ran "
        f"at {moment(others[0].started_ns)[:19]}",
    )


def _last(infos: Sequence[RunInfo]) -> str:
    return f"{moment(infos[0].started_ns)[:19]} in {infos[0].session}"
