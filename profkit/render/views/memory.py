"""Memory of a run's calls: its values in words, and its lines in the header."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from profkit.model.profile import Value
from profkit.model.run import Memory, Run, RunInfo
from profkit.render.escape import visible
from profkit.render.formatting import Part, Tone, count, spread
from profkit.units import format_bytes

VALUE_PHRASES = {
    Value.PEAK: "the memory at the peak",
    Value.ALLOCATED: "all allocated bytes",
    Value.ALLOCATIONS: "all allocations",
    Value.LEFT: "the memory left after the calls",
}
"""What a share of a value is of."""
VALUE_TITLES = {
    Value.PEAK: "memory at the peak",
    Value.ALLOCATED: "allocated bytes",
    Value.ALLOCATIONS: "allocations",
    Value.LEFT: "memory left",
}
"""Values as headings."""
_COLUMNS = 16
"""Width of the curve of peaks."""


def memory_lines(run: Run) -> Iterator[tuple[str, list[Part]]]:
    """Yield the lines of the header that other runs do not have."""
    memory = run.info.memory
    if memory is None:
        return
    yield "peak", _peak(memory)
    yield (
        "allocated",
        [Part(format_bytes(memory.allocated_bytes)), Part(count(memory.allocations, "allocation"))],
    )
    yield "left", [Part(f"{format_bytes(memory.left_bytes)} alive after the calls")]
    yield "tracker", tracker_parts(run.info)


def tracker_parts(info: RunInfo) -> list[Part]:
    """Return the tracker and what it tracks."""
    tracked = info.memory is not None and info.memory.python_allocators
    objects = "each Python object" if tracked else "Python objects by arena"
    return [
        Part(visible(f"{info.plan.sampler} {info.sampler_version or ''}".strip()), Tone.STRONG),
        Part(objects),
    ]


def _peak(memory: Memory) -> list[Part]:
    peaks = memory.peaks_bytes
    largest = Part(format_bytes(memory.peak_bytes), Tone.STRONG)
    if len(peaks) < 2:
        return [largest]
    least, most = format_bytes(min(peaks)), format_bytes(max(peaks))
    return [
        largest,
        Part(f"largest of {count(len(peaks), 'call')}"),
        Part(f"min {least} {spread(peaks, _COLUMNS)} max {most}"),
        Part(f"median {format_bytes(median(peaks))}"),
    ]
