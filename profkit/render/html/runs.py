"""Runs of an HTML page: headers, columns, numbered functions, and which source lines it shows."""

from __future__ import annotations

import inspect
import posixpath
import re
import tokenize
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from profkit.model.profile import Frame, Profile
from profkit.model.session import ResourcePoint
from profkit.render.document import Fact
from profkit.render.escape import short, visible
from profkit.render.formatting import short_path
from profkit.render.html.document import Columns
from profkit.render.html.lines import MAX_FUNCTIONS, add_lines, line_weights
from profkit.render.html.samples import add_order, add_stacks, add_totals, resource_curves
from profkit.render.views.costs import Scale, scale_of
from profkit.render.views.sampled import IsLibrary
from profkit.render.views.source import SourceLines
from profkit.transforms.origin import is_native_file, package_of, standard_file
from profkit.transforms.trees import Functions, number_functions, sum_samples, weight_of

_LONGEST = 400
"""Maximum number of characters of a name; names of C++ templates can fill pages."""

_NO_NAME = "(no name)"
"""Replacement for a blank name, which a reader could not click."""
_NO_FILE = ("", "???")
"""File names that mean an unknown file; the second is Callgrind's."""
_Function = tuple[str, str]
"""Name and file."""
_ANY_LINE = -1


class FunctionTable:
    """Numbers for functions (name and file), in order of first use; short paths are relative to `cwd`."""

    def __init__(self, cwd: str, is_library: IsLibrary) -> None:
        self._cwd, self._is_library = cwd, is_library
        self._numbers: dict[tuple[str, str, int], int] = {}

    def keys(self, frames: Sequence[Frame], functions: Functions | None = None) -> list[int]:
        """Return the number of each frame's function; without `functions`, they differ by line."""
        numbers = self._numbers
        if functions is None:
            return [numbers.setdefault(frame, len(numbers)) for frame in frames]
        known = [numbers.setdefault((*function, _ANY_LINE), len(numbers)) for function in functions.keys]
        return list(map(known.__getitem__, functions.of))

    def functions(self) -> tuple[_Function, ...]:
        """Return all functions in the order of their numbers."""
        return tuple((name, file) for name, file, _ in self._numbers)

    def head(self, lines: Mapping[int, int]) -> dict[str, object]:
        """Return `functions` and `packages` of the page's head, with names made safe; `lines` by function."""
        packages: dict[tuple[str, str], int] = {}
        of_file: dict[str, int] = {}
        for _, file, _ in self._numbers:
            if file not in of_file:
                of_file[file] = packages.setdefault(self._package(file), len(packages))
        functions = {
            "name": [short(name, _LONGEST).strip() or _NO_NAME for name, _, _ in self._numbers],
            "file": [short(self._path(file), _LONGEST) for _, file, _ in self._numbers],
            "line": [lines.get(number, 0) for number in range(len(self._numbers))],
            "package": [of_file[file] for _, file, _ in self._numbers],
        }
        named = [{"name": short(name, _LONGEST), "kind": kind} for name, kind in packages]
        return {"functions": functions, "packages": named}

    def _path(self, file: str) -> str:
        path = short_path(file, self._cwd)
        # Native sources are shown without the folders where they were built.
        return standard_file(path) if is_native_file(file) else path

    def _package(self, file: str) -> tuple[str, str]:
        if file in _NO_FILE:
            return "", "none"
        path = self._path(file)
        if is_native_file(file):
            return package_of(path), "native"
        if self._is_library(file):
            return package_of(path), "library"
        # Outside the program's folder, the files of one folder count as a package.
        folder = posixpath.basename(posixpath.dirname(path)) if path.startswith("/") else ""
        return folder or package_of(path), "user"


_BEFORE_AND_AFTER = 4
"""Number of lines shown around the sampled ones if a function's extent is unknown."""
_MAX_LINES = 400
"""Maximum number of source lines of one function."""
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Seen:
    """A function and its sampled lines, heaviest first."""

    number: int
    name: str
    file: str
    lines: Sequence[int]


