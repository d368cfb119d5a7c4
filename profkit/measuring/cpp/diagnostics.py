"""What a compiler says, cut down to what concerns the user's own lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from profkit.measuring.cpp.source import FRAME, GLOBAL_SETUP, SETUP, STATEMENT
from profkit.model.workorder import WorkOrder

_MESSAGE = re.compile(
    r"^(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)?\s+"
    r"(?P<kind>(?:fatal |internal compiler )?error|note|required|in ‘constexpr’|in 'constexpr')"
)
_OF_NO_LINE = re.compile(
    r"undefined reference to|cannot find |multiple definition of|^[\w.+-]+: (?:fatal )?error: "
)
"""From the linker, or about the compiler itself."""
_PATH_BEFORE = re.compile(r"\S*/(?=<(?:stmt|setup|global_setup)>:)")
"""The linker takes the names of the user's parts for files in a folder."""
_UNBALANCED = "a brace, parenthesis or quote of the statement or its setup is not closed, or closes too much"
_SILENT = "the compiler ended without a word"
_MOST_LINES = 60
_MOST_FOREIGN_NOTES = 3
"""After an error; a call that fits none of many overloads has dozens."""


def trimmed(output: str, order: WorkOrder) -> str:
    """The errors, with the user's lines that they name or come from, and the notes that belong to them.

    Everything, where nothing in it looks like an error.
    """
    own = {
        GLOBAL_SETUP: order.global_setup.split("\n"),
        SETUP: order.setup.split("\n"),
        STATEMENT: (order.stmt or "").split("\n"),
    }
    lines = list(_kept(_PATH_BEFORE.sub("", output), own))
    ours = [line for line in lines if not line.startswith(f"{FRAME}:")]
    lines = ours or ([_UNBALANCED, lines[0]] if lines else output.splitlines() or [_SILENT])
    more = [f"… and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else []
    return "\n".join([*lines[:_MOST_LINES], *more])


def _kept(output: str, own: Mapping[str, list[str]]) -> Iterator[str]:
    foreign_notes = 0
    for text in output.splitlines():
        found = _MESSAGE.match(text)
        if found is None:
            if _OF_NO_LINE.search(text):
                yield text
            continue
        if "error" in found["kind"]:
            foreign_notes = 0
        elif found["file"] not in own:
            foreign_notes += 1
            if found["kind"] != "note" or foreign_notes > _MOST_FOREIGN_NOTES:
                continue
        yield text
        yield from _quoted(own.get(found["file"], []), int(found["line"]), int(found["column"] or 0))


def _quoted(lines: list[str], number: int, column: int) -> Iterator[str]:
    """A user's line with a mark below the place; `column` counts bytes from 1, 0 is unknown."""
    if not 0 < number <= len(lines):
        return
    line = lines[number - 1]
    yield f"    {line}"
    if column:
        before = line.encode(errors="surrogatepass")[: column - 1].decode(errors="replace")
        yield "    " + "".join("\t" if letter == "\t" else " " for letter in before) + "^"
