"""`profkit export`: write a run in another tool's format, or whole in profkit's own, optionally scrubbed."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from profkit.cli.files import WHOLE
from profkit.cli.output import save, say, write_bytes
from profkit.cli.workspace import complete_run, open_workspace
from profkit.config import Config
from profkit.errors import UsageError
from profkit.formats.registry import FORMATS, TimeSpan, lost_in
from profkit.model.function_counts import PythonCounts
from profkit.model.measurement import AnyRun, MeasuredInfo, MeasuredRun, Measurement, OrderInfo
from profkit.model.notes import Note
from profkit.model.profile import Frame, Profile
from profkit.model.region import Region
from profkit.model.run import Imported, Run, RunInfo
from profkit.model.session import ProcessInfo
from profkit.transforms.origin import from_import_root, is_child_file

_HIDDEN = "…"
_HOME = re.compile(r"/(?:home|Users)/([^/\s'\":;,]+)")
_PATH = re.compile(r"(?<![\w./])~?/(?:[^/\s'\"()<>\[\]{},;|]+/)+([^/\s'\"()<>\[\]{},;|]*)")
"""Pattern of an absolute path of two parts or more, inside a text."""
_URL = re.compile(r"\b[A-Za-z][\w+.-]{0,20}://[^\s'\"<>]+")
_CHILD = re.compile(r"<process (\d+):.*", re.DOTALL)
_MIN_LENGTH = 3
"""Minimum length of a host or user name that is replaced inside texts."""


def scrubbed(runs: Iterable[AnyRun]) -> tuple[AnyRun, ...]:
    """Return runs without data about the machine and the users that recorded them."""
    return tuple(_scrubbed(run) for run in runs)


def _scrubbed(run: AnyRun) -> AnyRun:
    scrubber = _Scrubber(run)
    if isinstance(run, MeasuredRun):
        return MeasuredRun(scrubber.measured(run.info), scrubber.measurement(run.measurement))
    profile = None if run.profile is None else scrubber.profile(run.profile)
    return Run(scrubber.sampled(run.info), profile, run.resources)


class _Scrubber:
    """Scrubber of one run, in which a file has the same name in all parts."""

    def __init__(self, run: AnyRun) -> None:
        process = run.info.process
        self._cwd = process.cwd.rstrip("/")
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        words = {process.host, process.host.partition(".")[0], *_people(run)}
        known = sorted((re.escape(word) for word in words if len(word) >= _MIN_LENGTH), key=len, reverse=True)
        self._words = re.compile(rf"(?<!\w)(?:{'|'.join(known)})(?!\w)", re.IGNORECASE) if known else None

    def file(self, file: str) -> str:
        """Return a file's name without the folders above the program's or the library's."""
        if file not in self._names:
            name = self._short(file)
            unique, number = name, 1
            while unique in self._taken:
                number += 1
                unique = f"{number}/{name}"
            self._taken.add(unique)
            self._names[file] = unique
        return self._names[file]

    def text(self, text: str) -> str:
        """Return a text without absolute paths, URLs, hosts and users."""
        if "/" in text:
            text = _PATH.sub(lambda match: match[1] or _HIDDEN, _URL.sub(_HIDDEN, text))
        return text if self._words is None else self._words.sub(_HIDDEN, text)

    def profile(self, profile: Profile) -> Profile:
        """Return a profile with scrubbed files, names of functions and names of threads."""
        return replace(
            profile,
            frames=tuple(map(self._frame, profile.frames)),
            threads=tuple(thread._replace(name=self.text(thread.name)) for thread in profile.threads),
        )

    def sampled(self, info: RunInfo) -> RunInfo:
        """Return the scrubbed metadata of a sampled run."""
        return replace(
            info,
            region=self._region(info.region),
            process=self._process(info.process),
            plan=replace(info.plan, tags=self._texts(info.plan.tags), notes=self._notes(info.plan.notes)),
            links=(),
            notes=self._notes(info.notes),
            error=None if info.error is None else self.text(info.error),
            imported=None if info.imported is None else self._imported(info.imported),
        )

    def measured(self, info: MeasuredInfo) -> MeasuredInfo:
        """Return the scrubbed metadata of a measured run."""
        return replace(
            info,
            process=self._process(info.process),
            order=self._order(info.order),
            notes=self._notes(info.notes),
            error=None if info.error is None else self.text(info.error),
        )

    def measurement(self, measurement: Measurement | None) -> Measurement | None:
        """Return the numbers of a measured run with scrubbed names of functions."""
        if measurement is None:
            return None
        counts = measurement.instructions
        if counts is not None:
            counts = replace(
                counts,
                functions=tuple(
                    replace(one, name=self._function(one.name), object=self.file(one.object))
                    for one in counts.functions
                ),
                calls=tuple(
                    replace(one, caller=self._function(one.caller), callee=self._function(one.callee))
                    for one in counts.calls
                ),
                python=None if counts.python is None else self._python(counts.python),
            )
        return replace(measurement, order=self._order(measurement.order), instructions=counts)

    def _python(self, python: PythonCounts) -> PythonCounts:
        """Scrub counts by Python function; calls name functions as `file:name`."""
        functions = tuple(
            replace(one, name=self.text(one.name), file=self.file(one.file)) for one in python.functions
        )
        keys = {old.key: new.key for old, new in zip(python.functions, functions, strict=True)}
        calls = tuple(
            replace(one, caller=keys[one.caller], callee=keys[one.callee])
            for one in python.calls
            if one.caller in keys and one.callee in keys
        )
        return replace(python, functions=functions, calls=calls, missing=self.text(python.missing))

    def _frame(self, frame: Frame) -> Frame:
        file = self.file(frame.file)
        # The frame of a child process is named by its command.
        name = file.strip("<>") if is_child_file(frame.file) else self.text(frame.name)
        return frame._replace(name=name, file=file)

    def _short(self, file: str) -> str:
        if child := _CHILD.fullmatch(file):
            return f"<process {child[1]}>"
        if not file or file.startswith("<"):
            return self.text(file)
        if (inside := from_import_root(file)) != file:
            return inside
        if self._cwd and file.startswith(f"{self._cwd}/"):
            return file[len(self._cwd) + 1 :]
        return self.text(os.path.basename(file) if "/" in file else file)

    def _function(self, name: str) -> str:
        """Scrub `file:function`, as callgrind_annotate writes it."""
        file, colon, function = name.partition(":")
        return f"{self.file(file)}:{self.text(function)}" if colon and "/" in file else self.text(name)

    def _texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.text, texts))

    def _notes(self, notes: Iterable[Note]) -> tuple[Note, ...]:
        return tuple(
            replace(
                note,
                figures=tuple(
                    (name, self.text(figure) if isinstance(figure, str) else figure)
                    for name, figure in note.figures
                ),
            )
            for note in notes
        )

    def _process(self, process: ProcessInfo) -> ProcessInfo:
        return replace(process, host="", cwd="", argv=(), seal="")

    def _region(self, region: Region) -> Region:
        key = region.key
        expected = region.expected
        return replace(
            region,
            key=replace(key, label=self.text(key.label)),
            file=self.file(region.file),
            expected=None if expected is None else (expected[0], self.file(expected[1])),
            tags=self._texts(region.tags),
            user="",
            env=(),
        )

    def _imported(self, imported: Imported) -> Imported:
        return replace(imported, file="", tool=self.text(imported.tool))

    def _order(self, order: OrderInfo) -> OrderInfo:
        return replace(
            order,
            label=self.text(order.label),
            what=self.text(order.what),
            setup=self.text(order.setup),
            global_setup=self.text(order.global_setup),
            labels=tuple((self.text(name), self.text(value)) for name, value in order.labels),
            source_cmd=(),
            env=(),
            file=self.file(order.file),
            python="",
        )


