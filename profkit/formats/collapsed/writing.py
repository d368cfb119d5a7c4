"""A profile as collapsed stacks."""

from __future__ import annotations

from collections import Counter
from io import BytesIO

from profkit.formats.collapsed.frames import write_frame, write_process, write_thread
from profkit.model.profile import Profile, Thread


def encode(profile: Profile) -> bytes:
    """A line for each thread and stack that has a weight, in the order of their first samples."""
    weights: Counter[tuple[int, int]] = Counter()
    for sample in profile.samples:
        weights[sample.thread, sample.stack] += sample.weight
    threads = _threads(profile)
    frames = [write_frame(frame) for frame in profile.frames]
    written = BytesIO()
    for (thread, stack), weight in weights.items():
        texts = [*threads[thread], *[frames[frame] for frame in profile.stacks[stack]]]
        written.write(f"{';'.join(texts)} {weight}\n".encode())
    return written.getvalue()


def _threads(profile: Profile) -> list[list[str]]:
    """The first frames of each thread's stacks."""
    several = len({thread.pid for thread in profile.threads}) > 1
    return [_first(thread, several) for thread in profile.threads]


def _first(thread: Thread, several: bool) -> list[str]:
    named = write_thread(thread)
    process = [write_process(thread.pid)] if several and thread.pid else []
    return process + ([named] if named else [])
