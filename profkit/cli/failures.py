"""What a command says about an error that ends it, and the exit code; docs/errors.md lists the codes."""

from __future__ import annotations

import os
from pathlib import Path

import click

from profkit.cli.output import ReaderGone, say, write_message
from profkit.errors import ProfkitError

EXIT_UNEXPECTED = 70
TRACEBACK = "PROFKIT_TRACEBACK"
"""Environment variable that shows the traceback of an unexpected error."""
REPORT_AT = "the project's issue tracker"
EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
EXIT_READER_GONE = 141
"""128 + SIGPIPE: exit code of a program that writes to a closed pipe."""

FAILURES = (Exception, KeyboardInterrupt)
"""All that a command fails with."""


def report_failure(error: Exception | KeyboardInterrupt) -> int:
    """Say what is wrong, as one line on stderr; return the exit code."""
    if isinstance(error, ProfkitError):
        say("error", str(error))
        return error.exit_code
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return EXIT_INTERRUPTED
    if isinstance(error, ReaderGone):
        return EXIT_READER_GONE
    if isinstance(error, MemoryError):
        say("error", "memory ran out; free some, raise the limit (`ulimit -v`), or ask about fewer runs")
        return EXIT_UNEXPECTED
    _say_unexpected(error)
    return EXIT_UNEXPECTED


def _say_unexpected(error: Exception) -> None:
    import traceback  # seldom needed

    if os.environ.get(TRACEBACK, "") not in ("", "0"):
        write_message(traceback.format_exception(error))
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split())
    what = f"{type(error).__name__}{f': {words}' if words else ''}"
    say(
        "error",
        f"{what} (at {Path(last.filename).name}:{last.lineno}) is a defect of profkit; set {TRACEBACK}=1 to "
        f"see the traceback, and report it at {REPORT_AT}",
    )
