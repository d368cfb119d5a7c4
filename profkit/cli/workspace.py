"""Runs that commands work on: stored ones, after ingesting, or still recorded; completion in shells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.output import say
from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.config import Config
from profkit.errors import DamagedFile, ProfkitError, RunNotFound, SpoolUnavailable, StoreEmpty, UsageError

if TYPE_CHECKING:
    from profkit.ingest.keep import IngestReport
    from profkit.model.compilations import Compilations
    from profkit.model.measurement import AnyInfo, AnyRun, MeasuredRun
    from profkit.model.run import Run, RunInfo
    from profkit.store.files import OwnedFolder
    from profkit.store.runs import Store


def current_folder() -> Path:
    """Return the current folder; raises UsageError if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder no longer exists", "change to an existing folder") from error


_SQLITE = "sqlite:///"
_MAX_REGIONS, _MAX_SAMPLES = 20, 500_000
"""Maximum numbers of regions and samples of a session that are shown together."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The open store, the runs that are being recorded, and the damaged files that were found."""

    store: Store
    recording: tuple[Run, ...]
    damaged: tuple[DamagedFile, ...]

    def find(self, wanted: str | None) -> AnyInfo:
        """Return the selected run, kept or being recorded; None selects the newest of all.

        The text is an id, else a label (its newest run), else the prefix of an id. Raises RunNotFound, and
        UsageError if several ids have that prefix.
        """
        return self.store.find(wanted, [run.info for run in self.recording])

    def not_found(self, wanted: str | None) -> RunNotFound:
        """Return the error for a run that is neither kept nor being recorded."""
        return self.store.not_found(wanted, [run.info for run in self.recording])

    def find_all(self, wanted: str | None) -> tuple[AnyInfo, ...]:
        """Return the run that `find` finds; if it is a measured one, also the others of its batch that match.

        A label selects all with that label, None the whole batch, and an id only its run. Raises as `find`.
        """
        from profkit.model.measurement import MeasuredInfo

        info = self.find(wanted)
        if not isinstance(info, MeasuredInfo) or wanted not in (None, info.label) or info.id == wanted:
            return (info,)
        return tuple(one for one in self.store.batch(info.batch) if wanted in (None, one.label))

    def load(self, info: AnyInfo, *, in_order: bool = True, trace_file: bool = False) -> AnyRun:
        """Return the run with its samples or numbers, as `Store.load` does."""
        live = [run for run in self.recording if run.info.id == info.id]
        return live[0] if live else self.store.load(info.id, in_order=in_order, trace_file=trace_file)

    def load_sampled(self, infos: Sequence[AnyInfo]) -> Iterator[Run]:
        """Load sampled runs; damaged ones are reported and omitted, unless all are damaged.

        Samples of ranks are in their order, which shows whether a rank is late throughout.
        """
        from profkit.model.run import Run

        damages: list[DamagedFile] = []
        for info in infos:
            try:
                run = self.load(info, in_order=info.process.member.rank is not None)
            except DamagedFile as error:
                damages.append(error)
                continue
            if isinstance(run, Run):
                yield run
        if len(damages) == len(infos):
            raise damages[0]
        for damage in damages:
            say("warning", str(damage))

    def others_of_session(self, info: RunInfo) -> tuple[Run, ...]:
        """Return the other regions of a run's session, those with the most samples, up to a limit.

        Messages report what is omitted, also if it is damaged.
        """
        from profkit.model.run import Run

        there = {one.id: one for one in self.store.session(info.session)}
        there |= {run.info.id: run.info for run in self.recording if run.info.session == info.session}
        others = [one for one in there.values() if one.id != info.id and one.samples]
        others.sort(key=lambda one: (-one.samples, one.id))
        room = _MAX_SAMPLES - info.samples
        loaded: list[Run] = []
        for number, one in enumerate(others):
            room -= one.samples
            if room < 0 or number == _MAX_REGIONS:
                left = len(others) - number
                say("note", f"{left} more of the session's regions are left out; `profkit list` shows them")
                break
            try:
                loaded += [run for run in (self.load(one),) if isinstance(run, Run)]
            except DamagedFile as damage:
                say("warning", str(damage))
        return tuple(loaded)

    def each(self, label: str | None) -> Iterator[AnyInfo]:
        """Yield the runs that are being recorded, then those that are kept, newest first."""
        live = [run.info for run in self.recording if label in (None, run.info.label)]
        yield from sorted(live, key=lambda info: -info.started_ns)
        yield from self.store.each(label)

    def runs(self, label: str | None, limit: int | None) -> tuple[AnyInfo, ...]:
        """Return all that `each` yields, at most `limit`."""
        return tuple(islice(self.each(label), limit))

    def count(self, label: str) -> int:
        """Return the number of runs of a label that `each` yields."""
        return sum(run.info.label == label for run in self.recording) + self.store.count(label)

    def jobs(self, beginning: str = "", limit: int | None = None) -> tuple[str, ...]:
        """Return the names of jobs that begin with a text, newest first, at most `limit`."""
        live = sorted((run.info for run in self.recording), key=lambda info: -info.started_ns)
        names = (info.process.member.job for info in live)
        found = (name for name in names if name and name.startswith(beginning))
        return tuple(dict.fromkeys((*found, *self.store.jobs(beginning, limit))))[:limit]

    def job(self, name: str, limit: int | None = None) -> tuple[RunInfo, ...]:
        """Return the newest runs of a job, first those that are being recorded."""
        live = [run.info for run in self.recording if run.info.process.member.job == name]
        return (*live, *self.store.job(name, limit))[:limit]

    def job_summed(self, name: str) -> tuple[RunInfo, ...]:
        """Return the runs of a job, first those that are being recorded; windows are one for each process."""
        live = [run.info for run in self.recording if run.info.process.member.job == name]
        return (*live, *self.store.job_summed(name))

    def windows(self, series: str, limit: int) -> tuple[RunInfo, ...]:
        """Return the newest windows of a series, first those that are being recorded."""
        live = [run.info for run in self.recording if run.info.series == series]
        return (*live, *self.store.windows(series, limit))[:limit]


