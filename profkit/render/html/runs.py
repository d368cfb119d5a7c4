"""The runs of a page while it is put together: their heads, and the columns and functions they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from profkit.model.profile import Profile
from profkit.model.run import Merged
from profkit.model.session import ResourcePoint
from profkit.render.escape import short, visible
from profkit.render.facts import Fact
from profkit.render.html.columns import Columns
from profkit.render.html.functions import FunctionTable
from profkit.render.html.lines import LineWeights, heaviest_lines, line_weights
from profkit.render.html.resources import resource_curves
from profkit.render.html.samples import add_lines, add_order, add_stacks, add_totals
from profkit.render.html.sources import Seen, SourceBudget
from profkit.render.merged_json import merged_object
from profkit.render.rows import Scale, scale_of
from profkit.render.user_code import IsLibrary
from profkit.transforms.trees import sum_samples

_LONGEST_LABEL = 200
_NO_LINE = 2**32
"""Lines of damaged or hostile profiles can be anything."""
_MOST_FILES = 5
"""Named in a note."""


@dataclass(frozen=True, slots=True)
class PageRun:
    """A run as a page shows it; its texts need not be safe yet, but those of `facts` are."""

    id: str
    label: str
    profile: Profile
    facts: Sequence[Fact] = ()
    resources: Sequence[ResourcePoint] = ()
    notes: Sequence[str] = ()
    """Sentences that a reader should see first."""
    merged: Merged | None = None
    totals: Sequence[Mapping[tuple[str, str], int]] = ()
    """By thread: totals of functions (name and file) that are not those of the stacks."""


@dataclass(slots=True)
class PageRuns:
    """Takes runs one by one; `columns` and `head()` are what `html_page` wants."""

    cwd: str
    """Where the program ran; short paths begin there."""
    is_library: IsLibrary
    sources: SourceBudget
    columns: Columns = field(default_factory=Columns)
    _objects: list[dict[str, object]] = field(default_factory=list)
    _lines: dict[int, int] = field(default_factory=dict)
    _table: FunctionTable = field(init=False)

    def __post_init__(self) -> None:
        self._table = FunctionTable(self.cwd, self.is_library)

    def add(self, run: PageRun) -> None:
        """Add a run's samples, and its source as far as there is room."""
        profile, prefix = run.profile, f"r{len(self._objects)}."
        keys = self._table.keys(profile.frames, by_line=bool(profile.totals))
        summed = sum_samples(profile)
        places = add_stacks(self.columns, prefix, summed, keys)
        if profile.ordered:
            add_order(self.columns, prefix, profile, places)
        self._add_totals(run, prefix, keys)
        lines = line_weights(summed, keys)
        add_lines(self.columns, prefix, [line for line in lines if 0 < line.line < _NO_LINE])
        by_function = heaviest_lines(lines)
        for function, found in by_function.items():
            self._lines.setdefault(function, found[0].line)
        self._objects.append(self._object(run, scale_of(summed), by_function))

    def head(self, kind: str, title: str) -> dict[str, object]:
        """The head of a page of this kind with all runs that were added."""
        return {
            "kind": kind,
            "title": visible(title),
            **self._table.head(self._lines),
            "runs": self._objects,
        }

    def _add_totals(self, run: PageRun, prefix: str, keys: Sequence[int]) -> None:
        add_totals(self.columns, prefix, zip(keys, run.profile.totals, strict=False))
        if run.totals:
            numbers = {frame[:2]: key for frame, key in zip(run.profile.frames, keys, strict=True)}
            for thread, totals in enumerate(run.totals):
                stated = ((numbers[function], total) for function, total in totals.items())
                add_totals(self.columns, f"{prefix}{thread}.", stated)

    def _source_notes(self) -> list[str]:
        return [*changed_note(self.sources.changed()), *refused_note(self.sources.refused())]

    def _object(
        self, run: PageRun, scale: Scale, lines: Mapping[int, Sequence[LineWeights]]
    ) -> dict[str, object]:
        functions = self._table.functions()
        seen = (
            Seen(number, *functions[number], [line.line for line in heaviest])
            for number, heaviest in lines.items()
        )
        return {
            "id": visible(run.id),
            "label": short(run.label, _LONGEST_LABEL),
            "facts": fact_lists(run.facts),
            "unit": scale.unit.value,
            "weight_s": scale.weight_s,
            "total": scale.total,
            "ordered": run.profile.ordered,
            "threads": [
                {"name": visible(thread.name), "pid": thread.pid, "tid": thread.tid}
                for thread in run.profile.threads
            ],
            "resources": resource_curves(run.resources),
            "merged": None if run.merged is None else merged_object(run.merged, visible),
            "source": self.sources.excerpts(seen),
            "notes": [visible(note) for note in (*run.notes, *self._source_notes())],
        }


def refused_note(refused: bool) -> list[str]:
    """One sentence if source is withheld; none if it is not."""
    if not refused:
        return []
    return [
        "Source is not shown: it cannot be verified that you recorded this run on this machine. "
        "`--source-root DIR` shows files below a folder."
    ]


def fact_lists(facts: Sequence[Fact]) -> list[list[object]]:
    """Facts as a head has them: name, and parts of text and tone."""
    return [[fact.name, [[part.text, part.tone.value] for part in fact.parts]] for fact in facts]


def changed_note(files: Sequence[str]) -> list[str]:
    """One sentence about files whose source is not shown; none where there are none."""
    if not files:
        return []
    shown = ", ".join(files[:_MOST_FILES]) + (", …" if len(files) > _MOST_FILES else "")
    return [f"Changed after the run, so their source is not shown: {shown}"]
