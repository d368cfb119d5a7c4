"""Options of profilers that make no sense: each is one error, before anything starts."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from profkit.calls import keywords
from profkit.calls import options as calls_options
from profkit.calls.keywords import ProfilerOptions
from profkit.calls.options import default_options, settings, settings_over_defaults
from profkit.config import CONFIG, Setting
from profkit.errors import InvalidOption, UsageError
from profkit.process import guard

WRONG: dict[str, tuple[object, ...]] = {
    "rate": (0, True, "fast"), "sample_each": (float("inf"),), "max_profile_duration_sec": (0, None),
    "timeout_wait_for_running_sec": (-1, None), "timeout_wait_for_finished_sec": (0,),
    "stack_max_len": (1.5,), "async_stack_max_len": (0,), "every": (None, 0.5),
    "stop_at_error": (1,), "threads": (None,),
    "enabled": ("no",), "native": (1,), "idle": ("yes",), "gil": (1,), "async_stacks": (None,),
    "subprocesses": (0,), "blocking": ("yes",), "scope": ("thread",), "on_busy": ("fail",), "sampler": (5,),
    "label": (5,),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_the_option_is_named(name: str, value: object) -> None:
    options: Any = {name: value}
    with pytest.raises(InvalidOption) as caught:
        settings(options)
    assert caught.value.option == name


def test_what_does_not_go_together() -> None:
    with pytest.raises(UsageError, match="rate and sample_each both set"):
        settings({"rate": 100, "sample_each": 1e7})
    with pytest.raises(UsageError, match="native=True needs blocking"):
        settings({"native": True, "blocking": False})
    with pytest.raises(UsageError, match="it needs stop_at_error=True"):
        settings({"on_busy": "raise"})


def test_options_that_may_be_none() -> None:
    settings(
        {
            "rate": None,
            "sample_each": None,
            "timeout_wait_for_finished_sec": None,
            "stack_max_len": None,
            "async_stack_max_len": None,
            "label": None,
        }
    )


FILE = "/work/pyproject.toml"


def given(source: str = FILE, **values: object) -> dict[str, Setting]:
    return {name: Setting(value, source) for name, value in values.items()}


def test_values_of_a_file_and_their_texts_are_the_same() -> None:
    typed = given(
        rate=200, blocking=False, idle=True, stack_max_len=9, sample_tags=["a", "b"], on_busy="skip", every=2
    )
    texts = given(
        rate="200", blocking="no", idle="on", stack_max_len="9", sample_tags="a,b", on_busy="skip", every="2"
    )
    options, problems = default_options(typed)
    assert (default_options(texts), problems) == ((options, ()), ())
    assert settings(options).sampler.rate_hz == 200.0
    assert default_options(given(blocking="auto"))[0] == {"blocking": "auto"}


def test_every_option_but_those_of_one_function_has_a_default() -> None:
    assert set(keywords._READERS) == set(ProfilerOptions.__annotations__) - {
        "label",
        "enabled",
        "on_run",
    }


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("rat", 5, "there is no option 'rat' that /work/pyproject.toml could set for profile()"),
        ("rate", "fast", "profile.rate='fast' is not valid; give a number"),
        ("rate", True, "profile.rate=True is not valid; give a number"),
        ("rate", -1, "profile.rate=-1 is not valid; give a number above 0"),
        ("every", 1.5, "profile.every=1.5 is not valid; give a whole number"),
        ("every", "inf", "give a whole number"),
        ("idle", "perhaps", "give true or false"),
        ("blocking", "perhaps", "give true, false or 'auto'"),
        ("scope", "thread", "give 'call' or 'process'"),
        ("on_busy", "fail", "give 'share', 'skip', 'wait', 'raise'"),
        ("sample_tags", 5, "give a list of words"),
        ("sampler", "magic", "sampler='magic' is not valid"),
    ],
)
def test_a_wrong_one_is_a_problem_and_the_others_are_kept(name: str, value: object, words: str) -> None:
    options, (problem,) = default_options(given(gil=False, **{name: value}))
    assert words in str(problem)
    assert options == {"gil": False}


def test_a_variable_is_named_by_its_name() -> None:
    _, (problem,) = default_options(given("PROFKIT_PROFILE_RATE", rate="-3"))
    assert str(problem).startswith("PROFKIT_PROFILE_RATE='-3' is not valid")


def test_options_that_need_each_other_are_checked_together() -> None:
    assert default_options(given(on_busy="raise", stop_at_error=True))[1] == ()
    options, (problem,) = default_options(given(on_busy="raise"))
    assert options == {}
    assert "stop_at_error" in str(problem)


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_LOGGED", set())
    profile = given(native=True, rate=200) | given("PROFKIT_PROFILE_EVERY", every="many")
    monkeypatch.setattr(calls_options, "CONFIG", replace(CONFIG, profile=profile, problems=()))


@pytest.mark.usefixtures("configured")
def test_options_in_code_override_defaults(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "profkit"):
        chosen = [settings_over_defaults({"rate": 50}), settings_over_defaults({"label": "x"})]
    assert [(one.sampler.rate_hz, one.sampler.native, one.label) for one in chosen] == [
        (50, True, None),
        (200.0, True, "x"),
    ]
    (record,) = caplog.records
    assert "PROFKIT_PROFILE_EVERY='many' is not valid; give a whole number; it is ignored" in record.message


@pytest.mark.usefixtures("configured")
def test_defaults_that_do_not_go_with_an_option_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "profkit"):
        chosen = settings_over_defaults({"blocking": False})
    assert (chosen.sampler.native, chosen.sampler.rate_hz) == (False, None)
    assert "are ignored where they do not fit" in caplog.records[-1].message


@pytest.mark.usefixtures("configured")
def test_a_mistake_in_code_stays_one() -> None:
    with pytest.raises(InvalidOption, match="rate=0"):
        settings_over_defaults({"rate": 0})


def test_a_wrong_file_is_said_once(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(guard, "_LOGGED", set())
    problem = UsageError("it cannot be read", "correct it")
    monkeypatch.setattr(calls_options, "CONFIG", replace(CONFIG, profile={}, problems=(problem,)))
    with caplog.at_level(logging.WARNING, "profkit"):
        assert settings_over_defaults({}) == settings_over_defaults({}) == settings({})
    assert [record.message for record in caplog.records] == ["it cannot be read; correct it; it is ignored"]


def test_names_of_options_are_those_of_their_types() -> None:
    assert tuple(keywords.ProfilerOptions.__annotations__) == calls_options.OPTIONS
    assert tuple(keywords.MemoryOptions.__annotations__) == calls_options._OF_MEMORY
