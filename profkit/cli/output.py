"""Output of commands: data to stdout or a file, messages to stderr; the options for it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

from profkit.cli.options import Command, together
from profkit.errors import UsageError
from profkit.model.measurement import AnyInfo, MeasuredInfo
from profkit.model.run import RunInfo
from profkit.render.escape import visible
from profkit.render.options import PIPE, Terminal, terminal_of
from profkit.render.registry import FORMAT_OF_SUFFIX
from profkit.store.files import check_link, file_mode

# For terminals without Unicode: ASCII for the drawing characters of reports, one for each.
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("▁▂▃▄", "."),
        **dict.fromkeys("▅▆▇", "|"),
        **dict.fromkeys("▏▎▍", " "),
        **dict.fromkeys("█▉▊▋▌", "#"),
        "│": "|",
        "├": "|",
        "└": "`",
        "─": "-",
        "⋮": ":",
        "·": "-",
        "…": ".",
        "±": "~",
        "µ": "u",
        "✓": "+",
        "✗": "x",
        "–": "-",
    }
)


class ReaderGone(Exception):
    """Error: the reader of stdout is gone, as after `| head`."""


def terminal() -> Terminal:
    """Return the terminal layout for stdout."""
    return terminal_of(sys.stdout, os.environ)


def write(text: str) -> None:
    """Write data and a line break to stdout, in its encoding; raises as `write_bytes`."""
    write_parts([text])


def write_parts(parts: Iterable[str]) -> None:
    """Write data in pieces and a line break to stdout; raises as `write_bytes`."""
    for part in parts:
        with _to_stdout():
            sys.stdout.write(_encodable(part, sys.stdout))
    with _to_stdout():
        sys.stdout.write("\n")
        sys.stdout.flush()


def write_message(parts: Iterable[str]) -> None:
    """Write a text in pieces to stderr, for people; do nothing if stderr is closed or has no reader."""
    if sys.stderr is None:
        return
    with suppress(OSError):
        for part in parts:
            sys.stderr.write(_encodable(part, sys.stderr))
        sys.stderr.write("\n")


def write_bytes(data: bytes) -> None:
    """Write data to stdout unchanged; raises ReaderGone, and UsageError if stdout cannot be written."""
    with _to_stdout():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def _to_stdout() -> Iterator[None]:
    if sys.stdout is None:  # as `>&-` leaves it
        raise UsageError("stdout is closed", "redirect it to a file or a pipe")
    try:
        yield
    except OSError as error:
        # Python flushes the buffer when it ends: send the rest to /dev/null.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise UsageError(f"stdout cannot be written: {error.strerror}", "redirect it elsewhere") from error


def save(path: Path, content: str | bytes) -> None:
    """Write a file as `save_parts` does."""
    save_parts(path, [content])


def save_parts(path: Path, content: Iterable[str | bytes]) -> None:
    """Write a file in pieces, atomically, replacing any existing one; raises UsageError.

    Only its owner can read it, unless PROFKIT_FILES says otherwise. A file that is not regular, such as a
    pipe, is written to directly. A link is followed, unless another user has made it.
    """
    pieces = (
        part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace") for part in content
    )
    try:
        check_link(path, os.geteuid())
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.writelines(pieces)
        else:
            _replace(Path(os.path.realpath(path)), pieces)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"{path} cannot be written: {reason}", "choose another place with -o FILE"
        ) from error


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    unfinished = target.with_name(f".profkit-{os.getpid()}.unfinished")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(unfinished, flags, file_mode()), "wb") as file:
        try:
            file.writelines(pieces)
            file.flush()
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def say(kind: str, message: str) -> None:
    """Write a message to stderr: one line, with control characters escaped."""
    if sys.stderr is None:  # as `2>&-` leaves it
        return
    with suppress(OSError):  # stderr has no reader
        sys.stderr.write(_encodable(f"profkit: {kind}: {visible(message)}\n", sys.stderr))


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text


STDOUT = "-"
_LONGEST = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]+")


def deliver(parts: Iterable[str], target: Path | None, *, named: bool, opens: bool) -> None:
    """Write a report, show its path if the user gave none, and open it; raises as `save` and `write`."""
    if target is None:
        write_parts(parts)
        return
    save_parts(target, _with_line_break(parts))
    if not named:
        say("note", f"the report is in {target}")
    if opens:
        _open(target)


def _with_line_break(parts: Iterable[str]) -> Iterator[str]:
    last = ""
    for part in parts:
        yield part
        last = part or last
    if not last.endswith("\n"):
        yield "\n"


def _open(target: Path) -> None:
    import webbrowser

    if not webbrowser.open(target.resolve().as_uri()):
        say("warning", f"no browser was found; open {target} in one")


def name_of(infos: Sequence[AnyInfo]) -> str:
    """Return the label and the id of runs, or of their batch, in characters that a shell does not quote."""
    first = infos[0]
    labels = {info.label for info in infos}
    label = first.label if len(labels) == 1 else f"{len(infos)} orders"
    identity = first.batch if isinstance(first, MeasuredInfo) and len(infos) > 1 else first.id
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
    def of(cls, given: dict[str, object], formats: Collection[str] = ("text", "json", "html")) -> Showing:
        """Create it from a command's options, and remove them from `given`; raises UsageError for conflicts.

        If no format is given, the ending of the file determines it.
        """
        chosen, output = given.pop("renderer", None), given.pop("output")
        as_json, as_html = bool(given.pop("as_json")), bool(given.pop("as_html"))
        opens = bool(given.pop("opens"))
        asked = [name for name, wanted in (("json", as_json), ("html", as_html or opens)) if wanted]
        asked += [str(chosen)] if chosen is not None and str(chosen) not in asked else []
        if len(asked) > 1:
            raise UsageError(f"{' and '.join(asked)} are different formats", "choose one")
        if opens and output == STDOUT:
            raise UsageError(
                "--open needs a file, and -o - is stdout", "leave out --open, or name a file with -o"
            )
        file = None if output is None else str(output)
        by_suffix = FORMAT_OF_SUFFIX.get(Path(file or "").suffix.lower(), "")
        return cls(asked[0] if asked else by_suffix if by_suffix in formats else "text", file, opens)

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
    return click.option(
        "--source-root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="DIR",
        help="Also show source lines of files below DIR, for runs that were not recorded here.",
    )


def showing_options(formats: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Add the options of a `Showing` to a command; --format only if formats are named."""
    options = [
        click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs."),
        click.option("--html", "as_html", is_flag=True, help="Write an HTML file, for a browser."),
        click.option("-o", "--output", metavar="FILE", help="Output file; - is stdout."),
        click.option("--open", "opens", is_flag=True, help="Open the HTML file in a browser."),
    ]
    if formats:
        choice = click.Choice(list(formats))
        shown = "Output format.  [default: by FILE's ending, or text]"
        options.insert(0, click.option("--format", "renderer", type=choice, help=shown))

    return together(options)


def write_removed(infos: Sequence[AnyInfo], *, as_json: bool, dry_run: bool) -> None:
    """Write the runs as data, and their number as a message."""
    if as_json:
        from profkit.render.json.sampled import removed_json

        write(removed_json(infos, dry_run=dry_run))
    elif infos:
        from profkit.render.registry import LISTED_RUNS

        write(LISTED_RUNS.text(infos, terminal=terminal()))
    runs = f"{len(infos)} run{'' if len(infos) == 1 else 's'}"
    say("note", f"{runs} would be removed" if dry_run else f"{runs} removed")
