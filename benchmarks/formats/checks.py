"""Verdicts on files: accepted, recognised and refused, misread, or unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.formats import readers, sessions, speedscope, sums
from benchmarks.formats.costs import Costs, differences
from profkit.cli.files import runs_of_file
from profkit.errors import ProfkitError
from profkit.model.profile import Profile
from profkit.model.run import Run

_UNKNOWN = "is not known"
"""Part of the message for a file that is neither read nor recognised."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of importing one file."""

    file: Path
    format: str = ""
    """Format that was recognised; empty if the file was refused."""
    tool: str = ""
    profile: Profile | None = None
    refusal: str = ""
    """First line of the message, with its fix; empty if the file was accepted."""

    @property
    def is_named(self) -> bool:
        """Whether the file was accepted, or refused with a message that says what it is."""
        return _UNKNOWN not in self.refusal


def import_file(file: Path, value: str | None = None) -> Outcome:
    """Import a file as the command does, and return the outcome."""
    try:
        (run,) = runs_of_file(file, value=value)
    except ProfkitError as error:
        text = str(error).replace(str(file), "FILE")
        return Outcome(file, refusal=text.splitlines()[0])
    if not isinstance(run, Run) or run.info.imported is None:
        return Outcome(file, "profkit", "profkit")
    return Outcome(file, run.info.imported.format, run.info.imported.tool, run.profile)


def files_in(paths: list[Path]) -> list[Path]:
    """Return the files themselves and those in folders, sorted."""
    found = (inner for path in paths for inner in ([path] if path.is_file() else path.rglob("*")))
    return sorted(file for file in found if file.is_file())


VERDICTS = ("accepted", "refused", "misread", "unknown")
"""Verdicts on files; "refused" is by name, and unknown files are often no profiles."""
_SHOWN = 3
"""Number of differences that are shown of a file."""
_AMBIGUOUS = {
    "bex-interaction.json": "two events with the same times: the format does not say which one is the caller",
    "invalid-x-nesting.json": "events overlap without nesting: speedscope makes one longer, profkit does not",
}
"""Samples of speedscope that its importer reads in one of several ways."""


@dataclass(frozen=True, slots=True)
class Check:
    """A file's outcome, compared with an independent reader if there is one."""

    file: Path
    format: str
    verdict: str
    detail: str
    differences: tuple[str, ...] = ()


def check(outcome: Outcome, reading: speedscope.Reading) -> Check:
    """Return the verdict on a file; `reading` is what speedscope says."""
    if outcome.refusal:
        verdict = "refused" if outcome.is_named else "unknown"
        return Check(outcome.file, "", verdict, outcome.refusal)
    if outcome.profile is None:
        return Check(outcome.file, outcome.format, "accepted", "not compared")
    compared = list(_compared(outcome.file, outcome.format, outcome.profile, reading))
    if not compared:
        return Check(outcome.file, outcome.format, "accepted", "not compared: no other reader")
    # Readers differ in details: one with the same figures is enough.
    reader, found = min(compared, key=lambda one: len(one[1]))
    if not found:
        return Check(outcome.file, outcome.format, "accepted", f"equal to {reader}")
    if outcome.file.name in _AMBIGUOUS:
        detail = f"differs from {reader}: {_AMBIGUOUS[outcome.file.name]}"
        return Check(outcome.file, outcome.format, "accepted", detail)
    return Check(outcome.file, outcome.format, "misread", f"{reader}: {'; '.join(found[:_SHOWN])}", found)


def _compared(
    file: Path, format: str, profile: Profile, reading: speedscope.Reading
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for costs in _read(file, format, profile, reading):
        if costs is not None:
            yield costs.reader, tuple(differences(profile, costs))


def _read(file: Path, format: str, profile: Profile, reading: speedscope.Reading) -> Iterator[Costs | None]:
    """Yield what other readers say, the most exact first."""
    if format == "pstats":
        yield readers.read_pstats(file, profile)
    elif format == "callgrind":
        yield readers.read_callgrind(file, profile)
        yield readers.read_gprof2dot(file, profile, format)
        yield readers.read_dump(file, profile)
    elif format == "pprof":
        yield readers.read_pprof(file, profile)
    elif format == "perf-script":
        yield readers.read_gprof2dot(file, profile, format)
    elif format == "collapsed":
        yield readers.read_gprof2dot(file, profile, format)
        yield sums.read_lines(file, profile)
    elif format in ("cpuprofile", "chrome-trace"):
        yield sums.read_v8(file, profile)
        yield sums.read_trace_samples(file, profile)
        yield sums.read_spans(file, profile)
    elif format == "austin":
        yield sums.read_austin(file, profile)
    elif format == "firefox":
        yield sums.read_firefox(file, profile)
    elif format == "pyinstrument":
        yield sessions.read_pyinstrument(file, profile)
    if format not in ("pstats", "perf-script"):
        yield speedscope.costs_in(reading, profile, graph=format == "callgrind")
