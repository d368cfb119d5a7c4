"""Content of a checkup's report that all formats share: the verdict, the titles of groups."""

from __future__ import annotations

from profkit.model.checkup import Checkup, Group, Status
from profkit.render.formatting import count

TITLES = {
    Group.PYTHON: ("Python", ""),
    Group.SAMPLERS: ("Samplers", "each tried on a program of its own"),
    Group.PERMISSIONS: ("Permissions", "of a sampler on programs of this user"),
    Group.MEASURING: ("Measuring", ""),
    Group.STORAGE: ("Storage", ""),
    Group.NOISE: ("Noise", "what changes times"),
}
"""Title of each group, and a remark on it."""


def verdict(checkup: Checkup) -> str:
    """Return whether the main uses work, in one sentence."""
    shortfalls = checkup.count(Status.SHORTFALL)
    if checkup.works:
        rest = f"with {count(shortfalls, 'shortfall')}" if shortfalls else "and nothing is missing"
        return f"Sampling and timing work here, {rest}."
    number = checkup.count(Status.FAILED)
    failed = f"see the {'failed check' if number == 1 else f'{number} failed checks'}"
    if not checkup.sampling and not checkup.timing:
        return f"Neither sampling nor timing works here: {failed}."
    works, fails = ("Timing", "sampling") if checkup.timing else ("Sampling", "timing")
    return f"{works} works here, but {fails} does not: {failed}."