_LONGEST_END_S, _POLL_S = 5.0, 0.01


def await_samplers(launch: str, config: Config, clock: Clock = SYSTEM_CLOCK) -> None:
    """Wait until the samplers of a launch's programs that have ended have written what they have.

    They end by themselves within milliseconds; until then a session counts as being recorded.
    """
    from profkit.store.spool import in_spool

    end_s = clock.monotonic_s() + _LONGEST_END_S
    while in_spool(config.spool, config.owner, partial(_has_samplers, launch), False):
        if clock.monotonic_s() >= end_s:
            return
        clock.sleep(_POLL_S)


def _has_samplers(launch: str, spool: OwnedFolder) -> bool:
    from profkit.process.procfs import is_same_process
    from profkit.store.spool import is_live, read_manifest_in, session_names

    for name in session_names(spool):
        with suppress(DamagedFile, OSError), spool.folder(name) as folder:
            manifest = read_manifest_in(folder)
            process = manifest.process
            is_ending = process.launch == launch and not is_same_process(process.pid, process.start_ticks)
            if is_ending and is_live(manifest, folder):
                return True
    return False


@contextmanager
def open_workspace(config: Config) -> Iterator[Workspace]:
    """Ingest finished sessions and open the store; report damaged files at the end.

    Raises StoreEmpty if nothing was ever recorded, and then creates no file. Raises StoreUnavailable, and
    DamagedFile instead of RunNotFound if the run may have been in a damaged file.
    """
    from profkit.ingest.keep import clear_unfinished, ingest

    if nothing_recorded(config):
        for damage in clear_unfinished(config.spool, owner=config.owner):
            say("warning", str(damage))
        raise StoreEmpty(config.store_url, config.spool)
    from profkit.store.runs import open_store

    with open_store(config.store_url, skip_damaged=True) as store:
        report = ingest(config.spool, store, owner=config.owner)
        report_dropped(config, report)
        recording = tuple(run for folder in report.recording for run in folder.runs)
        unreported = list(report.damaged)
        try:
            yield Workspace(store, recording, report.damaged)
        except RunNotFound as missing:
            if not unreported:
                raise
            raise unreported.pop(0) from missing
        except DamagedFile as reported:
            unreported = [damage for damage in unreported if damage is not reported]
            raise
        finally:
            for damage in (*unreported, *store.damaged):
                say("warning", str(damage))


def report_dropped(config: Config, report: IngestReport) -> None:
    """Report sessions that were deleted unread."""
    if report.dropped:
        from profkit.store.clearing import dropped_message

        say("warning", dropped_message(config.spool, report.dropped))


