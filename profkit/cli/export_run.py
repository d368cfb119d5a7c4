"""`profkit export`: a run in a format of other tools, or whole in profkit's own."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from profkit.cli.completion import complete_run
from profkit.cli.imported import WHOLE
from profkit.cli.kept import open_kept
from profkit.cli.output import save, tell, write_bytes
from profkit.config import Config
from profkit.errors import UsageError
from profkit.formats.registry import FORMATS, lost_in
from profkit.model.measurement import MeasuredRun
from profkit.model.profile import Profile
from profkit.model.run import AnyRun

_STDOUT = "-"
_COMPRESSED = ".gz"
_WHOLE_ENDING = ".profkit.json"
_NAMES = (WHOLE, *(known.name for known in FORMATS.values() if known.encode is not None))


@click.command("export")
@click.argument("run", required=False, shell_complete=complete_run)
@click.option(
    "--format",
    "name",
    type=click.Choice(_NAMES),
    help="Told from FILE's ending if left out.",
)
@click.option("-o", "--output", metavar="FILE", help="Where to write it.  [default: stdout]")
@click.option(
    "--scrub", is_flag=True, help="Leave out paths, host, user, arguments and environment, to share it."
)
@click.pass_obj
def export_command(
    config: Config, run: str | None, name: str | None, output: str | None, scrub: bool
) -> None:
    """Write a run in a format that other tools read.

    RUN is the beginning of a run's id, or a label, whose newest run is meant. Without it, the newest run
    of all is written. A FILE that ends in .gz is compressed.

    The format profkit keeps all that there is about a run, in JSON: `profkit import` takes it back.

    With --scrub, files are named from where imports start or from the program's folder. Labels and the
    names of functions stay: look at them before you publish a profile.
    """
    file = None if output in (None, _STDOUT) else Path(str(output))
    chosen = name or _format_of(file)
    _refuse_terminal(chosen, file)
    with open_kept(config) as kept:
        infos = kept.find_all(run)
        if chosen != WHOLE and len(infos) > 1:
            raise UsageError(
                f"{len(infos)} runs were measured together, and {chosen} holds one", "give the id of one"
            )
        runs: tuple[AnyRun, ...] = tuple(kept.load(info) for info in infos)
    if scrub:
        from profkit.cli.scrubbing import scrubbed

        runs = scrubbed(runs)
    profile = None if chosen == WHOLE else _profile(runs[0])
    data = _whole(runs) if profile is None else _encoded(profile, chosen)
    if file is None:
        write_bytes(data)
    else:
        save(file, gzip.compress(data, mtime=0) if _to_compress(file, data) else data)
    for lost in () if profile is None else lost_in(FORMATS[chosen], profile):
        tell("note", f"{chosen} does not keep {lost}")


def _format_of(file: Path | None) -> str:
    """The format with the longest ending that a file's name has; raises UsageError for none."""
    endings = {ending: name for name in _NAMES for ending in _endings(name)}
    stem = "" if file is None else file.name.lower().removesuffix(_COMPRESSED)
    for ending in sorted(endings, key=len, reverse=True):
        if stem.endswith(ending):
            return endings[ending]
    which = "" if file is None else f": {file.name} ends in none of {', '.join(sorted(endings))}"
    raise UsageError(f"the format is not given{which}", "give one with --format")


def _endings(name: str) -> Iterable[str]:
    """Without what compression adds."""
    if name == WHOLE:
        return (_WHOLE_ENDING,)
    return (ending.removesuffix(_COMPRESSED) for ending in FORMATS[name].endings)


def _refuse_terminal(name: str, file: Path | None) -> None:
    if file is None and name != WHOLE and FORMATS[name].binary and sys.stdout.isatty():
        raise UsageError(f"{name} is not for a terminal", "name a file with -o, or write into a pipe")


def _whole(runs: Sequence[AnyRun]) -> bytes:
    from profkit.store.run_files import encode_runs

    return encode_runs(runs)


def _encoded(profile: Profile, name: str) -> bytes:
    encode = FORMATS[name].encode
    if encode is None:
        raise UsageError(f"{name} is not written", f"known are {', '.join(_NAMES)}")
    return encode(profile)


def _profile(run: AnyRun) -> Profile:
    """The samples of a run, or the instructions that were counted; raises UsageError where there are none."""
    if not isinstance(run, MeasuredRun):
        if run.profile is None:
            from profkit.render.no_samples import why_no_samples

            raise UsageError(f"run {run.info.id}: {why_no_samples(run)}", f"--format {WHOLE} keeps the rest")
        return run.profile
    counts = run.measurement.instructions if run.measurement is not None else None
    if counts is None:
        raise UsageError(
            f"run {run.info.id} ({run.info.label}) was measured, and has times but no stacks",
            f"--format {WHOLE} keeps its numbers",
        )
    from profkit.transforms.call_graphs import unfold_counts

    return unfold_counts(counts)


def _to_compress(file: Path, data: bytes) -> bool:
    return file.name.lower().endswith(_COMPRESSED) and not data.startswith(b"\x1f\x8b")
