"""What the report of a recorded job says, and whether it is right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.late_ranks.jobs import RANKS, Job
from benchmarks.late_ranks.programs import PROGRAMS
from profkit.comparing.merged_runs import merge_runs
from profkit.ingest.read import read_runs
from profkit.model.run import Run
from profkit.render.options import ReportOptions
from profkit.render.views.sampled import build_report
from profkit.render.views.source import lines_of
from profkit.render.views.summary import summary
from profkit.store.spool import session_folders

_LATE = re.compile(r"^Ranks? .* made the others? ")


def said(folder: Path, job: Job) -> tuple[str, str]:
    """Return the first sentence of the report of a job, and what is known of its ranks."""
    runs = list(_runs(folder, job.label))
    run = merge_runs(sorted(runs, key=lambda run: -run.info.started_ns), lines_of)
    (first, *_) = summary(build_report(run, ReportOptions()))
    ranks = None if run.merged is None else run.merged.ranks
    samples = min(one.info.samples for one in runs)
    if ranks is None or len(runs) != RANKS:
        return first, f"{len(runs)} runs of {samples} samples, no ranks"
    waited = ", ".join(f"{waited_s:.1f}" for waited_s in ranks.waited_s)
    return first, f"waited {waited} s of {max(ranks.total_s):.1f}, {samples} samples"


def _runs(folder: Path, label: str) -> Iterator[Run]:
    for session in session_folders(folder / "spool"):
        yield from (run for run in read_runs(session).runs if run.info.label == label)


def is_right(job: Job, sentence: str) -> bool:
    """Return whether a sentence names the late rank and its function; of equal ranks, none."""
    if job.late is None:
        return _LATE.match(sentence) is None
    is_named = sentence.startswith(f"Rank {job.late} made the others wait ")
    return is_named and any(f" in {name} (" in sentence for name in PROGRAMS[job.program].functions)
