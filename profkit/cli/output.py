"""Output of commands: data to stdout or a file, messages to stderr; replaces what an encoding lacks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from profkit.errors import UsageError
from profkit.render.escape import visible

if TYPE_CHECKING:
    from profkit.render.options import Terminal

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
    from profkit.render.options import terminal_of

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
    from profkit.store.files import check_link

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
    from profkit.store.files import file_mode

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
