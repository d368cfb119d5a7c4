"""Which main uses work, by the checks that failed."""

from __future__ import annotations

import pytest

from profkit.doctor.examination import checkup_of
from profkit.model.checkup import Check, Checkup, Group, Status


def check(group: Group, status: Status) -> Check:
    return Check(group, "name", status, "found")


@pytest.mark.parametrize(
    ("failed", "sampling", "timing"),
    [
        ((), True, True),
        ((Group.SAMPLERS,), False, True),
        ((Group.STORAGE,), False, True),
        ((Group.MEASURING,), True, False),
        ((Group.SAMPLERS, Group.MEASURING), False, False),
    ],
)
def test_main_uses(failed: tuple[Group, ...], sampling: bool, timing: bool) -> None:
    shortfalls = [check(group, Status.SHORTFALL) for group in Group]
    checkup = checkup_of((*shortfalls, *(check(group, Status.FAILED) for group in failed)))
    assert (checkup.sampling, checkup.timing) == (sampling, timing)
    assert checkup.works is (not failed)
    assert checkup.count(Status.SHORTFALL) == len(Group)


def test_checks_of_a_group() -> None:
    one, two = check(Group.NOISE, Status.OK), check(Group.PYTHON, Status.OK)
    assert Checkup(sampling=True, timing=True, checks=(one, two)).of(Group.PYTHON) == (two,)
