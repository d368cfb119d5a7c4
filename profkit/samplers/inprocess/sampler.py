"""Sampler `inprocess`: needs no permission of the system, and is biased; see `ways.Kind`."""

from __future__ import annotations

import platform
import posix
import sys
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import DamagedFile, InvalidOption, SamplerFailed
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan, Segment
from profkit.samplers.base import (
    LiveStacks,
    Recording,
    SegmentFiles,
    log_path,
    output_name,
    output_path,
    plain_plan,
)
from profkit.samplers.inprocess.attachment import NAME, InProcessAttachment
from profkit.samplers.inprocess.ways import FASTEST_HZ, Kind, Request
from profkit.samplers.options import SamplerOptions, check_common, check_rate, requested_rate
from profkit.samplers.process_attachment import START, check_folder
from profkit.samplers.stack_journal import (
    Inside,
    StackJournal,
    of_one_process,
    partial_notes,
    read_segment,
    recording_of,
)
from profkit.transforms.simplify import without_own_threads

Version = tuple[int, int]
DEFAULT_RATE_HZ = 100.0
_READER_SINCE = (3, 15)
_OUTSIDE = "leave it out, or use a sampler outside the process"


class InProcessSampler:
    name = NAME

    def find(self) -> str:
        return sys.executable

    def version(self) -> str:
        return platform.python_version()

    def check(self, options: SamplerOptions, version: Version = sys.version_info[:2]) -> None:
        check_common(options)
        for name, value in (
            ("blocking", options.blocking is True), ("native", options.native),
            ("subprocesses", options.subprocesses), ("gil", options.gil),
            ("async_stacks", options.async_stacks),
        ):  # fmt: skip
            if value:
                raise InvalidOption(name, True, f"sampler='{NAME}' does not support it: {_OUTSIDE}")
        if not options.idle and version < _READER_SINCE:
            fix = f"sampler='{NAME}' knows which threads wait since Python 3.15: {_OUTSIDE}"
            raise InvalidOption("idle", False, fix)
        fastest_hz = FASTEST_HZ[Kind.INTERPRETER if version >= _READER_SINCE else Kind.TIMER]
        check_rate(options, fastest_hz, f"sampler='{NAME}' supports 1 to {fastest_hz:g} Hz with this Python")

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        return plain_plan(NAME, options, requested_rate(options) or DEFAULT_RATE_HZ)

    def attach(
        self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
    ) -> InProcessAttachment:
        """See `Sampler.attach`; only for the calling process."""
        if pid != posix.getpid():
            raise SamplerFailed(NAME, START, f"process {pid} is another one", "use another sampler for it")
        check_folder(NAME, folder)
        output = output_path(folder, index, NAME)
        output.unlink(missing_ok=True)  # of an earlier try: its existence says RUNNING
        log = log_path(folder, index)
        request = Request(pid, output, log, plan.rate_hz, plan.idle, plan.max_duration_s, clock)
        return InProcessAttachment(request, index)

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> Recording:
        """See `Sampler.read`; a journal without an end is read, too: the program was killed."""
        name = output_name(segment.index, NAME)
        journal = read_segment(files, name)
        try:
            notes = tuple(map(_note_of, journal.inside))
        except ValueError as damage:
            raise DamagedFile(files.path / name, str(damage)) from damage
        if not notes:
            raise DamagedFile(files.path / name, "it does not say how it was sampled")
        profile = of_one_process(without_own_threads(journal.profile))
        return recording_of(journal, profile, (*notes, *_rarity_notes(journal), *partial_notes(journal)))


def _note_of(inside: Inside) -> Note:
    """Return what to say about a way to sample; raises ValueError for an unknown one."""
    left = "; ".join(f"{Kind(kind).value}: {reason}" for kind, reason in inside.left)
    return Note.of(NoteCode.SAMPLED_INSIDE, kind=Kind(inside.kind).value, gil=int(inside.gil), detail=left)


def _rarity_notes(journal: StackJournal) -> tuple[Note, ...]:
    """Return a note if fewer samples were taken than requested, because each took long."""
    if journal.rarest == 1:
        return ()
    rate_hz = 1e9 / journal.profile.period_ns
    return (Note.of(NoteCode.SAMPLED_RARELY, rate_hz=rate_hz / journal.rarest, requested_hz=rate_hz),)
