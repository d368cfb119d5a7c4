"""Registry of samplers by name, and the order in which `auto` tries them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

from profkit.errors import InvalidOption, SamplerMissing, UsageError
from profkit.model.region import CALLS_ONLY
from profkit.samplers.base import PTRACE, READ, Sampler
from profkit.samplers.options import SamplerOptions

AUTO = "auto"
_STROBECLIENT = "strobeclient"
_FREE_THREADED = "t" in getattr(sys, "abiflags", "")
"""py-spy reads no free-threaded Python (0.4.3: "Failed to find a python interpreter")."""
_CPYTHON_SINCE = (3, 15)
"""The reader of 3.14 omits the callers of Python code that C code calls, and coroutines with them."""
_GREENLETS = ("gevent", "eventlet", "sqlalchemy.ext.asyncio", "playwright.sync_api")
"""Modules that run code in greenlets. CPython's reader does not read their stacks, which end before the
thread's own (3.15.2: "did not reach base frame"); py-spy does."""


_CLASSES = {
    CALLS_ONLY: ("calls_only", "CallsOnlySampler"), "cpython": ("cpython", "CPythonSampler"),
    "inprocess": ("inprocess.sampler", "InProcessSampler"), "pyspy": ("pyspy", "PySpySampler"),
    _STROBECLIENT: ("strobeclient", "StrobeclientSampler"),
}  # fmt: skip
"""Modules and classes of samplers by name; they are imported when needed: a session needs one of them."""
_SAMPLERS: dict[str, Sampler] = {}


@dataclass(frozen=True, slots=True)
class Fallback:
    """One way to sample: a sampler, and options that it supports."""

    sampler: Sampler
    options: SamplerOptions
    needs: frozenset[str] = frozenset()
    """What the system must allow: `READ`, `PTRACE`."""
    missing: SamplerMissing | None = None
    """Why it cannot be used, if its program is missing."""


def register(sampler: Sampler) -> None:
    """Register a sampler under its name; replaces an earlier one of that name."""
    _SAMPLERS[sampler.name] = sampler


def names() -> tuple[str, ...]:
    """Return the values of the option `sampler`, `auto` first."""
    return (AUTO, *sorted({*_CLASSES, *_SAMPLERS}))


def resolve(name: str) -> Sampler:
    """Return the sampler of a name; raises `InvalidOption` for an unknown one."""
    if name not in _SAMPLERS and name in _CLASSES:
        module, kind = _CLASSES[name]
        _SAMPLERS[name] = getattr(__import__(f"profkit.samplers.{module}", fromlist=[kind]), kind)()
    if name not in _SAMPLERS:
        raise InvalidOption("sampler", name, f"give one of {', '.join(names())}")
    return _SAMPLERS[name]


def load(options: SamplerOptions) -> None:
    """Import the samplers that the options allow."""
    for name in _candidates(options):
        resolve(name)


def check(options: SamplerOptions) -> None:
    """Raise `UsageError` for options that no sampler supports that these options allow.

    The error is that of the best sampler, apart from Meta's.
    """
    errors: dict[str, UsageError] = {}
    for name in _candidates(options):
        try:
            resolve(name).check(options)
            return
        except UsageError as error:
            errors[name] = error
    if len(errors) > 1:
        errors.pop(_STROBECLIENT, None)
    raise next(iter(errors.values()))


def list_fallbacks(options: SamplerOptions) -> tuple[Fallback, ...]:
    """Return the ways to sample with these options, best first: several for `auto`, else one.

    Raises `UsageError` if no sampler supports the options.
    """
    found = tuple(
        fallback for name in _candidates(options) for fallback in fallbacks_of(resolve(name), options)
    )
    if not found:
        check(options)  # raises, with the reason
    return found


def fallbacks_of(sampler: Sampler, options: SamplerOptions) -> Iterator[Fallback]:
    """Yield the ways to sample with one sampler, best first; none if it does not support the options."""
    try:
        sampler.check(options)
        sampler.find()
    except UsageError:
        return
    except SamplerMissing as error:
        yield Fallback(sampler, options, missing=error)
    else:
        yield from _ways(sampler, options)


def _candidates(options: SamplerOptions) -> Iterator[str]:
    if options.sampler != AUTO:
        yield options.sampler
        return
    if shutil.which(_STROBECLIENT):
        yield _STROBECLIENT
    yield from _of_this_python()


def _of_this_python() -> tuple[str, ...]:
    """Return the public samplers, best first, for this version of Python and what it has imported."""
    has_whole_stacks = sys.implementation.name == "cpython" and sys.version_info >= _CPYTHON_SINCE
    if _FREE_THREADED:
        return ("cpython", "inprocess", "pyspy") if has_whole_stacks else ("inprocess", "cpython", "pyspy")
    if not has_whole_stacks:
        return "pyspy", "inprocess"
    if any(name in sys.modules for name in _GREENLETS):
        return "pyspy", "cpython", "inprocess"
    return "cpython", "pyspy", "inprocess"


def _ways(sampler: Sampler, options: SamplerOptions) -> Iterator[Fallback]:
    """Yield the options with a sampler; under `auto`, also without stops, which need another permission."""
    if sampler.name != "pyspy":
        yield Fallback(sampler, options)
        return
    needs = frozenset({READ}) if options.blocking is False else frozenset({READ, PTRACE})
    yield Fallback(sampler, options, needs)
    if options.sampler == AUTO and options.blocking == "auto" and not options.native:
        yield Fallback(sampler, replace(options, blocking=False), frozenset({READ}))
