"""Runs without data about the machine and the users that recorded them, for sharing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace

from profkit.model.function_counts import PythonCounts
from profkit.model.measurement import AnyRun, MeasuredInfo, MeasuredRun, Measurement, OrderInfo
from profkit.model.notes import Note
from profkit.model.profile import Frame, Profile
from profkit.model.region import Region, RegionKind
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


def scrubbed_run(run: Run) -> Run:
    """Return a sampled run without data about the machine and the users that recorded it."""
    scrubber = _Scrubber(run)
    profile = None if run.profile is None else scrubber.profile(run.profile)
    # The file of torch.profiler has the host's name, and what the program's ranges are called.
    return Run(scrubber.sampled(run.info), profile, run.resources, trace=run.trace)


def _scrubbed(run: AnyRun) -> AnyRun:
    if isinstance(run, MeasuredRun):
        scrubber = _Scrubber(run)
        return MeasuredRun(scrubber.measured(run.info), scrubber.measurement(run.measurement))
    return scrubbed_run(run)


class _Scrubber:
    """Scrubber of one run, in which a file has the same name in all parts."""

    def __init__(self, run: AnyRun) -> None:
        process = run.info.process
        self._cwd = process.cwd.rstrip("/")
        self._routes = _routes(run)
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
        """Return a text without absolute paths, URLs, hosts and users; a route is no path."""
        if text in self._routes:
            return text
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
            awaits=tuple(
                replace(
                    one,
                    file=self.file(one.file),
                    function=self.text(one.function),
                    awaited=self.text(one.awaited),
                )
                for one in info.awaits
            ),
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
        return replace(process, host="", cwd="", argv=(), seal="", launch="", recorder=())

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
            # What the user typed has the program's arguments.
            what=self.text(order.what if order.program is None else order.label),
            program=None if order.program is None else replace(order.program, command=(), stdin=""),
            setup=self.text(order.setup),
            global_setup=self.text(order.global_setup),
            labels=tuple((self.text(name), self.text(value)) for name, value in order.labels),
            source_cmd=(),
            env=(),
            file=self.file(order.file),
            python="",
        )


def _routes(run: AnyRun) -> frozenset[str]:
    """Return the label of requests: it has the route that the program gave them."""
    if isinstance(run, MeasuredRun) or run.info.region.kind is not RegionKind.REQUEST:
        return frozenset()
    return frozenset((run.info.region.key.label, run.info.region.key.qualname))


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
