"""Windows of a program: how many of the newest a report merges, one row for all; `--keep` and `--push`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
MOST_OF_JOB = 1000
"""Maximum number of windows of a job, of which there are then fewer of each process."""


def windows_of(workspace: Workspace, wanted: str | None) -> tuple[RunInfo, ...] | None:
    """Return the newest windows of the process that has the newest run of all, or of a label.

    None if this run is no window, or if an id selects it. A message reports that there are older ones.
    """
    info = workspace.find(wanted)
    is_of_run = wanted not in (None, info.label) or wanted == info.id
    if is_of_run or not isinstance(info, RunInfo) or not info.series:
        return None
    found = workspace.windows(info.series, MOST_MERGED + 1)
    if len(found) > MOST_MERGED:
        _say_newest(MOST_MERGED, info)
    return found[:MOST_MERGED]


def _say_newest(windows: int, of: RunInfo, whose: str = "") -> None:
    which = f"the newest {count(windows, 'window')}{whose}"
    say("note", f"{which} are shown; --all or --since 12h with the label {of.label!r} merges more")


def folded(workspace: Workspace, label: str | None, limit: int) -> tuple[list[AnyInfo], bool]:
    """Return at most `limit` rows, newest first, and whether there are more: windows share a row.

    What is being recorded comes first.
    """
    live: dict[str, list[AnyInfo]] = {}
    for info in sorted((run.info for run in workspace.recording), key=lambda info: -info.started_ns):
        if label in (None, info.label):
            live.setdefault(info.series or info.id, []).append(info)
    kept, has_more = workspace.store.folded(label, limit, without=live)
    rows = [_row([*infos, *workspace.store.sums(series)]) for series, infos in live.items()]
    rows += kept
    return rows[:limit], has_more or len(rows) > limit


def _row(found: Sequence[AnyInfo]) -> AnyInfo:
    windows = [info for info in found if isinstance(info, RunInfo)]
    return WindowsInfo.of(windows) if len(windows) > 1 else found[0]


def runs_of_job(workspace: Workspace, name: str) -> tuple[RunInfo, ...]:
    """Return the runs of a job; if they are very many windows, the newest ones."""
    found = workspace.job(name, MOST_OF_JOB + 1)
    if len(found) <= MOST_OF_JOB:
        return found
    window_s = max(found, key=lambda info: info.started_ns).plan.window_s
    if window_s is None:
        return workspace.job(name)
    whole = (found[0].started_ns - found[-1].started_ns) / 1e9 // window_s
    return newest_windows(found, min(MOST_MERGED, max(1, int(whole))))


def newest_windows(infos: Sequence[RunInfo], most: int = MOST_MERGED) -> tuple[RunInfo, ...]:
    """Return those of the runs of a job that began in the time of the newest windows; all if it has none.

    A message reports that there are older ones.
    """
    newest = max(infos, key=lambda info: info.started_ns)
    if newest.plan.window_s is None:
        return tuple(infos)
    since_ns = newest.started_ns - most * newest.plan.window_s * 1e9
    kept = tuple(info for info in infos if info.started_ns > since_ns)
    if len(kept) < len(infos):
        _say_newest(most, newest, " of each process")
    return kept


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
