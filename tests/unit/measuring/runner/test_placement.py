"""Cores, folders, paths, environments and zygotes of workers; two sides in trees of their own."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from profkit.errors import UsageError
from profkit.measuring.orders import work_order
from profkit.measuring.runner.placement import (
    CorePool,
    first_on_path,
    kind_of,
    preload_of,
    worker_env,
    worker_folder,
    worker_path,
)
from profkit.measuring.transfer.payload import pack
from profkit.model.measurement import Design, Preload, Tool
from profkit.model.workorder import WorkOrder, WorkTree
from tests.unit.measuring.runner.test_run import ScriptedPool, run, timing_in


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkTree:
    """A checkout with a subfolder that we are in, and a copy of it."""
    for folder in ("checkout/bench", "checkout/lib", "copy/bench", "copy/src"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout" / "bench")
    return WorkTree(str(tmp_path / "checkout"), str(tmp_path / "copy"), "a" * 40)


def sides(tree: WorkTree, **options: object) -> list[WorkOrder]:
    order = work_order("1", **options)  # type: ignore[arg-type]
    return [replace(order, tree=tree), replace(order, tree=replace(tree, commit="b" * 40))]


def timed(pool: ScriptedPool) -> list[tuple[str, str]]:
    """(draw of the zygote, label of the job) of every process that was timed."""
    return [(kind.draw[-1:], job.label) for kind, job in pool.asked if job.message["mode"] == "timer"]


def test_processes_of_two_sides_take_turns_in_each_zygote(tree: WorkTree) -> None:
    outcomes, pool = run(sides(tree), design=Design.ALTERNATING)
    a, b = "1 at aaaaaaaaaa", "1 at bbbbbbbbbb"
    assert timed(pool) == [(str(zygote), side) for zygote in range(5) for side in (a, b, b, a)]
    runs = [outcome.run for outcome in outcomes]
    assert [run.info.process.git_commit for run in runs] == ["a" * 40, "b" * 40]
    assert [len(timing_in(run).processes) for run in runs] == [10, 10]
    assert len({run.info.batch for run in runs}) == 1
    assert runs[0].info.design is Design.ALTERNATING


def test_how_many_processes_can_be_requested(tree: WorkTree) -> None:
    _, pool = run(sides(tree, processes=6, quick=True), design=Design.ALTERNATING)
    assert len(timed(pool)) == 12
    assert {draw for draw, _ in timed(pool)} == {""}
    (outcome,), _ = run([work_order("1", processes=13)])
    assert outcome.run.measurement is not None
    assert outcome.run.info.design is Design.SEPARATE


def test_a_statement_runs_where_the_caller_is_in_the_copy(tree: WorkTree) -> None:
    order = sides(tree)[0]
    assert worker_folder(order) == f"{tree.copy}/bench"
    assert first_on_path(order) == [f"{tree.copy}/bench", f"{tree.copy}/src"]
    Path(tree.copy, "bench").rmdir()
    assert worker_folder(order) == tree.copy
    assert (worker_folder(work_order("1")), first_on_path(work_order("1"))) == (str(Path.cwd()), [])


def test_the_path_leads_into_the_copy_and_never_into_the_checkout(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = f"{tree.checkout}/.venv"
    packages = f"{environment}/lib/python3.11/site-packages"
    monkeypatch.setattr(sys, "prefix", environment)
    monkeypatch.setattr(
        sys, "path", ["", f"{tree.checkout}/lib", tree.checkout, packages, "/usr/lib/python3"]
    )
    order = sides(tree)[0]
    assert worker_path(order) == [f"{tree.copy}/bench", tree.copy, packages, "/usr/lib/python3"]
    assert worker_path(replace(order, python="/usr/bin/python3")) == []


def test_cores_are_lent_in_contiguous_blocks_first_fit() -> None:
    cores = CorePool([0, 1, 2, 5, 6])
    with cores.lend(2) as first, cores.lend(1) as second, cores.lend(2) as third:
        assert (first, second, third) == ((0, 1), (2,), (5, 6))
    with cores.lend(5) as all_of_them:
        assert all_of_them == (0, 1, 2, 5, 6)


def test_more_cores_than_there_are_is_an_error_and_no_endless_wait() -> None:
    with pytest.raises(UsageError, match="fewer threads"), CorePool([0, 1]).lend(3):
        pass


def test_cores_are_waited_for() -> None:
    cores, order = CorePool([0]), []

    def later() -> None:
        with cores.lend(1):
            order.append("later")

    with cores.lend(1):
        thread = threading.Thread(target=later)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "later"]


def test_paths_of_interpreters_are_those_of_the_current_folder() -> None:
    def command(**options: object) -> tuple[str, ...]:
        return kind_of(work_order("pass", **options), Tool.NONE, Preload.NOTHING).command  # type: ignore[arg-type]

    here = os.getcwd()
    assert command() == (sys.executable,)
    assert command(python="python3.12") == ("python3.12",)
    assert command(python="./other/bin/python") == (f"{here}/other/bin/python",)
    assert command(source_cmd="./enter --here") == (f"{here}/enter", "--here", "python")
    assert command(source_cmd="env ./enter") == ("env", "./enter", "python")


def test_a_zygote_has_a_small_environment_and_a_worker_the_whole_one() -> None:
    environ = {
        "PATH": "/bin",
        "HOME": "/home/ada",
        "SECRET": "1",
        "LD_LIBRARY_PATH": "/lib",
        "PROFKIT_SPOOL": "/x",
    }
    order = work_order("1", num_threads=2, env={"OMP_WAIT_POLICY": "passive", "MINE": "2"})
    zygote = dict(kind_of(order, Tool.NONE, Preload.NOTHING, environ=environ).env)
    assert zygote["LD_LIBRARY_PATH"] == "/lib"
    assert (zygote["OMP_NUM_THREADS"], zygote["OMP_WAIT_POLICY"]) == ("2", "passive")
    assert not {"SECRET", "MINE", "PROFKIT_SPOOL", "PYTHONHASHSEED"} & set(zygote)
    worker = worker_env(order, Tool.NONE, {**environ, "LC_ALL": "de_DE.UTF-8"})
    assert worker["LC_ALL"] == "de_DE.UTF-8"
    assert (worker["SECRET"], worker["MINE"], worker["HOME"]) == ("1", "2", "/home/ada")
    assert worker["PROFKIT_DISABLE"] == "1"
    assert "PROFKIT_SPOOL" not in worker


def test_under_valgrind_the_hash_seed_is_fixed_unless_it_is_given() -> None:
    plain = kind_of(work_order("1", mode="callgrind"), Tool.VALGRIND, Preload.NOTHING, environ={})
    given = work_order("1", mode="callgrind", env={"PYTHONHASHSEED": "5"})
    assert dict(plain.env)["PYTHONHASHSEED"] == "0"
    assert dict(kind_of(given, Tool.VALGRIND, Preload.NOTHING, environ={}).env)["PYTHONHASHSEED"] == "5"


def test_another_environment_keeps_its_own_path_and_what_its_command_sets() -> None:
    order = work_order("1", source_cmd="conda run -n other")
    kind = kind_of(order, Tool.NONE, Preload.TORCH, environ={"SECRET": "1"})
    assert kind.command == ("conda", "run", "-n", "other", "python")
    assert dict(kind.env)["SECRET"] == "1"
    assert kind.roots == ()
    assert (worker_env(order, Tool.NONE), worker_path(order)) == ({}, [])


def uses_numpy(values: list[int]) -> object:
    return np.sum(values)


@pytest.mark.parametrize(
    ("stmt", "setup", "expected"),
    [
        ("x + y", "import torch; x = y = torch.ones(4)", Preload.TORCH),
        ("np.add(a, a)", "import numpy as np; a = np.ones(3)", Preload.NUMPY),
        ("f()", "from torch.nn import Linear\nimport numpy\nf = Linear", Preload.TORCH),
        ("sorted(l)", "l = [3, 1]", Preload.NOTHING),
        ("import torch.nn as nn", "", Preload.TORCH),
        ("torchlike.f()", "import torchlike", Preload.NOTHING),
    ],
)
def test_statements_say_what_they_import(stmt: str, setup: str, expected: Preload) -> None:
    assert preload_of(work_order(stmt, setup=setup)) is expected


def test_imports_overrides_what_was_found() -> None:
    assert preload_of(work_order("x", setup="import torch", imports=())) is Preload.NOTHING
    assert preload_of(work_order("x", imports=["numpy"])) is Preload.NUMPY


@pytest.mark.parametrize(
    ("function", "args", "expected"), [(uses_numpy, ([1],), Preload.NUMPY), (len, ([1],), Preload.NOTHING)]
)
def test_what_travels_is_known_to_the_payload(
    function: Callable[..., object], args: tuple[object, ...], expected: Preload
) -> None:
    payload = pack(function, args)
    assert preload_of(work_order(function, args=args), payload) is expected
    payload.close()


def test_c_plus_plus_needs_torch_where_it_is_linked_against_it() -> None:
    order = work_order("auto z = x + x;", setup="auto x = at::ones({4});", language="c++")
    assert preload_of(order) is Preload.NOTHING
    assert preload_of(order, torch_library=True) is Preload.TORCH
