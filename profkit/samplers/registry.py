"""Registry of samplers by name; a new sampler needs a module and a line here."""

from __future__ import annotations

import shutil

from profkit.errors import InvalidOption
from profkit.samplers.base import Sampler
from profkit.samplers.pyspy import PySpySampler
from profkit.samplers.strobeclient import StrobeclientSampler

AUTO = "auto"
_SAMPLERS: dict[str, Sampler] = {}


def register(sampler: Sampler) -> None:
    """Register a sampler under its name; replaces an earlier one of that name."""
    _SAMPLERS[sampler.name] = sampler


def names() -> tuple[str, ...]:
    """Return the names that `resolve` accepts, `auto` first."""
    return (AUTO, *sorted(_SAMPLERS))


def resolve(name: str) -> Sampler:
    """Return the sampler of a name; `auto` is strobeclient if that is on PATH, else py-spy.

    Raises `InvalidOption` for an unknown name.
    """
    if name == AUTO:
        name = "strobeclient" if shutil.which("strobeclient") else "pyspy"
    if name not in _SAMPLERS:
        raise InvalidOption("sampler", name, f"give one of {', '.join(names())}")
    return _SAMPLERS[name]


register(PySpySampler())
register(StrobeclientSampler())
