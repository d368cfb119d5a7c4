"""Run a program with and without profkit, and read what profkit recorded of it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess

from profkit.ingest.read import read_runs
from profkit.model.run import Run
from profkit.store.spool import session_folders
from tests.integration.harness import FORKING, ROOT, await_samplers_end, environment, run_program

PROGRAMS = Path(__file__).parent / "programs"
OWN_FRAME = re.compile(
    r'^ +File ".*/profkit/(session|calls|torch_tracing|decorators|integrations).*\n(^    .*\n)*', re.MULTILINE
)


@dataclass(frozen=True)
class Pair:
    """What one program did twice, and where each left its files."""

    bare: CompletedProcess[str]
    profiled: CompletedProcess[str]
    folder: Path
    """Current folder of the profiled one."""


@dataclass
class Seen:
    """What was recorded under one label, over all sessions and processes."""

    calls: int = 0
    raised: int = 0
    samples: int = 0
    torn: int = 0
    wall_s: float = 0.0
    frames: Counter[str] = field(default_factory=Counter)
    """Samples by function; each function counts once per sample."""
    pids: set[int] = field(default_factory=set)
    regions: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def share(self, function: str) -> float:
        """The part of the samples that have this function."""
        return self.frames[function] / self.samples if self.samples else 0.0


def environ(**changes: str) -> dict[str, str]:
    """The tests' environment, with the checkout and the programs of these tests importable."""
    return environment(PYTHONPATH=os.pathsep.join([str(ROOT), str(PROGRAMS)])) | changes


def both(tmp_path: Path, argv: Sequence[str], *, copy: Sequence[str] = (), **changes: str) -> Pair:
    """Run `python ARGV` with profkit disabled and enabled, each in a folder of its own.

    `copy`: programs to copy there first. Both run at once.
    """

    def run(name: str, disabled: str) -> CompletedProcess[str]:
        folder = tmp_path / name
        folder.mkdir()
        for program in copy:
            (folder / program).write_text((PROGRAMS / program).read_text("utf-8"), "utf-8")
        environment_ = environ(PROFKIT_DISABLE=disabled, **changes)
        return run_program(folder, [*FORKING, *argv], environ=environment_)

    with ThreadPoolExecutor(2) as pool:
        bare, profiled = pool.submit(run, "bare", "1"), pool.submit(run, "profiled", "0")
    await_samplers_end(tmp_path)
    return Pair(bare.result(), profiled.result(), tmp_path / "profiled")


def program(name: str, *arguments: str) -> list[str]:
    """The arguments for Python to run one of these tests' programs."""
    return [str(PROGRAMS / name), *arguments]


def shown(done: CompletedProcess[str]) -> str:
    """All that a program left to be seen, without times, addresses, own frames and the folder."""
    text = f"{done.stdout}--- stderr\n{OWN_FRAME.sub('', done.stderr)}--- exit code {done.returncode}"
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z|0x[0-9a-f]+", "…", text)
    return re.sub(r"/(bare|profiled)\b", "/FOLDER", text)


def assert_same(pair: Pair, code: int = 0) -> None:
    """Both printed the same and ended the same, with this exit code."""
    assert shown(pair.profiled) == shown(pair.bare)
    assert pair.profiled.returncode == code, shown(pair.profiled)


def runs_in(folder: Path) -> list[Run]:
    """Every run that a program left in its folder, from all its processes."""
    return [
        run for session in session_folders(folder / ".profkit" / "spool") for run in read_runs(session).runs
    ]


def seen(folder: Path) -> dict[str, Seen]:
    """What was recorded, by label."""
    found: dict[str, Seen] = {}
    for run in runs_in(folder):
        assert run.info.error is None, f"{run.info.label}: {run.info.error}"
        entry = found.setdefault(run.info.label, Seen())
        entry.calls += run.info.calls
        entry.raised += run.info.raised
        entry.samples += run.info.samples
        entry.torn += run.info.torn
        entry.wall_s += run.info.wall_s
        entry.pids.add(run.info.process.pid)
        entry.regions.add(run.info.region.id)
        entry.notes += [note.code.value for note in run.info.notes]
        if run.profile is not None:
            for sample in run.profile.samples:
                stack = run.profile.stacks[sample.stack]
                names = {run.profile.frames[frame].name for frame in stack}
                entry.frames.update(dict.fromkeys(names, sample.weight))
    return found


FEW = 10
"""Number of samples below which shares say little; a busy machine may take no more."""


def assert_only(entry: Seen, own: str, others: Sequence[str]) -> None:
    """The region's samples are of its own work, and none of them of anybody else's."""
    assert entry.samples, entry
    assert entry.samples < FEW or entry.share(own) > 0.5, entry
    assert not [other for other in others if entry.frames[other]], entry
