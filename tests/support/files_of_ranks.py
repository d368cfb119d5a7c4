"""Files that torch writes for each rank, several in one text, and what reads them together."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from profkit.cli.files import join_ranks, runs_of_file
from profkit.comparing.merged_runs import merge_runs
from profkit.formats.flight_recorder import read_dump, stacks_of
from profkit.formats.limits import Budget, ImportLimits
from profkit.model.run import Run
from profkit.render.options import DEFAULTS, PIPE
from profkit.render.registry import JOB_STACKS, SAMPLED
from profkit.store.rows import rows_of
from tests.support.flight_recorder import dump, entry
from tests.support.rank_traces import nccl_trace

_BETWEEN = b"\n\0--\0\n"
_MOST_FILES = 8
_FORMATS = ("text", "json", "html")


def joined(files: Sequence[bytes]) -> bytes:
    """Return files as one text, as the readers take them."""
    return _BETWEEN.join(files)


def separated(data: bytes) -> list[bytes]:
    """Return the files of such a text."""
    return data.split(_BETWEEN)


def read_traces(data: bytes, folder: Path) -> None:
    """Import traces of ranks together, and make the report of their job; raise what refuses them."""
    paths = _written(data, folder, "rank{}.json")
    runs = join_ranks([run for path in paths for run in runs_of_file(path, "chrome-trace")])
    for run in runs:
        rows_of(run)
    of_job = [run for run in runs if isinstance(run, Run) and run.info.process.member.job]
    if of_job:
        merged = merge_runs(of_job)
        for name in _FORMATS:
            SAMPLED.renderer(name)([merged], DEFAULTS, PIPE)


def read_dumps(data: bytes, folder: Path) -> None:
    """Show dumps of the flight recorder together; raise what refuses them."""
    paths = _written(data, folder, "dump_rank_{}")
    dumps = [read_dump(path.read_bytes(), path, Budget(ImportLimits(), path)) for path in paths]
    stacks = stacks_of(dumps, 10**18)
    for name in _FORMATS:
        JOB_STACKS.renderer(name)(stacks, DEFAULTS, PIPE)


def _written(data: bytes, folder: Path, name: str) -> list[Path]:
    paths = [folder / name.format(number) for number in range(_MOST_FILES)]
    found = list(zip(paths, separated(data), strict=False))
    for path, part in found:
        path.write_bytes(part)
    return [path for path, _ in found]


READERS: Mapping[str, Callable[[bytes, Path], None]] = {
    "rank-traces": read_traces,
    "flight-recorder": read_dumps,
}
"""Readers of several files of one kind, by the name of the kind."""


def examples(kind: str) -> Iterator[bytes]:
    """Yield whole files of a kind, as one text each."""
    if kind == "rank-traces":
        late = [[500 * (rank == 1), 3 * rank][:2] for rank in range(3)]
        for with_stack in (False, True):
            yield joined([nccl_trace(rank, late, with_stack=with_stack) for rank in range(2)])
        return
    ended, waits = entry(117), entry(118, "started")
    gathers = entry(118, "scheduled", "nccl:_all_gather_base", sizes=(3, 4))
    dumps = [dump(ended, waits), dump(ended, gathers), dump(ended)]
    yield joined([json.dumps(one).encode() for one in dumps])
    for protocol in (2, 4):
        yield joined([pickle.dumps(one, protocol) for one in dumps])
