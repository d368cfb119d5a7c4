"""Runs of a job: which job a text means, and which of its runs are merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from profkit.cli.output import say
from profkit.cli.windows import newest_windows, runs_of_job
from profkit.cli.workspace import Workspace
from profkit.errors import ProfkitError, RunNotFound, UsageError
from profkit.model.measurement import AnyInfo
from profkit.model.region import MEMRAY
from profkit.model.run import RunInfo
from profkit.render.escape import short
from profkit.render.formatting import count
from profkit.units import short_id

_NAMED = 3


class JobNotFound(RunNotFound):
    """No job has the requested name, and no run of one has this id or label."""

    def __init__(self, wanted: str | None) -> None:
        which = "there is no job in the store" if wanted is None else f"no job matches {wanted!r}"
        ProfkitError.__init__(
            self,
            f"{which}; `profkit list --jobs` shows all: of processes that torchrun, mpirun or srun started, "
            "or that have the variable PROFKIT_JOB",
        )


@dataclass(frozen=True, slots=True)
class JobRuns:
    """The runs of a job: those of one region, which are merged, and all others."""

    merged: tuple[RunInfo, ...]
    """Newest first."""
    others: tuple[RunInfo, ...] = ()

    def mention_others(self) -> None:
        """Report which other labels the job has."""
        labels = tuple(dict.fromkeys(info.label for info in self.others))
        if labels:
            named = ", ".join(short(label) for label in labels[:_NAMED])
            more = f" and {count(len(labels) - _NAMED, 'more')}" if len(labels) > _NAMED else ""
            shown = short_id(self.others[0].id)
            say(
                "note", f"the job also has runs of {named}{more}; `profkit report --job {shown}` shows others"
            )


def job_runs(workspace: Workspace, wanted: str | None) -> JobRuns:
    """Return the runs of the newest job, or of the newest one whose name begins with a text.

    The text may also be a run or a label: then those of this label, in the job of that run. Raises
    JobNotFound, and UsageError if nothing in the job can be merged.
    """
    found = runs_of_job(workspace, wanted) if wanted else ()
    if not found and wanted != "" and (names := workspace.jobs(wanted or "", 1)):
        found = runs_of_job(workspace, names[0])
    if found:
        return chosen(found, None)
    try:
        info = workspace.find(wanted)
    except RunNotFound as error:
        raise JobNotFound(wanted) from error
    if not isinstance(info, RunInfo) or not info.process.member.job:
        raise JobNotFound(wanted)
    return chosen(runs_of_job(workspace, info.process.member.job), info)


def ranks_of(workspace: Workspace, wanted: str | None) -> JobRuns | None:
    """Return the runs of a job with ranks to which the newest run, or that of a label, belongs.

    None if it belongs to none, if an id selects a single run, or if nothing is to be merged.
    """
    info = workspace.find(wanted)
    member = info.process.member
    is_of_run = wanted not in (None, info.label) or wanted == info.id
    is_of_ranks = member.rank is not None and member.job != ""
    if is_of_run or not is_of_ranks or not isinstance(info, RunInfo) or not _can_merge(info):
        return None
    found = chosen(runs_of_job(workspace, member.job), info if wanted is not None else None)
    return found if len(found.merged) > 1 else None


def chosen(infos: Iterable[RunInfo], like: RunInfo | None) -> JobRuns:
    """Return the runs of one region: that of a run, else that of the most processes and samples.

    Raises UsageError if none can be merged.
    """
    every = tuple(infos)
    groups: dict[tuple[str, str], list[RunInfo]] = {}
    for info in every:
        if _can_merge(info):
            groups.setdefault(_region(info), []).append(info)
    if not groups or (like is not None and _region(like) not in groups):
        problem = "the job has only runs of memory, and peaks of several processes do not add up"
        raise UsageError(problem, "`profkit list` shows each peak")
    region = max(groups, key=lambda key: weight(groups[key])) if like is None else _region(like)
    return JobRuns(newest_windows(groups[region]), tuple(info for info in every if _region(info) != region))


def _region(info: RunInfo) -> tuple[str, str]:
    return info.label, info.region.version


def _can_merge(info: AnyInfo) -> bool:
    is_foreign = isinstance(info, RunInfo) and info.imported is not None and not info.process.member.job
    return isinstance(info, RunInfo) and not is_foreign and info.plan.sampler != MEMRAY


def weight(infos: Sequence[RunInfo]) -> tuple[int, int]:
    """Return the numbers of processes and samples of runs, by which the main ones are chosen."""
    places = {(info.process.host, info.process.pid, info.process.start_ticks) for info in infos}
    return len(places), sum(info.samples for info in infos)
