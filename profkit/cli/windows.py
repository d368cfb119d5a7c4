"""Windows of a program that is profiled all the time: which of them a report merges, and one row for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from profkit.cli.output import say
from profkit.cli.workspace import Workspace
from profkit.config import SETTINGS, WINDOWS, Config
from profkit.errors import UsageError
from profkit.model.measurement import AnyInfo
from profkit.model.run import RunInfo, WindowsInfo
from profkit.render.formatting import count

PUSH = SETTINGS["push"]
MOST_MERGED = 100
"""Maximum number of windows, the newest ones, that a report merges without an option."""
_SEARCHED = 10_000
"""Number of the newest runs among which windows are searched."""


def windows_of(workspace: Workspace, wanted: str | None) -> tuple[RunInfo, ...] | None:
    """Return the newest windows of the process that has the newest run of all, or of a label.

    None if this run is no window, or if an id selects it. A message reports that there are older ones.
    """
    info = workspace.find(wanted)
    is_of_run = wanted not in (None, info.label) or wanted == info.id
    if is_of_run or not is_window(info):
        return None
    found = tuple(islice(of_series(islice(workspace.each(info.label), _SEARCHED), info), MOST_MERGED + 1))
    if len(found) > MOST_MERGED:
        which = f"the newest {count(MOST_MERGED, 'window')}"
        say("note", f"{which} are shown; --all or --since 12h with the label {info.label!r} merges more")
    return found[:MOST_MERGED]


def folded(infos: Iterator[AnyInfo], limit: int) -> tuple[list[AnyInfo], bool]:
    """Return at most `limit` rows, newest first, and whether there are more: windows share a row.

    Of windows, those among the newest runs are counted.
    """
    rows: dict[tuple[object, ...], list[AnyInfo]] = {}
    has_more = has_windows = False
    for info in islice(infos, _SEARCHED):
        key = series(info) if is_window(info) else (info.id,)
        if key not in rows and len(rows) == limit:
            has_more = True
            if not has_windows:
                break
            continue
        has_windows = has_windows or is_window(info)
        rows.setdefault(key, []).append(info)
    return [_row(found) for found in rows.values()], has_more


def _row(found: Sequence[AnyInfo]) -> AnyInfo:
    windows = [info for info in found if isinstance(info, RunInfo)]
    return WindowsInfo.of(windows) if len(windows) > 1 else found[0]


def newest_windows(infos: Sequence[RunInfo]) -> tuple[RunInfo, ...]:
    """Return those of the runs of a job that began in the time of the newest windows; all if it has none."""
    newest = max(infos, key=lambda info: info.started_ns)
    if newest.plan.window_s is None:
        return tuple(infos)
    since_ns = newest.started_ns - MOST_MERGED * newest.plan.window_s * 1e9
    return tuple(info for info in infos if info.started_ns >= since_ns)


def is_window(info: AnyInfo) -> bool:
    """Return whether a run is of a session that others follow."""
    return isinstance(info, RunInfo) and info.plan.window_s is not None


def of_series(infos: Iterable[AnyInfo], like: AnyInfo) -> Iterator[RunInfo]:
    """Yield the windows of the same region of the same process."""
    return (
        info
        for info in infos
        if isinstance(info, RunInfo) and is_window(info) and series(info) == series(like)
    )


def series(info: AnyInfo) -> tuple[object, ...]:
    """Return what the windows of one region of one process have in common."""
    process = info.process
    place = process.host, process.pid, process.start_ticks
    return (*place, info.label, info.region.version) if isinstance(info, RunInfo) else (info.id,)


def keeping_variables(given: Mapping[str, object], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for --keep and --push; raises UsageError if there are no windows."""
    found: dict[str, str] = {}
    if given["keep"] is not None:
        found[SETTINGS["spool-limit"]] = str(given["keep"])
    if given["push"] is not None:
        found[PUSH] = _absolute(str(given["push"]))
    if found and given["windows"] is None and not environ.get(WINDOWS):
        raise UsageError("--keep and --push are for windows", "add --windows 60s, or leave them out")
    return found


def _absolute(place: str) -> str:
    """Return a place to push to that the program may use from any folder."""
    from profkit.store.places import folder_of

    folder = folder_of(place)
    return place if folder is None else str(folder.absolute())


def finish_pushing(place: str, config: Config, *, quiet: bool) -> None:
    """Wait for the companion that sends the windows, which ends soon after the program, and report."""
    from profkit.ingest.following import await_companion
    from profkit.store.places import is_profile_server
    from profkit.store.urls import hide_password

    left = await_companion(config.spool)
    if left:
        detail = f"{count(left, 'session')} could not be sent to {hide_password(place)} and"
        say("warning", f"{detail} wait in {config.spool}; {_fix(place)}")
    elif not quiet:
        where = "" if is_profile_server(place) else ", where `profkit report` shows them"
        say("note", f"the windows were sent to {hide_password(place)}{where}")


def _fix(place: str) -> str:
    from profkit.store.places import is_profile_server

    if is_profile_server(place):  # it takes no sessions without samples
        return "`profkit push --to` sends those with samples, and `profkit report` shows them here"
    return "`profkit push --to` sends them"
