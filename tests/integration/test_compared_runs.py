"""Runs of a real program in two checkouts, recorded by profkit and compared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from profkit.comparing.sampled import compare_sampled
from profkit.ingest.read import read_runs
from profkit.model.comparison import Change, Grade
from profkit.model.run import Run
from profkit.render.views.sampled_comparison import headline
from profkit.store.spool import session_folders
from tests.integration.harness import ROOT, await_samplers_end, run_program

pytestmark = pytest.mark.sampler

PROGRAM = ROOT / "benchmarks" / "programs" / "mixed.py"
SECONDS, RATE_HZ = 0.8, 500


def recorded(folder: Path, longer: float) -> Run:
    """One run of a copy of the program that lies in this folder, and runs there."""
    folder.mkdir()
    shutil.copy(PROGRAM, folder / "app.py")
    run_program(folder, ["app.py", "handle", str(SECONDS), str(RATE_HZ), str(longer)], code=0)
    await_samplers_end(folder)
    (session,) = session_folders(folder / ".profkit" / "spool")
    (run,) = read_runs(session).runs
    return run


@pytest.mark.outside
def test_a_function_that_takes_longer_is_seen_in_another_checkout(tmp_path: Path) -> None:
    """Seen, not called changed: other tests may make the machine so busy that one run tells little."""
    found = compare_sampled([recorded(tmp_path / "before", 1)], [recorded(tmp_path / "after", 60)])
    smooth = next(function for function in found.functions if function.name == "smooth")
    assert smooth.own.difference.value > 0.2
    assert smooth.own.difference.change in (Change.MORE, Change.NOISE)
    assert found.grade is Grade.UNCONFIRMED
    assert headline(found).startswith("unconfirmed, from one run per side")
    files = {function.file for function in found.functions if function.file.endswith("app.py")}
    assert files == {str(tmp_path / "before" / "app.py")}
    assert sum(function.own.a.value for function in found.functions) > 0.999
    assert found.call_s is not None
    assert found.call_s.a.value > 0
