"""State of tensors and modules."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
import torch

from benchmarks.programs import changing_tensors, pure_tensors
from profkit.measuring.worker.state import State, state_of
from tests.unit.measuring.worker.test_state import Case, assert_seen, assert_unchanged, changes_of

CHANGING: dict[str, tuple[Callable[[], object], Callable[[object], object]]] = {
    "tensor": (lambda: torch.ones(9), lambda v: v.add_(1)),  # type: ignore[attr-defined]
    "bfloat16": (lambda: torch.ones(9, dtype=torch.bfloat16), lambda v: v.zero_()),  # type: ignore[attr-defined]
    "data of a tensor": (lambda: torch.ones(9), lambda v: v.data.add_(1)),  # type: ignore[attr-defined]
    "gradient": (lambda: torch.ones(3, requires_grad=True), lambda v: (v * 2).sum().backward()),  # type: ignore[operator]
    "module": (lambda: torch.nn.BatchNorm1d(2), lambda v: v(torch.ones(3, 2) * 4)),  # type: ignore[operator]
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_is_seen(name: str) -> None:
    assert_seen(*CHANGING[name])


READ: dict[str, tuple[object, Callable[[object], object]]] = {
    "tensor": (torch.ones(9, requires_grad=True), lambda v: v * 2),  # type: ignore[operator]
    "model": (torch.nn.Linear(3, 3), lambda v: v(torch.ones(2, 3))),  # type: ignore[operator]
    "torch's": (torch.Generator(), lambda v: torch.rand(3, generator=v)),  # type: ignore[arg-type, call-overload]
}


@pytest.mark.parametrize("name", READ)
def test_what_is_only_read_does_not_change(name: str) -> None:
    assert_unchanged(*READ[name])


def test_a_change_is_that_of_its_own_root_alone() -> None:
    shared = [1]
    first: list[object] = [shared]
    second = [shared, torch.ones(2)]
    before = state_of({"first": first, "second": second})
    first.insert(0, torch.ones(3))
    assert before.changes(state_of({"first": first, "second": second})) == ("first",)
    shared.append(2)
    assert before.changes(state_of({"first": first, "second": second})) == ("first",)


def test_tensors_without_memory_are_looked_at_as_far_as_they_can() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    values = {"fake": fake, "meta": torch.ones(3, device="meta"), "sparse": torch.eye(2).to_sparse()}
    values["empty"] = torch.empty(0)
    before = state_of(values)
    assert before.whole
    assert before.changes(state_of(values)) == ()
    values["sparse"].zero_()
    assert before.changes(state_of(values)) == ("sparse",)


def test_objects_that_fail_are_no_reason_to_fail() -> None:
    class Failing(torch.Tensor):
        @property
        def shape(self) -> torch.Size:  # type: ignore[override]
            raise LookupError

    assert state_of({"it": torch.ones(3).as_subclass(Failing)}) == State(whole=False)


@pytest.mark.parametrize("case", changing_tensors.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_tensors_are_recognised(case: Case) -> None:
    assert changes_of(case)


@pytest.mark.parametrize("case", pure_tensors.CASES, ids=lambda case: case[0].__qualname__)
def test_functions_that_change_no_tensors_are_left_alone(case: Case) -> None:
    assert changes_of(case) == ()


def test_all_of_them_can_be_sent() -> None:
    for _, make in (*changing_tensors.CASES, *pure_tensors.CASES):
        pickle.dumps(make())
