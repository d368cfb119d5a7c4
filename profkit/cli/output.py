"""What commands write: data to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from profkit.errors import UsageError
from profkit.render.escape import visible
from profkit.render.page import Page, page_of
from profkit.store.files import file_mode

# For terminals without Unicode: what reports draw with in ASCII, one character for each.
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
    }
)


class ReaderGone(Exception):
    """Nobody reads stdout any more, as after `| head`."""


def page() -> Page:
    """The page that stdout is."""
    return Page() if sys.stdout is None else page_of(sys.stdout, os.environ)


def write(text: str) -> None:
    """Write data and a line break to stdout, in whatever encoding it has; raises as `write_bytes`."""
    with _to_stdout():
        sys.stdout.write(_encodable(text, sys.stdout))
        sys.stdout.write("\n")
        sys.stdout.flush()


def write_bytes(data: bytes) -> None:
    """Write data to stdout as it is; raises ReaderGone, and UsageError where stdout takes no more."""
    with _to_stdout():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@contextmanager
def _to_stdout() -> Iterator[None]:
    if sys.stdout is None:  # as `>&-` leaves it
        raise UsageError("stdout is closed", "send it to a file or a pipe")
    try:
        yield
    except OSError as error:
        # What is still in the buffer must go somewhere when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise ReaderGone from error
        raise UsageError(f"stdout cannot be written: {error.strerror}", "send it to another place") from error


def save(path: Path, content: str | bytes) -> None:
    """Write a file that appears whole or not at all, in place of one that is there; raises UsageError.

    Only its owner can read it, unless PROFKIT_FILES says otherwise. What is no regular file, such as a
    pipe, is written to as it is.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"{path} cannot be written: {reason}", "choose another place with -o FILE"
        ) from error


def _replace(target: Path, data: bytes) -> None:
    unfinished = target.with_name(f".profkit-{os.getpid()}.unfinished")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(unfinished, flags, file_mode()), "wb") as file:
        try:
            file.write(data)
            file.flush()
            unfinished.replace(target)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def tell(kind: str, message: str) -> None:
    """Say something that is no data, on stderr: one line, with control characters escaped."""
    if sys.stderr is None:  # as `2>&-` leaves it
        return
    with suppress(OSError):  # nobody reads it
        sys.stderr.write(_encodable(f"profkit: {kind}: {visible(message)}\n", sys.stderr))


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    return text