class SourceBudget:
    """Source excerpts that together have at most `most_bytes` characters."""

    def __init__(self, source: SourceLines, most_bytes: int) -> None:
        self._source, self._left = source, most_bytes

    def excerpts(self, heaviest: Iterable[Seen]) -> dict[str, dict[str, object]]:
        """Return `first` and `lines` by function number; omit functions that do not fit."""
        excerpts: dict[str, dict[str, object]] = {}
        for seen in islice(heaviest, MAX_FUNCTIONS):
            first, lines = _excerpt(seen, self._source.lines(seen.file))
            size = sum(map(len, lines))
            if lines and size <= self._left:
                self._left -= size
                excerpts[str(seen.number)] = {"first": first, "lines": lines}
        return excerpts

    def changed(self) -> list[str]:
        """Return the files whose source is withheld because they changed after the run."""
        return sorted(self._source.changed)

    def refused(self) -> bool:
        """Return whether files were not opened because the run may not be this user's own."""
        return self._source.refused


def _excerpt(seen: Seen, text: Sequence[str]) -> tuple[int, list[str]]:
    """Return the number of the first line, and the lines; none if the file is not the one that ran."""
    known = [line for line in seen.lines if 0 < line <= len(text)]
    if not known:
        return 0, []
    first, last = _extent(seen.name, min(known), max(known), text)
    if last - first >= _MAX_LINES:
        first = max(first, known[0] - _MAX_LINES // 2)
        last = min(last, first + _MAX_LINES - 1)
    return first, [visible(line.expandtabs(4))[:_LONGEST_LINE] for line in text[first - 1 : last]]


def _extent(name: str, lowest: int, highest: int, text: Sequence[str]) -> tuple[int, int]:
    """Return the first and last line: of the whole function if its `def` is above the sampled lines."""
    define = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+{re.escape(name.rpartition('.')[2])}\b")
    first = next((line for line in range(lowest, 0, -1) if define.match(text[line - 1])), None)
    if first is not None:
        last = first + _length(text[first - 1 :]) - 1
        if last >= lowest:
            return first, max(highest, last)
    return max(1, lowest - _BEFORE_AND_AFTER), min(len(text), highest + _BEFORE_AND_AFTER)


def _length(text: Sequence[str]) -> int:
    """Return the number of lines of the block at the beginning of the text."""
    try:
        return len(inspect.getblock([f"{line}\n" for line in text[:_MAX_LINES]]))
    except (tokenize.TokenError, SyntaxError):
        return 1


_LONGEST_LABEL = 200
_MAX_FILES = 5
"""Maximum number of files named in a note."""


@dataclass(frozen=True, slots=True)
class PageRun:
    """A run as a page shows it; `facts` must be escaped, other texts are escaped later."""

    id: str
    label: str
    profile: Profile
    facts: Sequence[Fact] = ()
    resources: Sequence[ResourcePoint] = ()
    notes: Sequence[str] = ()
    """Sentences that the page shows first."""
    summary: Sequence[str] = ()
    """Sentences that sum up the run."""
    summaries: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    """The same by thread (its index, or `all`) and activity; None if nothing can be chosen."""
    waiting: Collection[int] = ()
    """Indexes of the stacks of waiting threads."""
    tables: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)
    """Blocks of the panels of tables, by panel, with texts that are safe to show."""
    places: Mapping[int, str] = field(default_factory=dict)
    """Names of processes by pid, such as `rank 2`, in the order in which they can be chosen."""
    totals: Sequence[Mapping[tuple[str, str], int]] = ()
    """By thread: totals of functions (name and file) that differ from those of the stacks."""


