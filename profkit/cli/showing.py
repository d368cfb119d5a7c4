"""How reports are shown: their options, and where the text goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import click

from profkit.cli.output import page
from profkit.cli.target import STDOUT, deliver
from profkit.errors import UsageError
from profkit.render.page import Page
from profkit.render.registry import ENDINGS

_Command = TypeVar("_Command", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Showing:
    """What somebody wants to see, and where."""

    format: str
    output: str | None
    opens: bool

    @classmethod
    def of(cls, given: dict[str, object], formats: Collection[str] = ("text", "json", "html")) -> Showing:
        """From a command's options, which are taken out of `given`; raises UsageError where two disagree.

        Where no format is asked for, the ending of the file tells.
        """
        chosen, output = given.pop("renderer", None), given.pop("output")
        as_json, as_html = bool(given.pop("as_json")), bool(given.pop("as_html"))
        opens = bool(given.pop("opens"))
        asked = [name for name, wanted in (("json", as_json), ("html", as_html or opens)) if wanted]
        asked += [str(chosen)] if chosen is not None and str(chosen) not in asked else []
        if len(asked) > 1:
            raise UsageError(f"{' and '.join(asked)} are different formats", "ask for one")
        if opens and output == STDOUT:
            raise UsageError(
                "what goes to stdout cannot be opened", "leave out --open, or name a file with -o"
            )
        file = None if output is None else str(output)
        told = ENDINGS.get(Path(file or "").suffix.lower(), "")
        return cls(asked[0] if asked else told if told in formats else "text", file, opens)

    def page(self) -> Page:
        """What the text is laid out for."""
        return Page() if self.target("") is not None else page()

    def target(self, name: str) -> Path | None:
        """The file that it goes into, None for stdout; HTML has a file of this name where none is given."""
        if self.output is None:
            return Path(f"profkit-{name}.html") if self.format == "html" else None
        return None if self.output == STDOUT else Path(self.output)

    def show(self, text: str, name: str) -> None:
        """Write the text; raises as `deliver`."""
        deliver(text, self.target(name), named=self.output is not None, opens=self.opens)


def source_root_option() -> Callable[[_Command], _Command]:
    """Give a command --source-root, for reports that show source lines."""
    return click.option(
        "--source-root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Also show source lines of files below DIR, for runs that were not recorded here.",
    )


def showing_options(formats: Sequence[str] = ()) -> Callable[[_Command], _Command]:
    """Give a command the options of a `Showing`; --format only where formats are named."""
    options = [
        click.option("--json", "as_json", is_flag=True, help="As JSON, for programs."),
        click.option("--html", "as_html", is_flag=True, help="As an HTML file, for a browser."),
        click.option("-o", "--output", metavar="FILE", help="Where to write it; - is stdout."),
        click.option("--open", "opens", is_flag=True, help="Open the HTML file in a browser."),
    ]
    if formats:
        choice = click.Choice(list(formats))
        shown = "How to show it.  [default: by FILE's ending, or text]"
        options.insert(0, click.option("--format", "renderer", type=choice, help=shown))

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
