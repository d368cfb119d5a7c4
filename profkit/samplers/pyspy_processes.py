"""Child processes in what py-spy 0.4 records with --subprocesses.

Each stack then begins with a frame for the process that was given, named `process PID:"COMMAND"`, and one for
each child on the way to the process that was sampled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from profkit.model.profile import Frame, Profile, ProfileBuilder
from profkit.process.redaction import SecretRule, secret_rule
from profkit.transforms.simplify import Reindexer, build_like, child_frame

_PROCESS = re.compile(r'process (\d+)(?::"(.*)")?', re.DOTALL)


def with_child_processes(profile: Profile) -> Profile:
    """Return the profile without the frame of the process that was given, and with short ones for children.

    Values in commands that look like secrets are hidden.
    """
    rule = secret_rule()
    found = ((number, _child(frame, rule)) for number, frame in enumerate(profile.frames))
    processes = {number: child for number, child in found if child is not None}
    if not processes:
        return profile
    first = len(profile.frames)
    numbers = {number: first + place for place, number in enumerate(processes)}
    source = Profile(frames=(*profile.frames, *processes.values()), threads=profile.threads)
    builder = ProfileBuilder()
    reindexer = Reindexer(source, builder)
    stacks = [_named(stack, numbers) for stack in profile.stacks]
    for stack, thread, weight in profile.samples:
        reindexer.add(stacks[stack], thread, weight)
    return build_like(profile, builder)


def _child(frame: Frame, rule: SecretRule) -> Frame | None:
    """The short frame for one of py-spy's; None for functions."""
    match = _PROCESS.fullmatch(frame.name) if not frame.file and frame.name.startswith("process ") else None
    if match is None:
        return None
    return child_frame(int(match[1]), " ".join(rule.argv((match[2] or "").split())))


def _named(stack: tuple[int, ...], numbers: Mapping[int, int]) -> tuple[int, ...]:
    given = 1 if stack and stack[0] in numbers else 0
    return tuple([numbers.get(frame, frame) for frame in stack[given:]])
