"""Functions and statements that change what they work on, measured for real."""

from __future__ import annotations

import heapq
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from profkit import measure
from profkit.errors import TooShort, UsageError
from profkit.model.measurement import Freshness, InstructionCounts, Timing, WarningCode
from profkit.render.views.measurement_warnings import warning_text
from tests.integration.programs import changing


def shuffled(number: int) -> list[int]:
    return random.Random(3).sample(range(number), number)


def counted(function: Callable[..., object], *args: object, **options: object) -> InstructionCounts:
    found = measure(function, args=args, mode="callgrind", keep=False, **options).instructions  # type: ignore[arg-type]
    assert found is not None
    return found


def timed(stmt: str | Callable[..., object], **options: object) -> Timing:
    found = measure(stmt, quick=True, keep=False, **options).timing  # type: ignore[arg-type]
    assert found is not None
    return found


@pytest.mark.valgrind
@pytest.mark.parametrize(
    ("change", "read", "make"),
    [
        (changing.sort, sorted, shuffled),
        (changing.drain, changing.drain_copy, shuffled),
        (changing.heapify, changing.heapify_copy, shuffled),
        (changing.total, sum, lambda number: iter(shuffled(number))),
    ],
)
@pytest.mark.slow
def test_instructions_are_those_of_a_function_that_works_on_a_copy(
    change: Callable[..., object], read: Callable[..., object], make: Callable[[int], object]
) -> None:
    mine, reference = counted(change, make(1000)), counted(read, shuffled(1000))
    assert mine.freshness.fresh
    assert not reference.freshness.fresh
    assert max(mine.raw_stripped) <= 1.001 * min(mine.raw_stripped)
    assert mine.stripped == pytest.approx(reference.stripped, rel=0.1)


@pytest.mark.valgrind
@pytest.mark.slow
def test_counts_of_fresh_arguments_are_the_same_each_time() -> None:
    first, second = (counted(changing.sort, shuffled(300)) for _ in range(2))
    assert first == second


def test_times_are_those_of_the_first_execution() -> None:
    values = shuffled(20_000)
    sort = timed(changing.sort, args=(values,))
    again = timed(changing.sort, args=(values,), fresh=False)
    assert sort.freshness.changes == ("argument 'values'",)
    assert min(sort.minima_s) > 5 * max(again.minima_s)


@pytest.mark.valgrind
def test_globals_of_a_module_are_what_they_were_at_each_execution() -> None:
    found = counted(changing.drain_stock)
    assert found.freshness.changes == (f"STOCK of module {changing.__name__}",)
    assert found.stripped > len(changing.STOCK) * 10


@pytest.mark.torch
def test_a_step_of_training_begins_without_gradients() -> None:
    import torch

    from tests.integration.programs import training

    model, batch = torch.nn.Linear(8, 8), torch.ones(4, 8)
    found = timed(training.train, args=(model, batch))
    assert found.freshness == Freshness(
        fresh=True, changes=("argument 'model'",), loop_s=found.freshness.loop_s
    )
    assert model.weight.grad is None


def test_what_caches_keep_is_a_warning() -> None:
    found = measure(changing.look_up, args=(3,), quick=True, keep=False)
    (warning,) = [warning for warning in found.warnings if warning.code is WarningCode.CHANGES_STATE]
    assert "the cache of square" in warning_text(warning)


@pytest.mark.slow
def test_a_statement_has_setups_of_its_own_only_if_that_matters() -> None:
    setup = "import random; values = random.Random(1).sample(range(1000), 1000)"
    assert timed("values.sort()", setup=setup).freshness.fresh
    assert not timed("sorted(values)", setup=setup).freshness.fresh
    assert timed("values.pop()", setup=setup).freshness.fresh
    assert timed("queue.clear()", global_setup="queue = set(range(100))").freshness.changes == ("queue",)


@pytest.mark.full
@pytest.mark.valgrind
def test_names_of_a_module_are_made_anew_too() -> None:
    setup = "import random; values = random.Random(1).sample(range(1000), 1000)"
    counts = [
        measure("values.sort()", setup=setup, level=level, mode="callgrind", keep=False).instructions
        for level in ("function", "module")
    ]
    assert counts[0] is not None
    assert counts[1] is not None
    assert counts[1].freshness.changes == ("values",)
    assert counts[1].stripped == pytest.approx(counts[0].stripped, rel=0.01)


def test_here_a_call_that_changes_its_arguments_is_timed_once(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text\n" * 1000)
    with (tmp_path / "text").open() as file:
        found = timed(file.read, isolated=False)
        assert file.read() == ""
    assert (found.number, [len(times) for times in found.times_s]) == (1, [1])
    assert found.freshness.changes == ("argument 'self'",)
    assert timed("v.clear()", setup="v = [1] * 1000", isolated=False).freshness.fresh
    assert timed(sorted, args=([3, 1, 2],), isolated=False, runs=9).times_s


def test_here_a_limit_of_executions_holds_and_changed_arguments_are_found(tmp_path: Path) -> None:
    full = [4, 3, 2, 1]
    found = timed(full.pop, isolated=False, runs=3)
    assert (full, found.number, [len(times) for times in found.times_s]) == ([4, 3, 2], 1, [1])
    assert found.freshness.changes == ("argument 'self'",)
    for runs in (1, 2, 9):
        log = tmp_path / str(runs)
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        found = timed(os.write, args=(descriptor, b"."), isolated=False, runs=runs)
        os.close(descriptor)
        assert 1 <= log.stat().st_size <= runs
        assert found.times_s
        assert found.freshness.changes == ()


def test_what_is_requested_is_done_or_refused() -> None:
    assert timed(len, args=("text",), fresh=True).freshness.fresh
    for refused in ({"language": "c++"}, {"isolated": False}):
        with pytest.raises(UsageError, match="fresh"):
            timed(len if refused == {"isolated": False} else "1", fresh=True, **refused)


def test_limited_executions_have_arguments_of_their_own() -> None:
    found = timed(heapq.heapify, args=(shuffled(100),), runs=30)
    assert found.freshness.fresh


def test_the_report_and_json_say_so() -> None:
    command = [sys.executable, "-m", "profkit", "measure", "v.clear()", "--setup", "v = [1] * 500", "--quick"]
    shown = subprocess.run([*command, "--no-keep"], check=True, capture_output=True, text=True).stdout
    assert "fresh setup for each execution · the statement changes v" in shown
    told = subprocess.run(
        [*command, "--no-keep", "--json", "--shared"], check=True, capture_output=True, text=True
    ).stdout
    assert [one["state"]["fresh"] for one in _orders(json.loads(told))] == [False]


def _orders(document: object) -> list[dict[str, dict[str, object]]]:
    assert isinstance(document, dict)
    return next(value for value in document.values() if isinstance(value, list))


def test_too_short_is_said_with_figures() -> None:
    error = TooShort("f", ("argument 'x'",), 5e-9, 2e-8, 1e-9)
    assert "takes about 5 ns, and passing the objects that it changes (argument 'x') takes 20 ± 1 ns" in str(
        error
    )
