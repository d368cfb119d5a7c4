"""What servers know about a run beside its samples: service, region, route, host and place in a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from uuid import NAMESPACE_URL, UUID, uuid5

from profkit.model.region import RegionKind
from profkit.model.run import RunInfo

_LONGEST = 1000
"""Length to which values are cut; servers refuse labels of more than 2048 bytes."""


def service_of(info: RunInfo) -> str:
    """Return a name for the service that a run belongs to: that of its job, or else of its program."""
    return info.process.member.job or _program(info.process.argv)


def _program(argv: Sequence[str]) -> str:
    """Return the script or module in a command line of Python; `python` if there is none."""
    before = ""
    for word in argv[1:]:
        if before == "-c" or word == "-c":
            break
        if not word.startswith("-"):
            return PurePath(word).name.removesuffix(".py") or "python"
        before = word
    return "python"


def of_run(info: RunInfo) -> Mapping[str, str]:
    """Return the region of a run, and the route if it is of requests."""
    route = info.label if info.region.kind is RegionKind.REQUEST else ""
    return _known({"region": info.label, "route": route})


def of_process(info: RunInfo) -> Mapping[str, str]:
    """Return the place of a run's process in its job."""
    member = info.process.member
    rank = "" if member.rank is None else str(member.rank)
    return _known({"job": member.job, "rank": rank, "worker": member.worker})


def _known(facts: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value[:_LONGEST] for name, value in facts.items() if value}


def uuid_of(info: RunInfo) -> UUID:
    """Return an id that is the same each time that a run is sent."""
    return uuid5(NAMESPACE_URL, f"profkit:{info.session}/{info.id}")
