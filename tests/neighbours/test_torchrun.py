"""torchrun: both ranks of a program that meets over gloo are profiled, each in its process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.neighbours.harness import assert_same, both, program, runs_in


@pytest.mark.torch
@pytest.mark.full
def test_both_ranks(tmp_path: Path) -> None:
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    pair = both(tmp_path, [*torchrun, *program("torch_ranks.py")], OMP_NUM_THREADS="1")
    assert_same(pair)
    runs = [run for run in runs_in(pair.folder) if run.info.label == "step"]
    assert len({run.info.process.pid for run in runs}) == 2
    assert len({run.info.region.id for run in runs}) == 1
    colours = []
    for run in runs:
        assert run.info.calls == 10
        assert run.profile is not None
        colours.append({frame.name for frame in run.profile.frames} & {"red", "green"})
    assert sorted(map(sorted, colours)) == [["green"], ["red"]]
