"""Runs for sharing (`--scrub`): which data about the machine and its users is hidden or renamed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from profkit.model.function_counts import CallCount, FunctionCount, PythonCounts
from profkit.model.measurement import (
    AnyRun,
    InstructionCounts,
    MeasuredInfo,
    MeasuredRun,
    Measurement,
    OrderInfo,
    ProgramInfo,
)
from profkit.model.notes import Note
from profkit.model.profile import Frame, Profile
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Imported, Run, RunInfo
from profkit.model.session import AwaitTime, Member, ProcessInfo, SamplerPlan
from profkit.transforms.origin import from_import_root, is_child_file

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Scrubbed = TypeVar("_Scrubbed")

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
    return Run(scrubber.scrubbed(run.info), profile, run.resources, trace=run.trace)


def _scrubbed(run: AnyRun) -> AnyRun:
    if isinstance(run, MeasuredRun):
        scrubber = _Scrubber(run)
        return MeasuredRun(scrubber.scrubbed(run.info), scrubber.scrubbed(run.measurement))
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

    def scrubbed(self, value: _Scrubbed) -> _Scrubbed:
        """Return a value without such data: text, a part of a run by its `_RULES`, or several of these."""
        if isinstance(value, str):
            return cast(_Scrubbed, self.text(value))
        if isinstance(value, tuple):
            return cast(_Scrubbed, tuple(map(self.scrubbed, value)))
        if isinstance(value, PythonCounts):
            return cast(_Scrubbed, self._python(value))
        if isinstance(value, OrderInfo) and value.program is not None:
            # What the user typed has the program's arguments.
            value = cast(_Scrubbed, replace(value, what=value.label))
        rules = _RULES.get(type(value))
        if rules is None:
            return value
        fields = {name: rule(self, getattr(value, name)) for name, rule in rules.items()}
        return cast(_Scrubbed, replace(cast("DataclassInstance", value), **fields))

    def function(self, name: str) -> str:
        """Return `file:function`, as callgrind_annotate writes it, without such data."""
        file, colon, function = name.partition(":")
        return f"{self.file(file)}:{self.text(function)}" if colon and "/" in file else self.text(name)

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


_Rule = Callable[[_Scrubber, Any], object]
_EACH: _Rule = _Scrubber.scrubbed
_FILE: _Rule = _Scrubber.file
_FUNCTION: _Rule = _Scrubber.function


def _empty(value: object) -> _Rule:
    return lambda _scrubber, _value: value


_NO_TEXT, _NOTHING = _empty(""), _empty(())
_RULES: Mapping[type, Mapping[str, _Rule]] = {
    RunInfo: {
        **dict.fromkeys(("region", "process", "awaits", "plan", "notes", "error", "imported"), _EACH),
        "links": _NOTHING,
    },
    MeasuredInfo: dict.fromkeys(("process", "order", "notes", "error"), _EACH),
    Measurement: dict.fromkeys(("instructions", "order"), _EACH),
    InstructionCounts: dict.fromkeys(("functions", "calls", "python"), _EACH),
    FunctionCount: {"name": _FUNCTION, "object": _FILE},
    CallCount: {"caller": _FUNCTION, "callee": _FUNCTION},
    AwaitTime: {"file": _FILE, "function": _EACH, "awaited": _EACH},
    SamplerPlan: {"tags": _EACH, "notes": _EACH},
    Note: {"figures": lambda scrubber, figures: tuple((name, scrubber.scrubbed(it)) for name, it in figures)},
    ProcessInfo: {
        **dict.fromkeys(("host", "cwd", "seal", "launch"), _NO_TEXT), "argv": _NOTHING, "recorder": _NOTHING,
        "member": _EACH,
    },
    Member: {"job": _NO_TEXT, "worker": _NO_TEXT},
    Region: {
        "key": _EACH, "file": _FILE, "tags": _EACH, "user": _NO_TEXT, "env": _NOTHING,
        "expected": lambda scrubber, place: place and (place[0], scrubber.file(place[1])),
    },
    RegionKey: {"label": _EACH},
    Imported: {"file": _NO_TEXT, "tool": _EACH},
    OrderInfo: {
        **dict.fromkeys(("label", "what", "program", "setup", "global_setup", "labels"), _EACH),
        "file": _FILE, "source_cmd": _NOTHING, "env": _NOTHING, "python": _NO_TEXT,
    },
    ProgramInfo: {"command": _NOTHING, "stdin": _NO_TEXT},
}  # fmt: skip
"""What becomes of the fields of each part of a run; others stay."""


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