@dataclass(slots=True)
class PageRuns:
    """Builder of a page's runs; `columns` and `head()` are the input of `html_page`."""

    cwd: str
    """Working directory of the program; short paths are relative to it."""
    is_library: IsLibrary
    sources: SourceBudget
    columns: Columns = field(default_factory=Columns)
    _objects: list[dict[str, object]] = field(default_factory=list)
    _lines: dict[int, int] = field(default_factory=dict)
    _table: FunctionTable = field(init=False)

    def __post_init__(self) -> None:
        self._table = FunctionTable(self.cwd, self.is_library)

    def add(self, run: PageRun, summed: Profile | None = None, functions: Functions | None = None) -> None:
        """Add a run's samples, and its source while there is room.

        `summed` is its profile without order, and `functions` are those of its frames, if known. A profile
        with stated totals has functions by line.
        """
        profile, prefix = run.profile, f"r{len(self._objects)}."
        named = None if profile.totals else functions or number_functions(profile.frames)
        keys = self._table.keys(profile.frames, named)
        summed = sum_samples(profile) if summed is None else summed
        places = add_stacks(self.columns, prefix, summed, keys, run.waiting)
        if profile.ordered:
            add_order(self.columns, prefix, profile, places, run.waiting)
        self._add_totals(run, prefix, keys)
        lines = line_weights(summed, keys, run.waiting)
        add_lines(self.columns, prefix, lines.rows)
        for function, line in lines.heaviest.items():
            self._lines.setdefault(function, line)
        self._objects.append(self._object(run, scale_of(summed), lines.by_function))

    def head(self, kind: str) -> dict[str, object]:
        """Return the head of a page of this kind with all added runs."""
        return {"kind": kind, **self._table.head(self._lines), "runs": self._objects}

    def _add_totals(self, run: PageRun, prefix: str, keys: Sequence[int]) -> None:
        add_totals(self.columns, prefix, zip(keys, run.profile.totals, strict=False))
        if run.totals:
            numbers = {frame[:2]: key for frame, key in zip(run.profile.frames, keys, strict=True)}
            for thread, totals in enumerate(run.totals):
                stated = ((numbers[function], total) for function, total in totals.items())
                add_totals(self.columns, f"{prefix}{thread}.", stated)

    def _source_notes(self) -> list[str]:
        return [*changed_note(self.sources.changed()), *refused_note(self.sources.refused())]

    def _object(self, run: PageRun, scale: Scale, lines: Mapping[int, Sequence[int]]) -> dict[str, object]:
        functions = self._table.functions()
        seen = (Seen(number, *functions[number], heaviest) for number, heaviest in lines.items())
        return {
            "id": visible(run.id),
            "label": short(run.label, _LONGEST_LABEL),
            "facts": fact_lists(run.facts),
            "unit": scale.unit.value,
            "weight_s": scale.weight_s,
            "total": scale.total,
            "waiting": weight_of(run.waiting, run.profile.weights_by_stack),
            "summary": [visible(sentence) for sentence in run.summary],
            **_summaries(run),
            "ordered": run.profile.ordered,
            "threads": _threads(run),
            "resources": resource_curves(run.resources),
            "tables": run.tables,
            "source": self.sources.excerpts(seen),
            "notes": [visible(note) for note in (*run.notes, *self._source_notes())],
        }


def _threads(run: PageRun) -> list[dict[str, object]]:
    """Return the threads, with their processes if there are several; a lower `place` is offered first."""
    threads = run.profile.threads
    processes = {thread.pid: run.places.get(thread.pid, f"process {thread.pid}") for thread in threads}
    order = {pid: number for number, pid in enumerate(run.places)}
    return [
        {
            "name": visible(f"{processes[pid]} · {name}".rstrip(" ·") if len(processes) > 1 else name),
            "place": order.get(pid, len(order)),
            "tid": tid,
        }
        for pid, tid, name in threads
    ]


def _summaries(run: PageRun) -> dict[str, object]:
    if run.summaries is None:
        return {}
    shown = {
        thread: {activity: [visible(one) for one in sentences] for activity, sentences in by_activity.items()}
        for thread, by_activity in run.summaries.items()
    }
    return {"summaries": shown}


def refused_note(refused: bool) -> list[str]:
    """Return one sentence if source is withheld, none otherwise."""
    if not refused:
        return []
    return [
        "Source is not shown: it cannot be verified that you recorded this run on this machine. "
        "`--source-root DIR` shows files below a folder."
    ]


def fact_lists(facts: Sequence[Fact]) -> list[list[object]]:
    """Return facts for the page's head: names, and parts of text and tone."""
    return [[fact.name, [[part.text, part.tone.value] for part in fact.parts]] for fact in facts]


def changed_note(files: Sequence[str]) -> list[str]:
    """Return one sentence about files whose source is not shown, none if there are no such files."""
    if not files:
        return []
    names = ", ".join(files[:_MAX_FILES]) + (", …" if len(files) > _MAX_FILES else "")
    return [f"Changed after the run, so their source is not shown: {names}"]
