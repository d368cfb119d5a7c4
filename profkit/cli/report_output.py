"""Output of reports: in which format, under which file name, and the options for both."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.options import Command, rare_option, together
from profkit.cli.output import STDOUT, deliver, say, terminal, write, write_parts
from profkit.errors import UsageError
from profkit.render.options import PIPE, Terminal
from profkit.render.registry import FORMAT_OF_SUFFIX
from profkit.units import short_id

if TYPE_CHECKING:
    from profkit.model.measurement import AnyInfo
    from profkit.model.run import RunInfo

MOST_LISTED = 1000
"""Maximum number of removed runs in a table."""
_LONGEST = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]+")


def name_of(infos: Sequence[AnyInfo]) -> str:
    """Return the label and the id of runs, or of their batch, in characters that a shell does not quote."""
    from profkit.model.measurement import MeasuredInfo

    first = infos[0]
    labels = {info.label for info in infos}
    label = first.label if len(labels) == 1 else f"{len(infos)} orders"
    identity = first.batch if isinstance(first, MeasuredInfo) and len(infos) > 1 else short_id(first.id)
    return "-".join(filter(None, (_slug(label), _slug(identity))))


def merged_name(infos: Sequence[RunInfo]) -> str:
    """Return the label of merged runs, in the same characters."""
    return "-".join(filter(None, (_slug(infos[0].label), "merged")))


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text)[:_LONGEST].strip("-.")


@dataclass(frozen=True, slots=True)
class Showing:
    """The format and the target of a report."""

    format: str
    output: str | None
    opens: bool

    @classmethod
    def of(cls, given: dict[str, object], formats: Collection[str]) -> Showing:
        """Create it from a command's options, and remove them from `given`; raises UsageError for conflicts.

        If no format is given, the ending of the file determines it.
        """
        chosen, output = given.pop("renderer"), given.pop("output")
        as_json, as_html = bool(given.pop("as_json")), bool(given.pop("as_html", False))
        opens = bool(given.pop("opens", False))
        asked = [name for name, wanted in (("json", as_json), ("html", as_html or opens)) if wanted]
        asked += [str(chosen)] if chosen is not None and str(chosen) not in asked else []
        if len(asked) > 1:
            raise UsageError(f"{' and '.join(asked)} are different formats", "choose one")
        if opens and output == STDOUT:
            raise UsageError(
                "--open needs a file, and -o - is stdout", "leave out --open, or name a file with -o"
            )
        file = None if output is None else str(output)
        format = asked[0] if asked else FORMAT_OF_SUFFIX.get(Path(file or "").suffix.lower(), "text")
        if format not in formats:
            raise UsageError(
                f"this command has no {format} report", f"choose a --format: {', '.join(formats)}"
            )
        return cls(format, file, opens)

    def terminal(self) -> Terminal:
        """Return the terminal layout for the text."""
        return PIPE if self.target("") is not None else terminal()

    def target(self, name: str) -> Path | None:
        """Return the output file, None for stdout; `name` is for HTML without a given file."""
        if self.output is None:
            return Path(f"profkit-{name}.html") if self.format == "html" else None
        return None if self.output == STDOUT else Path(self.output)

    def show(self, text: str, name: str) -> None:
        """Write the text; raises as `deliver`."""
        self.show_parts([text], name)

    def show_parts(self, parts: Iterable[str], name: str) -> None:
        """Write a text in pieces; raises as `deliver`."""
        deliver(parts, self.target(name), named=self.output is not None, opens=self.opens)


def source_root_option() -> Callable[[Command], Command]:
    """Add --source-root to a command, for reports that show source lines."""
    return rare_option(
        "--source-root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Also show source lines of files below DIR, for runs that were not recorded here.",
    )


def showing_options(
    formats: Sequence[str], written: str = "Output file, in the format of its ending; - is stdout."
) -> Callable[[Command], Command]:
    """Add the options of a `Showing` to a command; `written` is the help of --output."""
    options = [
        click.option("-o", "--output", metavar="FILE", help=written),
        click.option(
            "--format", "renderer", type=click.Choice(list(formats)),
            help="Output format.  [default: by FILE's ending, or text]",
        ),
        click.option("--json", "as_json", is_flag=True, hidden=True, help="The same as --format json."),
    ]  # fmt: skip
    if "html" in formats:
        options += [
            click.option("--html", "as_html", is_flag=True, hidden=True, help="The same as --format html."),
            click.option("--open", "opens", is_flag=True, help="Open the HTML page in a browser."),
        ]
    return together(options)


def write_removed(infos: Iterable[AnyInfo], more: int = 0, *, as_json: bool, dry_run: bool) -> None:
    """Write runs as data, for people at most `MOST_LISTED`, and their number with `more` as a message."""
    number = more

    def counted() -> Iterator[AnyInfo]:
        nonlocal number
        for info in infos:
            yield info
            number += 1

    if as_json:
        from profkit.render.json.sampled import removed_json_parts

        write_parts(removed_json_parts(counted(), dry_run=dry_run))
    else:
        _write_table(counted())
    runs = f"{number:,} run{'' if number == 1 else 's'}"
    say("note", f"{runs} would be removed" if dry_run else f"{runs} removed")
    if number > MOST_LISTED and not as_json:
        say("note", f"these are the newest {MOST_LISTED:,}; --json lists all")


def _write_table(infos: Iterator[AnyInfo]) -> None:
    """Write the first of the runs, when all have been read."""
    listed = tuple(islice(infos, MOST_LISTED))
    for _ in infos:
        pass
    if listed:
        from profkit.render.registry import LISTED_RUNS

        write(LISTED_RUNS.text(listed, terminal=terminal()))
