"""strobeclient: Meta's strobelight samples the process and keeps the samples; links lead to them."""

from __future__ import annotations

import shutil
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import InvalidOption, SamplerMissing
from profkit.model.session import SamplerPlan, Segment
from profkit.process.procfs import cpu_frequency_hz
from profkit.samplers.base import Attachment, LiveStacks, SamplerOptions, SegmentFiles
from profkit.samplers.checks import check_common, cpu_frequency
from profkit.samplers.segment_files import log_path
from profkit.samplers.strobeclient_run import Strobeclient, start_run

DEFAULT_SAMPLE_EACH = 1e7
"""Cycles per sample where nothing else is asked for, as PyTorch's own wrapper asks for."""
_CPU_TIME = "strobeclient samples processor cycles: time spent waiting is not in its samples."


class StrobeclientSampler:
    """See `Sampler`."""

    name = "strobeclient"

    def find(self) -> str:
        """The strobeclient on PATH."""
        program = shutil.which("strobeclient")
        if program is None:
            raise SamplerMissing(self.name, self.name, "use sampler='pyspy': strobeclient is Meta's alone")
        return str(Path(program).absolute())

    def version(self) -> str | None:
        """None: it tells no version."""
        return None

    def check(self, options: SamplerOptions) -> None:
        """Raise `UsageError` for what strobeclient's protocol has no word for."""
        check_common(options)
        if options.blocking != "auto":
            raise InvalidOption("blocking", options.blocking, "strobeclient decides: leave it 'auto'")
        for option, wanted in (("native", options.native), ("subprocesses", options.subprocesses)):
            if wanted:
                raise InvalidOption(option, True, "strobeclient cannot: leave it out, or use sampler='pyspy'")
        for tag in options.tags:
            if not tag or "," in tag:
                raise InvalidOption("sample_tags", tag, "strobeclient takes tags without commas")
        if options.rate_hz is not None:
            cpu_frequency("rate", options.rate_hz)

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        """See `Sampler.plan`; `sample_each` is always set, as that is what strobeclient is told."""
        rate_hz, sample_each = _rate_and_cycles(options)
        return SamplerPlan(
            sampler=self.name,
            rate_hz=rate_hz,
            blocking=False,
            idle=False,
            native=False,
            subprocesses=False,
            scope=options.scope,
            max_duration_s=options.max_duration_s,
            tags=options.tags,
            sample_each=sample_each,
            notes=(_CPU_TIME,) if options.idle else (),
        )

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        """See `Sampler.attach`."""
        return start_run(Strobeclient(self.find(), log_path(folder, index)), pid, plan, index)

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> None:
        """None: strobelight keeps the samples."""
        return


def _rate_and_cycles(options: SamplerOptions) -> tuple[float, float]:
    """Samples per second of busy processor (0 where its frequency is not known), cycles per sample."""
    if options.rate_hz is not None:
        return options.rate_hz, cpu_frequency("rate", options.rate_hz) / options.rate_hz
    sample_each = options.sample_each or DEFAULT_SAMPLE_EACH
    return (cpu_frequency_hz() or 0.0) / sample_each, sample_each
