"""Reports of whole programs, which follow their end: text on stderr, or a file in any format."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from profkit.cli.exports import EXPORTS, WHOLE, export_runs, format_of, refuse_terminal
from profkit.cli.options import Command, together
from profkit.cli.output import STDOUT, deliver, say, write_message
from profkit.errors import UsageError
from profkit.render.escape import visible
from profkit.render.options import PIPE, ReportOptions, terminal_of
from profkit.render.registry import COMPILATIONS, FORMAT_OF_SUFFIX, IN_ORDER, MEASURED, SAMPLED, WITH_SESSION
from profkit.units import short_id

if TYPE_CHECKING:
    from profkit.cli.workspace import Workspace
    from profkit.model.compilations import Compilations
    from profkit.model.measurement import AnyRun
    from profkit.model.run import Run, RunInfo

_REPORTS = tuple(SAMPLED.formats)
_NAMED = 3
"""Maximum number of other programs that are named."""


def report_options(
    written: str = "Write the report to a file; - is stdout.",
) -> Callable[[Command], Command]:
    """Add the options of an `Output`, and --quiet, to a command; `written` is the help of --output."""
    options = [
        click.option("-o", "--output", metavar="FILE", help=written),
        click.option(
            "--format",
            "name",
            type=click.Choice([*_REPORTS, *(name for name in EXPORTS if name not in _REPORTS)]),
            help="Format of FILE.  [default: by its ending, or text]",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Show no report; `profkit report` shows it later."),
    ]
    return together(options)


@dataclass(frozen=True, slots=True)
class Output:
    """Format and place of the report; without a place, it is text on stderr."""

    format: str
    place: str | None

    @classmethod
    def of(cls, name: str | None, place: str | None) -> Output:
        """Return the output for --format and --output; raises UsageError before anything starts."""
        if place is None:
            if name not in (None, "text"):
                raise UsageError(f"--format {name} needs a file", "name one with -o FILE")
            return cls("text", None)
        file = None if place == STDOUT else Path(place)
        if file is not None and not file.parent.is_dir():
            raise UsageError(
                f"there is no folder {file.parent}", "make it, or choose another place with -o FILE"
            )
        chosen = name or _format_of(file)
        if chosen not in SAMPLED.formats:
            refuse_terminal(chosen, file)
        return cls(chosen, place)

    @property
    def file(self) -> Path | None:
        """The output file; None for stdout and stderr."""
        return None if self.place in (None, STDOUT) else Path(str(self.place))


def _format_of(file: Path | None) -> str:
    suffix = "" if file is None else file.suffix.lower()
    if file is None or suffix in ("", ".txt"):
        return "text"
    return FORMAT_OF_SUFFIX.get(suffix) or format_of(file, FORMAT_OF_SUFFIX)


def write_merged(infos: Sequence[RunInfo], output: Output, workspace: Workspace) -> None:
    """Write the merged report of several processes; raises as `write_report`."""
    from profkit.comparing.merged_runs import merge_runs
    from profkit.render.views.source import lines_of

    if output.format not in SAMPLED.formats:
        export_runs(list(workspace.load_sampled(infos)), output.format, output.file)
        write_message([f"wrote {visible(str(output.file))}"])
    else:
        write_run(merge_runs(workspace.load_sampled(infos), lines_of), output)


def write_report(info: RunInfo, output: Output, workspace: Workspace) -> None:
    """Write the report of a program's run; raises UsageError, DamagedFile and ReaderGone."""
    is_report = output.format in SAMPLED.formats
    run = workspace.load(info, in_order=output.format in IN_ORDER or not is_report)
    others = workspace.others_of_session(info) if is_report and output.format in WITH_SESSION else ()
    write_run(run, output, others)


def write_run(run: AnyRun, output: Output, others: Sequence[Run] = (), *, quiet: bool = False) -> None:
    """Write a sampled run, with others of its session, or a measured one; raises as `write_report`.

    If it goes to a file, the first sentence of the report is a message, unless `quiet`.
    """
    if output.format not in SAMPLED.formats:
        export_runs([run], output.format, output.file)
    else:
        _write_rendered(run, output, others)
    if output.file is not None and not quiet:
        write_message([_headline(run), f"wrote {visible(str(output.file))}"])


def _write_rendered(run: AnyRun, output: Output, others: Sequence[Run]) -> None:
    from profkit.model.measurement import MeasuredRun

    terminal = terminal_of(sys.stderr, os.environ) if output.place is None else PIPE
    if isinstance(run, MeasuredRun):
        parts = MEASURED.parts(output.format, (run,), ReportOptions(), terminal)
    else:
        parts = SAMPLED.parts(output.format, (run, *others), ReportOptions(), terminal)
    if output.place is None:
        write_message(parts)
    else:
        deliver(parts, output.file, named=True, opens=False)


def _headline(run: AnyRun) -> str:
    """Return the first sentence of a sampled run's report, and a line break; nothing of a measured run's."""
    from profkit.model.measurement import MeasuredRun
    from profkit.render.views.header import why_no_samples
    from profkit.render.views.sampled import build_report
    from profkit.render.views.summary import summary

    if isinstance(run, MeasuredRun):
        return ""
    report = build_report(run, ReportOptions())
    first = summary(report)[0] if report.scale.total else why_no_samples(run)
    return f"{visible(first)}\n"


def write_compilations(found: Compilations) -> None:
    """Write the compilations of a program to stderr; raises ReaderGone."""
    terminal = terminal_of(sys.stderr, os.environ)
    write_message(["\n", *COMPILATIONS.parts("text", found, ReportOptions(), terminal)])


def refuse_stacks(output: Output, mode: str) -> None:
    """Raise UsageError for a format of stacks if only times are measured."""
    if output.format not in MEASURED.formats and output.format != WHOLE:
        raise UsageError(
            f"--mode {mode} measures no stacks, which {output.format} consists of",
            f"choose one of {', '.join((*MEASURED.formats, WHOLE))}",
        )


def mention_others(others: Sequence[RunInfo]) -> None:
    """Say which other programs a command has started."""
    if others:
        named = [f"{info.label} (run {short_id(info.id)})" for info in others[:_NAMED]]
        named += [f"{len(others) - _NAMED} more"] if len(others) > _NAMED else []
        say("note", f"also profiled: {', '.join(named)}; `profkit report ID` shows one of them")