def _people(run: AnyRun) -> set[str]:
    """Return names of users: the recorded one, and the owners of home folders in paths."""
    if isinstance(run, MeasuredRun):
        files = [run.info.order.file, run.info.order.setup, run.info.order.what, run.info.error or ""]
        users: set[str] = set()
    else:
        files = [frame.file for frame in run.profile.frames] if run.profile is not None else []
        files += [run.info.region.file, run.info.error or ""]
        files += [str(figure) for note in run.info.notes for _, figure in note.figures]
        users = {run.info.region.user}
    paths = [run.info.process.cwd, *run.info.process.argv, *files]
    return users | {user for path in paths for user in _HOME.findall(path)}


_STDOUT = "-"
_COMPRESSED = ".gz"
_WHOLE_ENDING = ".profkit.json"
_NAMES = (WHOLE, *(known.name for known in FORMATS.values() if known.encode is not None))


@click.command("export")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--format",
    "name",
    type=click.Choice(_NAMES),
    help="Output format.  [default: by FILE's ending]",
)
@click.option("-o", "--output", metavar="FILE", help="Output file.  [default: stdout]")
@click.option(
    "--scrub", is_flag=True, help="Remove paths, host, user, arguments and environment, for sharing."
)
@click.option(
    "--native-functions",
    is_flag=True,
    help="Write native functions of a counted run, not Python functions.",
)
@click.pass_obj
def export_command(
    config: Config, run: str | None, name: str | None, output: str | None, scrub: bool, native_functions: bool
) -> None:
    """Write a run in a format that other tools read.

    RUN is the prefix of a run's id, or a label, which selects its newest run. Without it, the newest run of
    all is written. A FILE that ends in .gz is compressed.

    The profkit format contains the whole run, in JSON, which `profkit import` reads.

    Of a run with instruction counts by Python function, other formats get the Python functions.

    With --scrub, names of files start at an import root or at the program's folder. Labels and names of
    functions stay: check them before you publish a profile.
    """
    file = None if output in (None, _STDOUT) else Path(str(output))
    chosen = name or _format_of(file)
    _refuse_terminal(chosen, file)
    with open_workspace(config) as workspace:
        infos = workspace.find_all(run)
        if chosen != WHOLE and len(infos) > 1:
            raise UsageError(
                f"{len(infos)} runs were measured together, and {chosen} can hold one", "give the id of one"
            )
        runs: tuple[AnyRun, ...] = tuple(workspace.load(info) for info in infos)
    if scrub:
        runs = scrubbed(runs)
    if native_functions and (chosen == WHOLE or not _has_python_functions(runs[0])):
        raise UsageError(
            "--native-functions needs a run with counts by Python function, and a format for one profile",
            "leave it out",
        )
    profile = None if chosen == WHOLE else _profile(runs[0], native_functions=native_functions)
    data = _whole(runs) if profile is None else _encoded(profile, chosen, _span(runs[0]))
    if file is None:
        write_bytes(data)
    else:
        save(file, gzip.compress(data, mtime=0) if _to_compress(file, data) else data)
    for lost in () if profile is None else lost_in(FORMATS[chosen], profile):
        say("note", f"{chosen} does not keep {lost}")


