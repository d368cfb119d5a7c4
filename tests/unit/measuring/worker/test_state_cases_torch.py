from __future__ import annotations

import pickle

import pytest
import torch  # noqa: F401 - the programs import it

from benchmarks.programs import changing_tensors, pure_tensors
from tests.unit.measuring.worker.test_state_cases import Case, changes


@pytest.mark.parametrize("case", changing_tensors.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_tensors_are_recognised(case: Case) -> None:
    assert changes(case)


@pytest.mark.parametrize("case", pure_tensors.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_no_tensors_are_left_alone(case: Case) -> None:
    assert changes(case) == ()


def test_all_of_them_can_be_sent() -> None:
    for _, make in (*changing_tensors.CASES, *pure_tensors.CASES):
        pickle.dumps(make())
