"""Export of runs to files: in another tool's format, which the file's ending names, or in profkit's own."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from profkit.cli.output import save, say, write_bytes
from profkit.errors import UsageError
from profkit.formats.registry import FORMATS, lost_in, span_of

if TYPE_CHECKING:
    from profkit.model.measurement import AnyRun
    from profkit.model.profile import Profile, Value

WHOLE = "profkit"
"""Format of files with whole runs."""
_COMPRESSED = ".gz"
_ALL_VALUES = "pprof"
"""Format that can have several values of each sample."""
_TRACE = "chrome-trace"
"""Format in which a traced run is written as torch.profiler wrote it."""
_WHOLE_ENDING = ".profkit.json"
EXPORTS = (WHOLE, *(known.name for known in FORMATS.values() if known.encode is not None))
"""Names of all formats that can be written."""


def export_runs(
    runs: Sequence[AnyRun],
    name: str,
    file: Path | None,
    *,
    native_functions: bool = False,
    value: Value | None = None,
) -> None:
    """Write runs to a file, None for stdout; a message says what a format does not keep.

    Only the whole format takes more than one run. `native_functions` is for counted runs, and `value` for
    runs of memory, of which pprof has all values if none is given. Raises UsageError.
    """
    from profkit.model.run import Run
    from profkit.transforms.values import run_with_value

    if name == _TRACE and (trace := _trace_file(runs[0])) is not None:
        _write(trace, file)
        return
    profile = None if name == WHOLE else profile_of(runs[0], native_functions=native_functions)
    if profile is not None and isinstance(run := runs[0], Run) and (value is not None or name != _ALL_VALUES):
        profile = run_with_value(run, value).profile or profile
    data = _whole(runs) if profile is None else _encoded(runs[0], profile, name)
    _write(data, file)
    for lost in () if profile is None else lost_in(FORMATS[name], profile):
        say("note", f"{name} does not keep {lost}")


def _write(data: bytes, file: Path | None) -> None:
    if file is None:
        write_bytes(data)
    else:
        save(file, gzip.compress(data, mtime=0) if _to_compress(file, data) else data)


def _trace_file(run: AnyRun) -> bytes | None:
    """Return the file that torch.profiler wrote; None if there is none."""
    from profkit.model.run import Run

    return gzip.decompress(run.trace_file) if isinstance(run, Run) and run.trace_file else None


def format_of(file: Path | None, reports: Mapping[str, str] | None = None) -> str:
    """Return the format with the longest ending that matches a file's name; raises UsageError for none.

    `reports` are formats of reports by ending, which are accepted as well.
    """
    endings = {ending: name for name in EXPORTS for ending in _endings(name)} | dict(reports or {})
    stem = "" if file is None else file.name.lower().removesuffix(_COMPRESSED)
    for ending in sorted(endings, key=len, reverse=True):
        if stem.endswith(ending):
            return endings[ending]
    which = "" if file is None else f": {file.name} has none of the endings {', '.join(sorted(endings))}"
    raise UsageError(f"the format is not given{which}", "give one with --format")


def _endings(name: str) -> Iterable[str]:
    """Return a format's endings without that of compression."""
    if name == WHOLE:
        return (_WHOLE_ENDING,)
    return (ending.removesuffix(_COMPRESSED) for ending in FORMATS[name].endings)


def refuse_terminal(name: str, file: Path | None) -> None:
    """Raise UsageError for a binary format on a terminal."""
    is_text = name == WHOLE or (name in FORMATS and not FORMATS[name].binary)
    if not is_text and file is None and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError(
            f"{name} is a binary format, and stdout is a terminal", "name a file with -o, or write to a pipe"
        )


def _whole(runs: Sequence[AnyRun]) -> bytes:
    from profkit.store.run_files import encode_runs

    return encode_runs(runs)


def _encoded(run: AnyRun, profile: Profile, name: str) -> bytes:
    known = FORMATS[name]
    if known.encode_timed is not None:
        return known.encode_timed(profile, span_of(run.info))
    if known.encode is None:
        raise UsageError(f"{name} cannot be exported", f"supported formats: {', '.join(EXPORTS)}")
    return known.encode(profile)


def has_python_functions(run: AnyRun) -> bool:
    """Return whether a run has instruction counts by Python function."""
    from profkit.model.measurement import MeasuredRun

    counts = run.measurement.instructions if isinstance(run, MeasuredRun) and run.measurement else None
    return counts is not None and counts.python is not None and bool(counts.python.functions)


def profile_of(run: AnyRun, *, native_functions: bool = False) -> Profile:
    """Return the samples of a run, or its counted instructions; raises UsageError if it has neither."""
    from profkit.model.measurement import MeasuredRun

    if not isinstance(run, MeasuredRun):
        if run.profile is None:
            from profkit.render.views.header import why_no_samples

            raise UsageError(f"run {run.info.id}: {why_no_samples(run)}", f"--format {WHOLE} keeps the rest")
        return run.profile
    counts = run.measurement.instructions if run.measurement is not None else None
    if counts is None:
        raise UsageError(
            f"run {run.info.id} ({run.info.label}) has times but no stacks",
            f"--format {WHOLE} keeps its numbers",
        )
    from profkit.transforms.call_graphs import unfold_counts, unfold_python

    if counts.python is not None and has_python_functions(run) and not native_functions:
        return unfold_python(counts.python)
    return unfold_counts(counts)


def _to_compress(file: Path, data: bytes) -> bool:
    return file.name.lower().endswith(_COMPRESSED) and not data.startswith(b"\x1f\x8b")
