"""The sides of a comparison: from what somebody typed to runs.

A side is the id of a run or its beginning, a label (its newest run, or all of its newest batch),
LABEL@REVISION (all runs of the label that were recorded at that commit), a file that `profkit import`
reads, or several of these with commas between them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from profkit.cli.imported import runs_of_file
from profkit.cli.kept import Kept, nothing_recorded, open_kept
from profkit.config import Config
from profkit.errors import RunNotFound, StoreEmpty, UsageError
from profkit.model.kept import AnyInfo, AnyRun
from profkit.model.measurement import MeasuredInfo, MeasuredRun
from profkit.model.run import Run
from profkit.process.git import commit_of


@dataclass(frozen=True, slots=True)
class Side:
    """The runs that were meant, all of one kind, and the words that meant them."""

    text: str
    runs: tuple[AnyRun, ...]

    @property
    def measured(self) -> tuple[MeasuredRun, ...]:
        """Its runs, where they were measured."""
        return tuple(run for run in self.runs if isinstance(run, MeasuredRun))

    @property
    def sampled(self) -> tuple[Run, ...]:
        """Its runs, where they were sampled."""
        return tuple(run for run in self.runs if isinstance(run, Run))


@contextmanager
def open_sides(config: Config) -> Iterator[Sides]:
    """What finds sides; there need be no store as long as all of them are files."""
    if nothing_recorded(config):
        yield Sides(None, config)
        return
    with open_kept(config) as kept:
        yield Sides(kept, config)


class Sides:
    """Finds the runs that a text means, in the store and in files."""

    def __init__(self, kept: Kept | None, config: Config) -> None:
        self._kept, self._config = kept, config

    @property
    def kept(self) -> Kept:
        """The runs in the store; raises StoreEmpty where there are none."""
        if self._kept is None:
            raise StoreEmpty(self._config.store_url, self._config.spool)
        return self._kept

    def side(self, text: str, without: Collection[str] = ()) -> Side:
        """The runs that a text means, but those whose ids or batches are left out.

        Raises RunNotFound, and UsageError for a revision or a file that is none, and for runs of both kinds.
        """
        runs = tuple(
            {run.info.id: run for part in self._parts(text) for run in self._runs(part, without)}.values()
        )
        if not runs:
            raise RunNotFound(text)
        side = Side(text, runs)
        if side.measured and side.sampled:
            raise UsageError(f"{text!r} means sampled and measured runs", "name runs of one kind")
        return side

    def newest(self) -> Side:
        """The newest run, with all of its batch if it was measured; raises StoreEmpty."""
        infos = self.kept.find_all(None)
        label = infos[0].label if len({info.label for info in infos}) == 1 else f"{len(infos)} orders"
        return Side(f"{label}, newest", tuple(self.kept.load(info) for info in infos))

    def at_commit(self, label: str, commit: str, without: Collection[str] = ()) -> tuple[AnyRun, ...]:
        """All runs of a label that were recorded at a commit, oldest first."""
        infos = [info for info in self.kept.runs(label, None) if info.process.git_commit == commit]
        return tuple(self.kept.load(info) for info in reversed(infos) if not _left_out(info, without))

    def _parts(self, text: str) -> Iterator[str]:
        """The text whole if it means something, else cut at commas into the longest parts that do."""
        words = text.split(",")
        while words:
            lengths = range(len(words), 0, -1)
            length = next((length for length in lengths if self._is_known(",".join(words[:length]))), 1)
            yield ",".join(words[:length])
            words = words[length:]

    def _is_known(self, part: str) -> bool:
        return Path(part).is_file() or self._is_kept(part) or self._is_kept(_label_at(part)[0])

    def _is_kept(self, wanted: str) -> bool:
        if self._kept is None or not wanted:
            return False
        try:
            return bool(self._kept.find(wanted))
        except RunNotFound:
            return False
        except UsageError:  # it fits several, as `find` will tell
            return True

    def _runs(self, part: str, without: Collection[str]) -> tuple[AnyRun, ...]:
        label, revision = _label_at(part)
        if revision and not self._is_kept(part) and not Path(part).is_file():
            commit = commit_of(revision, Path.cwd())
            if runs := self.at_commit(label, commit, without):
                return runs
            raise RunNotFound(f"{label}@{commit[:10]}")
        if Path(part).is_file() and not self._is_kept(part):
            return runs_of_file(part)
        return tuple(self.kept.load(info) for info in self._infos(part, without))

    def _infos(self, wanted: str, without: Collection[str]) -> tuple[AnyInfo, ...]:
        """What `Kept.find_all` finds; the newest other one of a label where that one is left out."""
        infos = self.kept.find_all(wanted)
        if not any(_left_out(info, without) for info in infos) or infos[0].label != wanted:
            return infos
        others = [info for info in self.kept.runs(wanted, None) if not _left_out(info, without)]
        if others and isinstance(others[0], MeasuredInfo):
            return tuple(one for one in self.kept.store.batch(others[0].batch) if one.label == wanted)
        return tuple(others[:1])


def _label_at(text: str) -> tuple[str, str]:
    """LABEL and REVISION, where there is an @ between two words; else empty."""
    label, at, revision = text.rpartition("@")
    return (label, revision) if at and label.strip() and revision.strip() == revision else ("", "")


def _left_out(info: AnyInfo, without: Collection[str]) -> bool:
    return info.id in without or (isinstance(info, MeasuredInfo) and info.batch in without)
