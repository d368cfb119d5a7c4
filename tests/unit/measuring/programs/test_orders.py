"""Orders of programs: limits that do not fit together, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profkit.errors import UsageError
from profkit.measuring.programs.executions import ProgramOrder, Stdin, check, order_info
from profkit.model.workorder import Mode

ORDER = ProgramOrder("app.py", ("python", "app.py", "a b"), ("app.py", "a b"), {})


def test_what_is_kept_reads_as_it_was_given() -> None:
    info = order_info(replace(ORDER, stdin=Stdin("/data/in.txt", "in.txt"), env=(("N", "1"),)))
    assert (info.what, info.env) == ("app.py 'a b' < in.txt", (("N", "1"),))
    assert info.program is not None
    assert (info.program.command, info.program.stdin) == (("python", "app.py", "a b"), "in.txt")


def test_a_command_is_kept_without_the_dashes_before_it() -> None:
    assert order_info(replace(ORDER, given=("--", "pytest", "-x"))).what == "pytest -x"


def test_secrets_of_the_command_are_not_kept() -> None:
    info = order_info(replace(ORDER, command=("a", "--password=hunter2"), given=("a", "--password=hunter2")))
    assert "hunter2" not in repr(info)


@pytest.mark.parametrize(
    ("mode", "runs", "fits"),
    [
        (Mode.TIMER, 1, False),
        (Mode.TIMER, 2, True),
        (Mode.CALLGRIND, 2, True),
        (Mode.BOTH, 2, False),
        (Mode.BOTH, 3, True),
    ],
)
def test_the_limit_must_allow_warm_ups_and_what_is_measured(mode: Mode, runs: int, fits: bool) -> None:
    order = replace(ORDER, mode=mode, runs=runs)
    if fits:
        check(order)
        assert order.counted == mode.counts
        return
    with pytest.raises(UsageError, match="are needed"):
        check(order)


@pytest.mark.parametrize(
    "wrong", [replace(ORDER, runs=9, processes=3), replace(ORDER, env=(("A=B", "1"),))], ids=["both", "name"]
)
def test_values_that_do_not_fit_are_refused(wrong: ProgramOrder) -> None:
    with pytest.raises(UsageError):
        check(wrong)
