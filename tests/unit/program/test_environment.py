"""Variables that make Python profile its program, and what is left of them afterwards."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.calls.keywords import ProfilerOptions
from profkit.errors import UsageError
from profkit.program.environment import HOOK, LAUNCH, PATH, RUN, launching, remove_switch, switch, take_switch

folders = st.lists(st.text("abc/.", max_size=4), max_size=3).map(os.pathsep.join)
environments = st.fixed_dictionaries({"HOME": st.just("/home/ann")}, optional={PATH: folders})
options = st.fixed_dictionaries(
    {}, optional={"label": st.text(max_size=5), "native": st.just(True), "rate": st.integers(1, 1000)}
)


@given(environments, options, st.booleans())
def test_a_program_finds_its_environment_as_it_was_except_a_switch_for_each_python(
    environ: dict[str, str], given: ProfilerOptions, compilations: bool
) -> None:
    found = launching(environ, given, "id")
    assert found[PATH].split(os.pathsep)[0] == HOOK
    assert found[LAUNCH] == "id"
    assert take_switch(found) == (given, False)
    assert found == environ
    environ |= switch(environ, given, compilations=compilations, each=True)
    before = dict(environ)
    assert take_switch(environ) == (given, compilations)
    assert environ == before
    remove_switch(environ)
    assert RUN not in environ


@pytest.mark.parametrize("text", ["1", "on", "yes", " true "])
def test_a_switch_without_options(text: str) -> None:
    environ = {RUN: text, PATH: HOOK}
    assert take_switch(environ) == ({}, False)
    assert environ == {}


@pytest.mark.parametrize("text", ["", "0", "off", "FALSE", "no"])
def test_switched_off(text: str) -> None:
    environ = {RUN: text, PATH: f"{HOOK}:/lib"}
    assert take_switch(environ) == (None, False)
    assert environ == {PATH: "/lib"}


def test_options_that_are_no_json() -> None:
    with pytest.raises(UsageError, match="no valid options"):
        take_switch({RUN: "{nonsense", PATH: HOOK})


def test_invalid_options_are_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="rate"):
        switch({}, {"rate": -1.0})
