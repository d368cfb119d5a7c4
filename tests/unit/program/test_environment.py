"""Variables that make Python profile its program, and what is left of them afterwards."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.calls.options import ProfilerOptions
from profkit.errors import UsageError
from profkit.program.environment import HOOK, LAUNCH, PATH, RUN, launching, switch, take_options

folders = st.lists(st.text("abc/.", max_size=4), max_size=3).map(os.pathsep.join)
environments = st.fixed_dictionaries({"HOME": st.just("/home/ann")}, optional={PATH: folders})
options = st.fixed_dictionaries(
    {}, optional={"label": st.text(max_size=5), "native": st.just(True), "rate": st.integers(1, 1000)}
)


@given(environments, options)
def test_a_program_finds_its_environment_as_it_was(environ: dict[str, str], given: ProfilerOptions) -> None:
    found = launching(environ, given, "id")
    assert found[PATH].split(os.pathsep)[0] == HOOK
    assert found[LAUNCH] == "id"
    assert take_options(found) == given
    assert found == environ


@pytest.mark.parametrize("text", ["1", "on", "yes", " true "])
def test_a_switch_without_options(text: str) -> None:
    environ = {RUN: text, PATH: HOOK}
    assert take_options(environ) == {}
    assert environ == {}


@pytest.mark.parametrize("text", ["", "0", "off", "FALSE", "no"])
def test_switched_off(text: str) -> None:
    environ = {RUN: text, PATH: f"{HOOK}:/lib"}
    assert take_options(environ) is None
    assert environ == {PATH: "/lib"}


def test_options_that_are_no_json() -> None:
    with pytest.raises(UsageError, match="no valid options"):
        take_options({RUN: "{nonsense", PATH: HOOK})


def test_invalid_options_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="rate"):
        switch({}, {"rate": -1.0})
