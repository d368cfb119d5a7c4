"""The stacks of a process at one moment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.render.views.stacks import newest_stacks
from tests.support.example_runs import made_run

MAIN, OTHER = Thread(7, 7, "MainThread"), Thread(7, 8, "worker")
ROOT, CALLER, LEAF = (Frame(name, "/app/app.py", 1) for name in ("<module>", "spin", "work"))


def shown(*samples: tuple[Thread, tuple[Frame, ...], int]) -> dict[str, list[str]]:
    builder = ProfileBuilder()
    for thread, stack, weight in samples:
        builder.add(stack, thread, weight)
    stacks = newest_stacks(replace(made_run(), profile=builder.build()))
    return {stack.thread.name: [line.frame.name for line in stack.lines] for stack in stacks}


def test_the_last_stack_of_each_thread() -> None:
    assert shown(
        (OTHER, (ROOT, LEAF), 1),
        (MAIN, (ROOT, CALLER, LEAF), 3),
        (OTHER, (ROOT, CALLER), 1),
        (MAIN, (ROOT, CALLER), 1),
    ) == {"MainThread": ["spin", "<module>"], "worker": ["spin", "<module>"]}


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_torn_stack_is_not_shown(at: int) -> None:
    samples = [(MAIN, (ROOT, CALLER, LEAF), 2), (MAIN, (ROOT, CALLER), 2)]
    samples.insert(at, (MAIN, (LEAF._replace(line=9),), 1))
    assert shown(*samples)["MainThread"][-2:] == ["spin", "<module>"]


def test_a_stack_that_seems_torn_is_shown_if_there_is_no_other() -> None:
    assert shown((MAIN, (LEAF,), 1), (OTHER, (ROOT, LEAF), 5)) == {
        "MainThread": ["work"], "worker": ["work", "<module>"]
    }  # fmt: skip


def test_a_function_that_usually_begins_the_stacks_may_be_called_too() -> None:
    assert shown((MAIN, (ROOT, CALLER), 1), (MAIN, (CALLER,), 2)) == {"MainThread": ["spin"]}
    recursive = (CALLER, CALLER, LEAF)
    assert shown((MAIN, (CALLER,), 2), (MAIN, recursive, 1)) == {"MainThread": ["work", "spin", "spin"]}


def test_empty_stacks() -> None:
    assert shown((MAIN, (), 1)) == {"MainThread": []}
