"""What `profkit export --scrub` takes out of runs: folders, host, user, arguments, environment, links.

Code keeps its names: a library's file is named from where imports start, a file of the user from the
program's folder, any other by its name alone. Labels, tags, statements and commits stay, but for paths,
users and hosts in them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace

from profkit.model.measurement import MeasuredInfo, MeasuredRun, Measurement, OrderInfo
from profkit.model.profile import Frame, Profile
from profkit.model.region import Region
from profkit.model.run import AnyRun, Imported, Run, RunInfo
from profkit.model.session import ProcessInfo
from profkit.transforms.origin import from_import_root
from profkit.transforms.simplify import is_child_file

_HIDDEN = "…"
_HOME = re.compile(r"/(?:home|Users)/([^/\s'\":;,]+)")
_PATH = re.compile(r"(?<![\w./])~?/(?:[^/\s'\"()<>\[\]{},;|]+/)+([^/\s'\"()<>\[\]{},;|]*)")
"""An absolute path of two parts or more, inside a text."""
_URL = re.compile(r"\b[A-Za-z][\w+.-]{0,20}://[^\s'\"<>]+")
_CHILD = re.compile(r"<process (\d+):.*", re.DOTALL)
_LEAST = 3
"""Letters of a host or user name that is replaced inside texts."""


def scrubbed(runs: Iterable[AnyRun]) -> tuple[AnyRun, ...]:
    """Return runs without what they say about the machine and the people that recorded them."""
    return tuple(_scrubbed(run) for run in runs)


def _scrubbed(run: AnyRun) -> AnyRun:
    scrubber = _Scrubber(run)
    if isinstance(run, MeasuredRun):
        return MeasuredRun(scrubber.measured(run.info), scrubber.measurement(run.measurement))
    profile = None if run.profile is None else scrubber.profile(run.profile)
    return Run(scrubber.sampled(run.info), profile, run.resources)


class _Scrubber:
    """Scrubs the parts of one run, so that one file has one name in all of them."""

    def __init__(self, run: AnyRun) -> None:
        process = run.info.process
        self._cwd = process.cwd.rstrip("/")
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        words = {process.host, process.host.partition(".")[0], *_people(run)}
        known = sorted((re.escape(word) for word in words if len(word) >= _LEAST), key=len, reverse=True)
        self._words = re.compile(rf"(?<!\w)(?:{'|'.join(known)})(?!\w)", re.IGNORECASE) if known else None

    def file(self, file: str) -> str:
        """Return the name of a file without the folders above the program's or the library's."""
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
        """Return what is known of a sampled run."""
        return replace(
            info,
            region=self._region(info.region),
            process=self._process(info.process),
            plan=replace(info.plan, tags=self._texts(info.plan.tags), notes=self._texts(info.plan.notes)),
            links=(),
            notes=self._texts(info.notes),
            error=None if info.error is None else self.text(info.error),
            imported=None if info.imported is None else self._imported(info.imported),
        )

    def measured(self, info: MeasuredInfo) -> MeasuredInfo:
        """Return what is known of a measured run."""
        return replace(
            info,
            process=self._process(info.process),
            order=self._order(info.order),
            notes=self._texts(info.notes),
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
            )
        return replace(measurement, order=self._order(measurement.order), instructions=counts)

    def _frame(self, frame: Frame) -> Frame:
        file = self.file(frame.file)
        # A child process has a frame that is named by its command.
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
        """Of `file:function`, as callgrind_annotate writes it."""
        file, colon, function = name.partition(":")
        return f"{self.file(file)}:{self.text(function)}" if colon and "/" in file else self.text(name)

    def _texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.text, texts))

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
    """Names of users: the one that was given, and those whose home folders are named."""
    if isinstance(run, MeasuredRun):
        files = [run.info.order.file, run.info.order.setup, run.info.order.what, run.info.error or ""]
        users: set[str] = set()
    else:
        files = [frame.file for frame in run.profile.frames] if run.profile is not None else []
        files += [run.info.region.file, run.info.error or "", *run.info.notes]
        users = {run.info.region.user}
    paths = [run.info.process.cwd, *run.info.process.argv, *files]
    return users | {user for path in paths for user in _HOME.findall(path)}
