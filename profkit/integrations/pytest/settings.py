"""Settings of the plugin: what the command line and a test's marks ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from profkit.calls.keywords import ProfilerOptions
from profkit.calls.options import settings, settings_over_defaults
from profkit.errors import InvalidOption, ProfkitError, UnknownOption
from profkit.integrations.pytest import MARKER
from profkit.measuring.orders import MeasureOptions, work_order
from profkit.units import parse_percentage

if TYPE_CHECKING:
    from profkit.calls.options import Settings

SAMPLE = "sample"
TAGS = ("pytest",)
"""Tags of the runs of all tests, so that one session samples them."""
MODES = (SAMPLE, "timer", "callgrind", "timer+callgrind")
_OF_RUN: ProfilerOptions = {
    "max_profile_duration_sec": 366 * 86_400.0,  # explicit, so that the samples of all tests are kept
    "sample_tags": TAGS,
    "threads": False,
    "scope": "call",
    "on_busy": "share",
    "stop_at_error": False,
}
"""Options of all tests, which the defaults of a project do not change: one session samples all."""
_NOT_OF_TESTS = ("label", "enabled", "every", "on_busy", "scope")
"""Options of sampling that have no use for a test, or that the plugin sets."""
_OF_MEASURING = (
    *("num_threads", "quick", "min_run_time_s", "number", "repeats", "processes", "runs", "timeout_s"),
    *("retries", "env", "imports", "simulate", "python_functions", "memory_limit_bytes", "fresh"),
)
"""Options of measuring that a mark takes; the others are the test's own matter."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What the command line asks for, checked."""

    samples_all: bool
    """Whether each test is sampled."""
    tests: int
    functions: int
    sampling: ProfilerOptions
    base: str | None
    limit: float
    markdown: Path | None


def run_settings(config: pytest.Config) -> RunSettings:
    """Return the settings of a test run; raises pytest.UsageError if one is invalid."""
    given = config.option
    sampling: ProfilerOptions = {**_OF_RUN}
    if given.profkit_rate is not None:
        sampling["rate"] = given.profkit_rate
    if given.profkit_sampler is not None:
        sampling["sampler"] = given.profkit_sampler
    if given.profkit_native:
        sampling["native"] = True
    try:
        settings(sampling)
        limit = limit_of("--profkit-max-slowdown", given.profkit_max_slowdown)
        for name in ("tests", "functions"):
            if getattr(given, f"profkit_{name}") < 0:
                raise InvalidOption(f"--profkit-{name}", getattr(given, f"profkit_{name}"), "give 0 or more")
    except ProfkitError as error:
        raise pytest.UsageError(f"profkit: {error}") from error
    return RunSettings(
        samples_all=given.profkit,
        tests=given.profkit_tests,
        functions=given.profkit_functions,
        sampling=sampling,
        base=given.profkit_baseline,
        limit=limit,
        markdown=_file(config, given.profkit_output),
    )


def _file(config: pytest.Config, given: str | None) -> Path | None:
    if given is None:
        return None
    path = config.invocation_params.dir / given
    if not path.parent.is_dir():
        raise pytest.UsageError(f"profkit: there is no folder {path.parent}; make it, or choose another file")
    return path


def limit_of(name: str, given: object) -> float:
    """Return a limit as a part: 0.05 for `5%`, `5` and 5; raises InvalidOption."""
    try:
        return parse_percentage(str(given))
    except ValueError as error:
        raise InvalidOption(name, given, "give a percentage from 0 on, such as '5%'") from error


@dataclass(frozen=True, slots=True)
class MarkSettings:
    """What a test's marks ask for, checked."""

    mode: str | None = None
    """One of `MODES`; None if the marks name none."""
    limit: float | None = None
    isolated: bool = True
    marked: bool = False
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def measures(self) -> bool:
        """Whether the mode is one of measuring."""
        return self.mode not in (None, SAMPLE)

    def sampling(self, chosen: ProfilerOptions, label: str) -> Settings:
        """Return the settings of a sampled test."""
        mine = cast(ProfilerOptions, {} if self.measures else self.options)
        tags = (*(mine.get("sample_tags") or ()), *TAGS)
        return settings_over_defaults({**chosen, **mine, "sample_tags": tags, "label": label})

    def measuring(self) -> MeasureOptions:
        """Return the options of a measured call."""
        mode = self.mode if self.measures else "timer"
        return cast(MeasureOptions, {**(self.options if self.measures else {}), "mode": mode})


def settings_of(item: pytest.Item) -> MarkSettings:
    """Return the settings in a test's marks; a nearer mark's options override those of its class or module.

    Raises UsageError for invalid ones.
    """
    options: dict[str, object] = {}
    marks = list(item.iter_markers(MARKER))
    for mark in reversed(marks):
        if mark.args:
            raise InvalidOption(f"@pytest.mark.{MARKER}", mark.args[0], "name its options: mode=, limit=")
        options |= mark.kwargs
    if not marks:
        return MarkSettings()
    mode = options.pop("mode", None)
    if mode == "samples":  # as `profkit.profile` names it
        mode = SAMPLE
    if mode is not None and mode not in MODES:
        raise InvalidOption("mode", mode, f"give one of {', '.join(map(repr, MODES))}")
    limit, isolated = options.pop("limit", None), options.pop("isolated", True)
    if not isinstance(isolated, bool):
        raise InvalidOption("isolated", isolated, "give True or False")
    if not isolated and "callgrind" in str(mode):
        raise InvalidOption("isolated", False, "Callgrind counts in a process of its own: leave it out")
    found = MarkSettings(
        mode=mode,
        limit=None if limit is None else limit_of("limit", limit),
        isolated=isolated,
        marked=True,
        options=options,
    )
    _check(found)
    return found


def _check(found: MarkSettings) -> None:
    """Raise UsageError for options that do not fit the mode."""
    if found.measures:
        _refuse_others(found, _OF_MEASURING)
        work_order(_no_call, **found.measuring())
        return
    known = [name for name in ProfilerOptions.__annotations__ if name not in _NOT_OF_TESTS]
    _refuse_others(found, known)
    settings(cast(ProfilerOptions, dict(found.options)))


def _refuse_others(found: MarkSettings, known: list[str] | tuple[str, ...]) -> None:
    for name in found.options:
        if name not in known:
            names = ("mode", "limit", "isolated", *known)
            raise UnknownOption(name, names, f" of @pytest.mark.{MARKER} with mode={found.mode or SAMPLE!r}")


def _no_call() -> None:
    """Stand for the call that is measured later, so that its options are checked now."""
