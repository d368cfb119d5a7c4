"""The head of a text report: the run's label and id, then its facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from profkit.model.run import Run
from profkit.render.facts import Fact, facts
from profkit.render.page import Page
from profkit.render.text.layout import GLUE, middle_cut
from profkit.render.text.palette import FAINT, TITLE, TONES
from profkit.render.words import count

_WIDEST = 100
_GLUED = 40  # Longer parts may break at their spaces.


def header(run: Run, page: Page) -> Iterator[RenderableType]:
    """The title, a rule and the facts of a run."""
    identity = (
        f"run {run.info.id}" if run.merged is None else count(len(run.merged.infos), "run") + ", merged"
    )
    yield from title(run.info.label, identity, page)
    yield fact_grid(facts(run))


def title(label: str, identity: str, page: Page) -> Iterator[RenderableType]:
    """A label on the left, what it is the label of on the right, and a rule below them."""
    width = min(page.width or _WIDEST, _WIDEST)
    line = Text(middle_cut(label, max(20, width - len(identity) - 2)), style=TITLE)
    line.append(" " * max(2, width - line.cell_len - len(identity)))
    line.append(identity, style=FAINT)
    yield line
    yield Text("─" * width, style=FAINT)


def fact_grid(rows: Sequence[Fact]) -> Table:
    """Facts below each other, their names right-justified; a name that repeats stands once."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    previous = ""
    for fact in rows:
        grid.add_row("" if fact.name == previous else fact.name, _line(fact))
        previous = fact.name
    return grid


def _line(fact: Fact) -> Text:
    line = Text()
    for number, part in enumerate(fact.parts):
        line.append(f"{GLUE}· " if number else "", style=FAINT)
        text = part.text if len(part.text) > _GLUED else part.text.replace(" ", GLUE)
        line.append(text, style=TONES[part.tone])
    return line
