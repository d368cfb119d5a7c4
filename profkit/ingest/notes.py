"""What the reader of a run should know about it, one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from profkit.errors import DamagedFile
from profkit.ingest.segments import ReadSegment
from profkit.model.run import RunInfo
from profkit.model.session import Manifest

TORN_SHARE = 0.02
"""Above this share of torn samples a run says so."""


def session_notes(
    manifest: Manifest, segments: Iterable[ReadSegment], damaged: Sequence[DamagedFile], crashed: bool
) -> tuple[str, ...]:
    """The notes that all runs of a session have; `crashed`: the process ended before the session did."""
    notes = [*manifest.plan.notes, *manifest.notes]
    if crashed:
        notes.append(
            "The process ended before the session did, as when it is killed: calls of its last second are "
            "not counted."
        )
    if manifest.truncated:
        notes.append(
            f"The session reached max_profile_duration_sec ({manifest.plan.max_duration_s:g} s): later calls "
            "are counted, but not sampled."
        )
    notes += [note for read in segments if read.recording is not None for note in read.recording.notes]
    notes += [f"{damage.path.name} cannot be read, and what it held is missing." for damage in damaged]
    notes += _segment_errors(manifest)
    return tuple(dict.fromkeys(notes))


def run_notes(info: RunInfo) -> Iterator[str]:
    """The notes of one region's run, from its numbers."""
    sampled = info.samples + info.torn
    if info.torn > TORN_SHARE * sampled:
        share = f"{info.torn / sampled:.1%} of the samples"
        if info.plan.blocking:
            yield (
                f'{share} were discarded as inconsistent ("torn"), though the program was stopped for each: '
                "they have no frame of the function itself, as when its code is compiled."
            )
        else:
            # Measured with two alternating regions: as many torn stacks fit their markers by chance.
            yield (
                f'{share} were inconsistent ("torn") and were discarded; about as many go unnoticed. Pass '
                "blocking=True to stop the program for each sample."
            )
    if info.traced_away:
        yield (
            f"Calls of {info.label!r} that torch compiled are not seen: decorate the function that is "
            "called uncompiled."
        )
    if info.samples and not info.calls:
        yield "No call had finished when this was recorded: the samples are of calls that were under way."


def _segment_errors(manifest: Manifest) -> Iterator[str]:
    for segment in manifest.segments:
        if segment.error is not None and segment.error != manifest.error:
            yield f"Segment {segment.index} ended with an error: {segment.error}"
