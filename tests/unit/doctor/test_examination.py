"""Which main uses work, by the checks that failed; a machine on which no file can be written."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.config import Config
from profkit.doctor import tools
from profkit.doctor.examination import checkup_of, examine
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


def test_no_file_can_be_written(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are read nevertheless; the trials fail, with the reason."""

    def fail(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    def fail_worker() -> Check:
        return Check(Group.MEASURING, "isolated worker", Status.FAILED, "it failed")

    monkeypatch.setattr(tempfile, "mkdtemp", fail)
    monkeypatch.setattr(tools, "worker_check", fail_worker)
    checkup = examine(replace(config, spool=Path("/proc/spool")))
    assert (checkup.sampling, checkup.timing) == (False, False)
    failed = [check for check in checkup.of(Group.SAMPLERS) if check.status is Status.FAILED]
    assert failed
    for check in failed:
        assert check.found == "not tried, since no file can be written: Read-only file system"
        assert "tmp" in check.fix.lower()
    assert {group for group in Group if checkup.of(group)} == set(Group)
    names = [check.name for check in checkup.checks]
    assert "seccomp" in names
    assert checkup.of(Group.PERMISSIONS)[1].found.endswith("system calls were not tried")
