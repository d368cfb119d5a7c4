"""Runs of one program by different samplers, and with frozen modules and without: the same functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.comparing.sampled import compare_sampled
from profkit.ingest.read import read_runs
from profkit.model.comparison import SampledComparison
from profkit.model.run import Run
from profkit.store.spool import session_folders
from tests.integration.harness import PROGRAMS, await_samplers_end, run_program

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(120), pytest.mark.gil]

SECONDS, LARGE = 4.0, 0.02
OWN = {
    "run", "busy", "Work.__init__", "Work.method", "Work.of_class", "makes", "calls_lambdas", "generates",
    "steps", "steps.<locals>.items", "generates.<locals>.<genexpr>", "writes", "walks",
}  # fmt: skip


def recorded(folder: Path, sampler: str, *flags: str) -> Run:
    folder.mkdir()
    run_program(folder, [*flags, str(PROGRAMS / "function_kinds.py"), sampler, str(SECONDS)], code=0)
    await_samplers_end(folder)
    (session,) = session_folders(folder / ".profkit" / "spool")
    (run,) = read_runs(session).runs
    assert run.info.plan.sampler == sampler
    return run


def functions_of(run: Run) -> set[tuple[str, str]]:
    return {(frame.name, frame.file) for frame in run.profile.frames} if run.profile is not None else set()


def assert_matched(found: SampledComparison) -> None:
    """Each function with a share worth mentioning is in both runs, once."""
    alone = [
        function
        for function in found.functions
        if max(function.total.a.value, function.total.b.value) > LARGE
        and min(function.total.a.value, function.total.b.value) == 0
    ]
    assert alone == []
    large = {function.name for function in found.functions if function.total.a.value > LARGE}
    assert large >= OWN


@pytest.mark.full
def test_frozen_modules_are_their_source_files(tmp_path: Path) -> None:
    frozen = recorded(tmp_path / "frozen", "pyspy", "-X", "frozen_modules=on")
    plain = recorded(tmp_path / "plain", "pyspy", "-X", "frozen_modules=off")
    walks = [{file for name, file in functions_of(run) if name.endswith("walk")} for run in (frozen, plain)]
    assert walks[0] == {"<frozen os>"}
    assert walks[0].isdisjoint(walks[1])
    assert_matched(compare_sampled([frozen], [plain]))


@pytest.mark.reader
def test_two_samplers_see_the_same_functions(tmp_path: Path) -> None:
    assert_matched(
        compare_sampled([recorded(tmp_path / "one", "pyspy")], [recorded(tmp_path / "other", "cpython")])
    )
