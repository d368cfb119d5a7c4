"""Options of the middleware: names, defaults and checks."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from profkit.calls.options import Settings, settings_over_defaults
from profkit.config import CONFIG
from profkit.errors import InvalidOption, UnknownOption
from profkit.integrations.web.access import TOKEN_VARIABLE, Access
from profkit.samplers.options import Blocking, check_choice, check_positive

if TYPE_CHECKING:
    from profkit.calls.keywords import ProfilerOptions

EVERY_VARIABLE = "PROFKIT_WEB_EVERY"
PAGE_RATE_HZ = 200.0
"""Default rate if there are no sampled requests: a single request is short."""
_SESSION_DAYS = 366


class WebOptions(TypedDict, total=False):
    """Keyword arguments of the middleware; explained in docs/web.md."""

    token: str
    every: int
    source: bool
    sampler: str
    rate: float
    blocking: Blocking
    native: bool


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Checked options."""

    access: Access
    every: int
    """Interval N of sampled requests; 0 samples none."""
    source: bool
    """True if pages contain source lines."""
    profiler: Settings

    @property
    def active(self) -> bool:
        """True if any request may be profiled."""
        chosen = self.access.is_open or self.every > 0
        return chosen and self.profiler.enabled and not CONFIG.disabled and sys.platform == "linux"


def web_settings(options: WebOptions, environ: Mapping[str, str] = os.environ) -> WebSettings:
    """Return the settings for options, or for environment variables in their place; raises UsageError."""
    for name in options:
        if name not in WebOptions.__annotations__:
            raise UnknownOption(name, WebOptions.__annotations__)
    token, every = options.get("token"), options.get("every")
    if token is not None and not isinstance(token, str):
        raise InvalidOption("token", "…", "give a string")
    if every is not None:
        check_positive("every", every, whole=True)
    check_choice("source", options.get("source", False), (True, False))
    chosen = _every_of(environ) if every is None else every
    return WebSettings(
        access=Access(environ.get(TOKEN_VARIABLE, "") if token is None else token),
        every=chosen,
        source=options.get("source", False),
        profiler=_profiler_settings(options, samples=chosen > 0),
    )


def _profiler_settings(options: WebOptions, *, samples: bool) -> Settings:
    chosen: ProfilerOptions = {"max_profile_duration_sec": _SESSION_DAYS * 86_400.0}
    if not samples and not {"rate", "sampler"} & (options.keys() | CONFIG.profile.keys()):
        chosen["rate"] = PAGE_RATE_HZ
    for name in ("sampler", "rate", "blocking", "native"):
        if name in options:
            chosen[name] = options[name]
    return settings_over_defaults(chosen)


def _every_of(environ: Mapping[str, str]) -> int:
    given = environ.get(EVERY_VARIABLE, "").strip()
    if not given:
        return 0
    if not given.isdecimal() or int(given) < 1:
        raise InvalidOption(EVERY_VARIABLE, given, "give a whole number above 0")
    return int(given)