def _format_of(file: Path | None) -> str:
    """Return the format with the longest ending that matches a file's name; raises UsageError for none."""
    endings = {ending: name for name in _NAMES for ending in _endings(name)}
    stem = "" if file is None else file.name.lower().removesuffix(_COMPRESSED)
    for ending in sorted(endings, key=len, reverse=True):
        if stem.endswith(ending):
            return endings[ending]
    which = "" if file is None else f": {file.name} has none of the endings {', '.join(sorted(endings))}"
    raise UsageError(f"the format is not given{which}", "give one with --format")


def _endings(name: str) -> Iterable[str]:
    """Return a format's endings without that of compression."""
    if name == WHOLE:
        return (_WHOLE_ENDING,)
    return (ending.removesuffix(_COMPRESSED) for ending in FORMATS[name].endings)


def _refuse_terminal(name: str, file: Path | None) -> None:
    if file is None and name != WHOLE and FORMATS[name].binary and sys.stdout.isatty():
        raise UsageError(
            f"{name} is a binary format, and stdout is a terminal", "name a file with -o, or write to a pipe"
        )


def _whole(runs: Sequence[AnyRun]) -> bytes:
    from profkit.store.run_files import encode_runs

    return encode_runs(runs)


def _encoded(profile: Profile, name: str, span: TimeSpan) -> bytes:
    known = FORMATS[name]
    if known.encode_timed is not None:
        return known.encode_timed(profile, span)
    if known.encode is None:
        raise UsageError(f"{name} cannot be exported", f"supported formats: {', '.join(_NAMES)}")
    return known.encode(profile)


def _span(run: AnyRun) -> TimeSpan:
    """Return when a run was recorded, and for how long it was sampled or measured."""
    info = run.info
    duration_s = info.session_s or info.wall_s if isinstance(info, RunInfo) else info.duration_s
    return TimeSpan(info.started_ns, round(1e9 * duration_s))


def _has_python_functions(run: AnyRun) -> bool:
    counts = run.measurement.instructions if isinstance(run, MeasuredRun) and run.measurement else None
    return counts is not None and counts.python is not None and bool(counts.python.functions)


def _profile(run: AnyRun, *, native_functions: bool) -> Profile:
    """Return the samples of a run, or its counted instructions; raises UsageError if it has neither."""
    if not isinstance(run, MeasuredRun):
        if run.profile is None:
            from profkit.render.views.header import why_no_samples

            raise UsageError(f"run {run.info.id}: {why_no_samples(run)}", f"--format {WHOLE} keeps the rest")
        return run.profile
    counts = run.measurement.instructions if run.measurement is not None else None
    if counts is None:
        raise UsageError(
            f"run {run.info.id} ({run.info.label}) has times but no stacks",
            f"--format {WHOLE} keeps its numbers",
        )
    from profkit.transforms.call_graphs import unfold_counts, unfold_python

    if counts.python is not None and _has_python_functions(run) and not native_functions:
        return unfold_python(counts.python)
    return unfold_counts(counts)


def _to_compress(file: Path, data: bytes) -> bool:
    return file.name.lower().endswith(_COMPRESSED) and not data.startswith(b"\x1f\x8b")
