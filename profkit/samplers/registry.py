"""The samplers by name; a new one is one new file and one line here."""

from __future__ import annotations

import shutil

from profkit.errors import InvalidOption
from profkit.samplers.base import Sampler
from profkit.samplers.pyspy import PySpySampler
from profkit.samplers.strobeclient import StrobeclientSampler

AUTO = "auto"
_SAMPLERS: dict[str, Sampler] = {}


def register(sampler: Sampler) -> None:
    """Make a sampler known under its name, in place of an earlier one of that name."""
    _SAMPLERS[sampler.name] = sampler


def names() -> tuple[str, ...]:
    """What `resolve` takes, `auto` first."""
    return (AUTO, *sorted(_SAMPLERS))


def resolve(name: str) -> Sampler:
    """The sampler of a name; `auto` is strobeclient where that is on PATH, else py-spy.

    Raises `InvalidOption` for a name that nobody registered.
    """
    if name == AUTO:
        name = "strobeclient" if shutil.which("strobeclient") else "pyspy"
    if name not in _SAMPLERS:
        raise InvalidOption("sampler", name, f"give one of {', '.join(names())}")
    return _SAMPLERS[name]


register(PySpySampler())
register(StrobeclientSampler())
