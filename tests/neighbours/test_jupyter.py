"""A Jupyter kernel: edited cells that run again and reloaded modules are regions of their own."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.neighbours.harness import both, program, runs_in

LABELS = ["work", "block", "items", "awaited", "lambda", "reloaded", "autoreloaded"]


@pytest.mark.full
def test_each_version_of_a_function_has_its_own_samples(tmp_path: Path) -> None:
    runtime = tmp_path / "jupyter"
    pair = both(tmp_path, program("notebook.py"), IPYTHONDIR=str(runtime), JUPYTER_RUNTIME_DIR=str(runtime))
    # Not stderr: a kernel may complain there while it is shut down, with profkit or without.
    assert pair.profiled.stdout == pair.bare.stdout
    assert pair.profiled.returncode == pair.bare.returncode == 0
    versions = versions_in(pair.folder)
    for label in LABELS:
        colours = sorted(sorted(frames & {"red", "green"}) for frames in versions[label].values())
        assert colours == [["green"], ["red"]], (label, colours)
    calls = dict.fromkeys(LABELS, 0)
    for run in runs_in(pair.folder):
        if run.info.label in calls:
            calls[run.info.label] += run.info.calls
            assert run.info.samples >= 10, run.info
    assert calls == {
        "work": 4, "block": 3, "items": 2, "awaited": 4, "lambda": 2, "reloaded": 2, "autoreloaded": 2,
    }  # fmt: skip


def versions_in(folder: Path) -> dict[str, dict[str, set[str]]]:
    """The names of all frames, by label and region."""
    versions: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for run in runs_in(folder):
        assert run.profile is not None
        versions[run.info.label][run.info.region.id] |= {frame.name for frame in run.profile.frames}
    return versions
