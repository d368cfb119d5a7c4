"""Default options of `profile()` and `profiled()` from variables and the project's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast, get_args

from profkit.calls.options import ProfilerOptions, Settings, settings
from profkit.config import CONFIG, PREFIX, PROFILE, Setting
from profkit.errors import InvalidOption, UnknownOption, UsageError
from profkit.process.guard import say_once
from profkit.project_file import as_text, as_words
from profkit.samplers.options import Scope
from profkit.session.counters import OnBusy

_SWITCHES: Mapping[str, bool] = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def settings_over_defaults(options: ProfilerOptions) -> Settings:
    """Return the settings for options, over the defaults of this process; raises `UsageError`.

    A default that is not valid is left out, and so are all that do not go with the options. Each reason is
    logged once.
    """
    if not CONFIG.profile and not CONFIG.problems:
        return settings(options)
    defaults, problems = default_options(CONFIG.profile)
    for problem in (*CONFIG.problems, *problems):
        say_once(f"{problem}; it is ignored")
    try:
        return settings({**defaults, **options})
    except UsageError as error:
        own = settings(options)
        say_once(f"the defaults of {_sources(CONFIG.profile)} are ignored where they do not fit: {error}")
        return own


def default_options(given: Mapping[str, Setting]) -> tuple[ProfilerOptions, tuple[UsageError, ...]]:
    """Return the valid ones of defaults, and the errors of the others."""
    read: dict[str, object] = {}
    problems: list[UsageError] = []
    for name, setting in given.items():
        try:
            read[name] = _read(name, setting)
        except UsageError as error:
            problems.append(error)
    while (problem := _problem(read, given)) is not None:
        problems.append(problem)
    return cast(ProfilerOptions, read), tuple(problems)


def _read(name: str, setting: Setting) -> object:
    reader = _READERS.get(name)
    if reader is None:
        raise UnknownOption(name, _READERS, f" that {setting.source} could set for profile()")
    value = reader(setting.value)
    if value is None:
        raise InvalidOption(_named(name, setting), setting.value, f"give {_WANTED[reader]}")
    return value


def _problem(options: dict[str, object], given: Mapping[str, Setting]) -> UsageError | None:
    """Return why defaults are not valid, after the removal of what is the cause; None if they are."""
    try:
        settings(cast(ProfilerOptions, options))
    except InvalidOption as error:
        if error.option in options:
            del options[error.option]
            setting = given[error.option]
            return InvalidOption(_named(error.option, setting), setting.value, error.fix)
        options.clear()
        return error
    except UsageError as error:
        options.clear()
        return error
    return None


def _named(name: str, setting: Setting) -> str:
    """Return an option's name as where it is set; a variable's name has the option's."""
    return setting.source if setting.source.startswith(PREFIX) else f"{setting.source}: {PROFILE}.{name}"


def _switch(value: object) -> bool | None:
    return _SWITCHES.get((as_text(value) or "").lower())


def _number(value: object) -> float | None:
    try:
        return None if isinstance(value, bool) else float(as_text(value) or "")
    except ValueError:
        return None


def _whole(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number.is_integer() else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _blocking(value: object) -> bool | str | None:
    return "auto" if value == "auto" else _switch(value)


def _scope(value: object) -> object:
    return value if value in get_args(Scope) else None


def _on_busy(value: object) -> object:
    return value if value in get_args(OnBusy) else None


_Reader = Callable[[object], object]
_READERS: Mapping[str, _Reader] = {
    "stop_at_error": _switch, "max_profile_duration_sec": _number, "sample_each": _number,
    "run_user_name": _text, "timeout_wait_for_running_sec": _number, "timeout_wait_for_finished_sec": _number,
    "recorded_env_variables": as_words, "sample_tags": as_words, "stack_max_len": _whole,
    "async_stack_max_len": _whole, "sampler": _text, "rate": _number, "blocking": _blocking,
    "native": _switch, "threads": _switch, "idle": _switch, "gil": _switch, "subprocesses": _switch,
    "async_stacks": _switch, "allow_dumpable": _switch, "scope": _scope, "on_busy": _on_busy,
    "every": _whole,
}  # fmt: skip
"""How each option is read. A label is of one function, and `disable` turns all off."""
_WANTED: Mapping[_Reader, str] = {
    _switch: "true or false", _number: "a number", _whole: "a whole number", _text: "a text",
    as_words: "a list of words", _blocking: "true, false or 'auto'",
    _scope: " or ".join(map(repr, get_args(Scope))), _on_busy: ", ".join(map(repr, get_args(OnBusy))),
}  # fmt: skip


def _sources(given: Mapping[str, Setting]) -> str:
    return ", ".join(dict.fromkeys(setting.source for setting in given.values()))
