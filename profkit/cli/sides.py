"""Sides of a comparison: runs that LABEL, LABEL@REVISION, run ids and files name.

A side is the id of a run or its prefix, a label (its newest run and all runs like it), the id of a batch (all
of its runs), LABEL@REVISION (all runs of the label that were recorded at that commit), a file that
`profkit import` reads, or several of these separated by commas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.cli.files import runs_of_file
from profkit.cli.jobs import job_runs
from profkit.cli.workspace import Workspace, current_folder, nothing_recorded, open_workspace
from profkit.comparing.selection import MOST_RUNS, Selection, left_out_findings, select_alike
from profkit.config import Config
from profkit.errors import RunNotFound, StoreEmpty, UsageError
from profkit.model.measurement import AnyInfo, AnyRun, MeasuredInfo, MeasuredRun
from profkit.model.run import Run, RunInfo
from profkit.process.git import commit_of
from profkit.process.manifest import git_commit

if TYPE_CHECKING:
    from profkit.model.profile import Value
    from profkit.render.views.gate import Comparison

_COMMIT = 10
"""Digits of a commit in an error."""
_MOST_SEARCHED = 500
"""Number of a label's newest runs among which those to compare are searched first."""


@dataclass(frozen=True, slots=True)
class Side:
    """The selected runs, all of one kind, and the text that selected them."""

    text: str
    runs: tuple[AnyRun, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """Numbers of runs of its labels that are unlike their newest ones, by reason."""

    @property
    def measured(self) -> tuple[MeasuredRun, ...]:
        """Its measured runs."""
        return tuple(run for run in self.runs if isinstance(run, MeasuredRun))

    @property
    def sampled(self) -> tuple[Run, ...]:
        """Its sampled runs."""
        return tuple(run for run in self.runs if isinstance(run, Run))

    @property
    def is_of_memory(self) -> bool:
        """Whether it has runs of memory."""
        return any(run.info.memory is not None for run in self.sampled)


def compare_sides(a: Side, b: Side, value: Value | None = None) -> Comparison:
    """Compare two sides of the same kind: measured runs, those of memory by a value, or sampled ones.

    Raises UsageError if nothing matches, or only runs of memory have such values.
    """
    compared: Comparison
    if a.is_of_memory or b.is_of_memory:
        from profkit.comparing.memory import compare_memory

        compared = compare_memory(a.sampled, b.sampled, value)
    elif value is not None:
        raise UsageError("--value is for runs with mode='memory'", "leave it out")
    elif a.measured:
        from profkit.comparing.measured import compare_measured

        compared = compare_measured(a.measured, b.measured, (a.text, b.text))
    else:
        from profkit.comparing.sampled import compare_sampled

        compared = compare_sampled(a.sampled, b.sampled)
    return replace(compared, notes=(*left_out_findings((a.left_out, b.left_out)), *compared.notes))


def call_times(runs: Sequence[AnyRun]) -> list[float]:
    """Return the mean time of a call of each sampled run in which one ended."""
    infos = (run.info for run in runs if isinstance(run, Run))
    return [info.wall_s / info.outermost_calls for info in infos if info.outermost_calls]


@contextmanager
def open_sides(config: Config) -> Iterator[Sides]:
    """Open the finder of sides; if all of them are files, no store is necessary."""
    if nothing_recorded(config):
        yield Sides(None, config)
        return
    with open_workspace(config) as workspace:
        yield Sides(workspace, config)


class Sides:
    """Finder of the runs that a text selects, in the store and in files."""

    def __init__(self, workspace: Workspace | None, config: Config) -> None:
        self._workspace, self._config = workspace, config

    @property
    def workspace(self) -> Workspace:
        """The runs in the store; raises StoreEmpty if there are none."""
        if self._workspace is None:
            raise StoreEmpty(self._config.store_url, self._config.spool)
        return self._workspace

    def side(self, text: str, without: Collection[str] = ()) -> Side:
        """Return the runs that a text selects, without those whose ids or batches are excluded.

        Raises RunNotFound, and UsageError for an invalid revision or file, and for runs of both kinds.
        """
        runs: dict[str, AnyRun] = {}
        left_out: Counter[str] = Counter()
        for part in self._parts(text):
            found, reasons = self._runs(part, without)
            runs |= {run.info.id: run for run in found}
            left_out.update(dict(reasons))
        if not runs:
            raise RunNotFound(text)
        side = Side(text, tuple(runs.values()), tuple(left_out.items()))
        if side.measured and side.sampled:
            raise UsageError(f"{text!r} means sampled and measured runs", "name runs of one kind")
        return side

    def has(self, text: str) -> bool:
        """Return whether a text selects runs, before any are excluded."""
        return all(map(self._is_known, self._parts(text)))

    def newest(self) -> Side:
        """Return the newest run, with all of its batch if it was measured; raises StoreEmpty.

        If the batch was only timed or only counted, return the last run of the other kind of each order, too.
        Of a batch that measured several commits, return the runs of the one that is checked out here. Raises
        UsageError if none of them is.
        """
        infos = _of_one_commit(self.workspace.find_all(None), "the newest runs")
        labels = tuple(dict.fromkeys(info.label for info in infos))
        completed = [one for label in labels for one in self._completed(label, infos)]
        name = labels[0] if len(labels) == 1 else f"{len(infos)} statements"
        return Side(f"{name}, newest", tuple(self.workspace.load(info) for info in completed))

    def job(self, text: str | None) -> Side:
        """Return the ranks of a job, of the newest one without a text; raises JobNotFound and UsageError."""
        infos = job_runs(self.workspace, text).merged
        return Side(text or infos[0].process.member.job, tuple(self.workspace.load_sampled(infos)))

    def newest_of(self, label: str) -> Side:
        """Return the newest run of a label, with all of its batch if it was measured."""
        infos = _of_one_commit(self.workspace.find_all(label), f"the newest runs of {label!r}")
        return Side(label, tuple(self.workspace.load(info) for info in infos))

    def _completed(self, label: str, batch: Sequence[AnyInfo]) -> Iterator[AnyInfo]:
        """Yield the runs of a label in a batch, and the last runs like them with what these lack."""
        own = [info for info in batch if info.label == label]
        yield from own
        lacking = {(order, measure) for info in own for order, measure in _lacks(info)}
        if lacking:
            for info in reversed(select_alike(own, self._earlier(label, own)).taken):
                if found := lacking & set(_has(info)):
                    lacking -= found
                    yield info

    def _earlier(self, label: str, than: Sequence[AnyInfo]) -> list[AnyInfo]:
        """Return all other runs of a label, the newest first."""
        known = {info.id for info in than}
        return [info for info in self.workspace.each(label) if info.id not in known]

    def at_commit(self, label: str, commit: str, without: Collection[str] = ()) -> tuple[AnyRun, ...]:
        """Return all runs of a label that were recorded at a commit, oldest first."""
        infos = [info for info in self.workspace.runs(label, None) if info.process.git_commit == commit]
        return tuple(self.workspace.load(info) for info in reversed(infos) if not _left_out(info, without))

    def _parts(self, text: str) -> Iterator[str]:
        """Yield the whole text if it selects runs, else the longest parts between commas that do."""
        words = text.split(",")
        while words:
            lengths = range(len(words), 0, -1)
            length = next((length for length in lengths if self._is_known(",".join(words[:length]))), 1)
            yield ",".join(words[:length])
            words = words[length:]

    def _is_known(self, part: str) -> bool:
        return (
            Path(part).is_file()
            or self._is_kept(part)
            or bool(self._batch(part))
            or self._at_revision(part) is not None
        )

    def _is_kept(self, wanted: str) -> bool:
        if self._workspace is None or not wanted:
            return False
        try:
            return bool(self._workspace.find(wanted))
        except RunNotFound:
            return False
        except UsageError:  # several match, as `find` will report
            return True

    def _runs(
        self, part: str, without: Collection[str]
    ) -> tuple[tuple[AnyRun, ...], Sequence[tuple[str, int]]]:
        """Return the runs of a part, and how many runs of a label are left out, by reason."""
        if self._is_kept(part):
            selected = self._selected(part, without)
            return tuple(self.workspace.load(info) for info in selected.taken), selected.left_out
        return self._other_runs(part, without), ()

    def _other_runs(self, part: str, without: Collection[str]) -> tuple[AnyRun, ...]:
        if batch := self._batch(part):
            return tuple(self.workspace.load(info) for info in batch)
        if Path(part).is_file():
            return runs_of_file(part)
        if (named := self._at_revision(part)) is None:
            raise RunNotFound(part) if self._workspace is None else self._workspace.not_found(part)
        label, revision = named
        commit = commit_of(revision, current_folder())
        if runs := self.at_commit(label, commit, without):
            return runs
        raise RunNotFound(f"{label}@{commit[:10]}")

    def _at_revision(self, part: str) -> tuple[str, str] | None:
        """Return LABEL and REVISION; either may contain an @ itself, as `x @ y` and `HEAD@{1}` do."""
        places = [place for place, character in enumerate(part) if character == "@"]
        cuts = ((part[:place], part[place + 1 :]) for place in places)
        return next(
            ((label, rev) for label, rev in cuts if rev.strip() == rev and self._is_label(label)), None
        )

    def _batch(self, part: str) -> tuple[MeasuredInfo, ...]:
        return self._workspace.store.batch(part) if self._workspace is not None and part else ()

    def _is_label(self, text: str) -> bool:
        return self._workspace is not None and bool(self._workspace.runs(text, 1))

    def _selected(self, wanted: str, without: Collection[str]) -> Selection:
        """Return the run of an id, or the runs of a label that are like its newest one that is not excluded.

        Raises UsageError for a label whose newest batch measured several commits, none of them this one.
        """
        info = self.workspace.find(wanted)
        if info.label != wanted or info.id == wanted:
            return Selection((info,))
        each = self.workspace.each(wanted)
        newest = list(islice(each, _MOST_SEARCHED))
        selected = _alike(newest, wanted, without)
        if selected is not None and not _is_full(selected):
            selected = _alike([*newest, *each], wanted, without)
        elif selected is not None and (rest := self.workspace.count(wanted) - len(newest)) > 0:
            selected = replace(selected, left_out=_with_older(selected.left_out, rest))
        return selected or Selection(() if _left_out(info, without) else (info,))


def _alike(every: Sequence[AnyInfo], label: str, without: Collection[str]) -> Selection | None:
    """Return those of a label's runs that are like the newest one; None if all are excluded."""
    left = [info for info in every if not _left_out(info, without)]
    if not left:
        return None
    batch = tuple(info for info in left if _batch_of(info) == _batch_of(left[0]))
    newest = _of_one_commit(batch, f"the newest runs of {label!r}")
    known = {info.id for info in newest}
    return select_alike(newest, [info for info in left if info.id not in known])


def _is_full(selected: Selection) -> bool:
    """Return whether no older run would be taken, too: sampled ones have one order."""
    return len(selected.taken) == MOST_RUNS and isinstance(selected.taken[0], RunInfo)


def _with_older(left_out: Sequence[tuple[str, int]], number: int) -> tuple[tuple[str, int], ...]:
    return tuple((Counter(dict(left_out)) + Counter(older=number)).items())


def _batch_of(info: AnyInfo) -> str:
    """Return what runs that were measured together share; a sampled run is alone."""
    return info.batch if isinstance(info, MeasuredInfo) else info.id


_Measures = Iterator[tuple[object, str]]


def _has(info: AnyInfo) -> _Measures:
    """Yield the figures of a measured run, with what identifies its order among those of its label."""
    if isinstance(info, MeasuredInfo):
        order = info.order.labels, info.order.num_threads, info.order.language
        figures = {"time": info.median_s, "instructions": info.instructions}
        yield from ((order, name) for name, figure in figures.items() if figure is not None)


def _lacks(info: AnyInfo) -> _Measures:
    """Yield the figures that a measured run with results has not."""
    has = list(_has(info))
    yield from (
        (has[0][0], name) for name in ("time", "instructions") if has and (has[0][0], name) not in has
    )


def _of_one_commit(infos: tuple[AnyInfo, ...], which: str) -> tuple[AnyInfo, ...]:
    """Return the runs of the commit that is checked out here, if several are given; raises UsageError."""
    commits = tuple(dict.fromkeys(info.process.git_commit for info in infos))
    if len(commits) == 1:
        return infos
    here = git_commit(current_folder())
    if here not in commits:
        listed = " and ".join((commit or "none")[:_COMMIT] for commit in commits)
        raise UsageError(
            f"{which} are of several commits ({listed}), and none of them is checked out here",
            "say which: LABEL@REVISION",
        )
    return tuple(info for info in infos if info.process.git_commit == here)


def _left_out(info: AnyInfo, without: Collection[str]) -> bool:
    return info.id in without or (isinstance(info, MeasuredInfo) and info.batch in without)
