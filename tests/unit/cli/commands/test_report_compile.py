"""`profkit report --compile`: whose compilations are shown, and what it does not go with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.config import Config
from profkit.model.run import Run
from tests.support.cli_runs import Profkit, keep
from tests.support.example_compilations import compiled_runs
from tests.support.example_runs import labelled


def of_process(run: Run, pid: int, later_s: int) -> Run:
    info = run.info
    process = replace(info.process, pid=pid)
    started_ns = info.started_ns + later_s * 10**9
    return replace(run, info=replace(info, id=f"{pid}{info.id[4:]}", process=process, started_ns=started_ns))


OLDER = compiled_runs()
NEWER = tuple(of_process(run, 5151, 100) for run in OLDER[-2:])
NONE_COMPILED = of_process(labelled("aaaa000000", "train", 60), 6161, 200)


@pytest.fixture
def kept(config: Config) -> None:
    keep(config, *OLDER, *NEWER, NONE_COMPILED)


@pytest.mark.usefixtures("kept")
def test_the_process_that_compiled_last_is_shown(profkit: Profkit) -> None:
    said = profkit("report", "--compile")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0].endswith("process 5151")
    assert "1 frame in 2 phases" in said.out


@pytest.mark.usefixtures("kept")
def test_a_run_selects_its_process(profkit: Profkit) -> None:
    document = profkit("report", "--compile", OLDER[0].info.id, "--json").json()
    assert document["schema"] == "profkit.compilations/1"
    assert isinstance(document["frames"], list)
    assert len(document["frames"]) == 4
    assert profkit("report", "--compile", "Net export").out.splitlines()[0].endswith("process 4242")


@pytest.mark.usefixtures("kept")
def test_each_phase_is_a_run_like_others(profkit: Profkit) -> None:
    said = profkit("report", "Net export")
    assert said.code == 0
    assert "compilation" in said.out


@pytest.mark.usefixtures("kept")
def test_a_process_without_compilations_is_an_error(profkit: Profkit) -> None:
    said = profkit("report", "--compile", "train")
    assert said.code == 2
    assert "no compilation was profiled in the process of run 6161000000 (train)" in said.err
    assert "--torch-compile" in said.err


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (("--all",), "--all"),
        (("--thread", "x", "--depth", "3"), "--depth, --thread"),
        (("--format", "svg"), "svg"),
    ],
)
def test_options_that_do_not_fit(profkit: Profkit, options: tuple[str, ...], wrong: str) -> None:
    said = profkit("report", "--compile", *options)
    assert (said.code, said.out) == (2, "")
    assert wrong in said.err
