"""Text and JSON of checkups, as they are in files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profkit.model.checkup import Checkup, Group
from profkit.render.json.small_reports import CHECKUP_SCHEMA, checkup_json
from profkit.render.options import DEFAULTS, PIPE, Terminal
from profkit.render.registry import CHECKUP
from profkit.render.views.checkup import TITLES, verdict
from tests.support.example_checkups import broken, contained, well
from tests.support.golden import check_golden

TERMINALS = {
    "pipe": PIPE,
    "width-50": Terminal(50),
    "width-80": Terminal(80),
    "width-120": Terminal(120),
    "color": Terminal(80, color=True),
}


@pytest.mark.parametrize("name", TERMINALS)
def test_text(name: str) -> None:
    check_golden(f"checkup-{name}.txt", CHECKUP.text(contained(), DEFAULTS, TERMINALS[name]) + "\n")


@pytest.mark.parametrize("width", [40, 50, 80, 120])
def test_lines_fit(width: int) -> None:
    text = CHECKUP.text(contained(), DEFAULTS, Terminal(width))
    assert max(map(len, text.splitlines())) <= width


def test_json() -> None:
    text = checkup_json(contained())
    check_golden("checkup.json", text + "\n")
    assert json.loads(text)["schema"] == CHECKUP_SCHEMA


def test_control_characters_are_escaped() -> None:
    text = CHECKUP.text(broken())
    assert "\x1b" not in text
    assert "\\x1b[31m" in text


@pytest.mark.parametrize(
    ("checkup", "sentence"),
    [
        (well(), "Sampling and timing work here, and nothing is missing."),
        (contained(), "Sampling and timing work here, with 4 shortfalls."),
        (
            replace(contained(), checks=contained().checks[:4]),
            "Sampling and timing work here, with 1 shortfall.",
        ),
        (
            replace(broken(), timing=True, checks=broken().checks[:1]),
            "Timing works here, but sampling does not: see the failed check.",
        ),
        (broken(), "Neither sampling nor timing works here: see the 2 failed checks."),
        (
            replace(broken(), timing=True),
            "Timing works here, but sampling does not: see the 2 failed checks.",
        ),
        (
            replace(broken(), sampling=True),
            "Sampling works here, but timing does not: see the 2 failed checks.",
        ),
    ],
)
def test_verdicts(checkup: Checkup, sentence: str) -> None:
    assert verdict(checkup) == sentence
    assert CHECKUP.text(checkup).splitlines()[0] == sentence
    assert json.loads(checkup_json(checkup))["verdict"] == sentence


def test_every_group_has_a_title() -> None:
    assert list(TITLES) == list(Group)