def nothing_recorded(config: Config) -> bool:
    """Return whether there is neither a database nor anything in the spool; creates no file."""
    database = config.store_url.removeprefix(_SQLITE)
    file_missing = database != config.store_url and not Path(database).exists()
    return file_missing and is_spool_empty(config)


def is_spool_empty(config: Config) -> bool:
    """Return whether the spool has neither sessions nor measured runs."""
    from profkit.store.measured import run_names
    from profkit.store.packs import pack_names
    from profkit.store.spool import in_spool, session_names

    def is_empty(spool: OwnedFolder) -> bool:
        return not (session_names(spool) or run_names(spool) or pack_names(spool))

    return in_spool(config.spool, config.owner, is_empty, True)


def complete_run(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return labels and ids with this prefix; none if the store cannot be read."""
    labels = complete_label(context, _parameter, incomplete)
    return [*labels, *_from_store(context, lambda store: store.ids(incomplete))]


def complete_label(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return labels with this prefix."""
    labels = _from_store(context, lambda store: store.labels())
    return [label for label in labels if label.startswith(incomplete)]


def complete_thread(context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of threads of the given run, or of the newest one, with this prefix."""
    threads = _from_store(context, partial(_threads, context.params.get("run")))
    return sorted(name for name in threads if name.startswith(incomplete))


def _threads(wanted: str | None, store: Store) -> set[str]:
    from profkit.model.run import Run

    run = store.load(store.find(wanted).id)
    return {thread.name for thread in run.profile.threads} if isinstance(run, Run) and run.profile else set()


def _from_store(context: click.Context, get: Callable[[Store], Collection[str]]) -> Collection[str]:
    """Return texts from the store; none if it cannot be read."""
    config = context.find_object(Config)
    if config is None or nothing_recorded(config):
        return ()
    from profkit.store.runs import open_store

    try:
        with open_store(config.store_url, skip_damaged=True) as store:
            return get(store)
    except ProfkitError:
        return ()


class MeasuredSpool:
    """Spool for runs as they arrive; a run that cannot be kept is an error after all are shown."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lost = folder, 0
        self._error: OSError | None = None

    def keep(self, run: MeasuredRun) -> None:
        """Keep a run; warn at the first failure, since the other runs may take long."""
        from profkit.store.measured import keep_measured

        try:
            keep_measured(self._folder, run)
        except OSError as error:
            if self._error is None:
                say(
                    "warning",
                    f"{run.info.label!r} cannot be kept in {self._folder}: {error.strerror or error}",
                )
            self._error, self._lost = error, self._lost + 1

    def check(self, runs: int) -> None:
        """Raise `SpoolUnavailable` if runs were not kept."""
        if self._error is not None:
            reason = self._error.strerror or str(self._error)
            raise SpoolUnavailable(self._folder, f"{self._lost} of {runs} runs were not kept: {reason}")


_HOW_TO_COMPILE = "profile them with `profkit run --torch-compile`, or torch_compile.enable()"


def find_compilations(workspace: Workspace, wanted: str | None) -> Compilations:
    """Return the compilations of a run's process; None selects the process that compiled last.

    Damaged runs are reported and left out, unless all are. Raises RunNotFound, and UsageError if nothing was
    compiled.
    """
    from profkit.transforms.compilations import sum_up

    known = [info for info in workspace.runs(None, None) if _is_compilation(info)]
    found = known[0] if known and wanted is None else workspace.find(wanted)
    of_process = [info for info in known if _process_of(info) == _process_of(found)]
    if not of_process:
        raise UsageError(
            f"no compilation was profiled in the process of run {found.id} ({found.label})", _HOW_TO_COMPILE
        )
    return sum_up(tuple(workspace.load_sampled(of_process)))


def compilations_of_launch(workspace: Workspace, launch: str) -> Compilations | None:
    """Return the compilations of the first process of a launch that has some; None if there are none."""
    known = [info for info in workspace.runs(None, None) if _is_compilation(info)]
    first = next((info for info in reversed(known) if info.process.launch == launch), None)
    return None if first is None else find_compilations(workspace, first.id)


def _is_compilation(info: AnyInfo) -> bool:
    from profkit.model.region import RegionKind
    from profkit.model.run import RunInfo

    return isinstance(info, RunInfo) and info.region.kind is RegionKind.COMPILATION


def _process_of(info: AnyInfo) -> tuple[str, int, int]:
    return info.process.host, info.process.pid, info.process.start_ticks
