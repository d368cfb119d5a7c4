"""`profkit doctor`: its formats and exit codes, for given checkups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from profkit.doctor import examination
from profkit.model.checkup import Check, Checkup, Group, Status
from tests.support.cli_runs import Profkit
from tests.support.example_checkups import broken, contained, well

Examined = Callable[[Checkup], None]


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> Examined:
    """Sets what the command finds."""
    return lambda checkup: monkeypatch.setattr(examination, "examine", lambda _config: checkup)


def test_text_and_json(profkit: Profkit, examined: Examined) -> None:
    examined(contained())
    said = profkit("doctor")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Sampling and timing work here, with 4 shortfalls.\n\nPython\n")
    document = profkit("doctor", "--json").json()
    assert (document["works"], document["sampling"], document["timing"]) == (True, True, True)


def spool_failed() -> Checkup:
    check = Check(Group.STORAGE, "spool", Status.FAILED, "it cannot be used")
    return replace(well(), sampling=False, checks=(*well().checks, check))


@pytest.mark.parametrize(
    ("checkup", "code"),
    [
        (well(), 0),
        (contained(), 0),
        (broken(), 3),
        (replace(broken(), timing=True), 3),
        (spool_failed(), 7),
    ],
)
def test_exit_codes(checkup: Checkup, code: int, profkit: Profkit, examined: Examined) -> None:
    examined(checkup)
    assert profkit("doctor").code == code
    assert profkit("doctor", "--json").code == code
