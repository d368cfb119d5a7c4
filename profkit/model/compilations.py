"""Compilations of one process: their frames and phases, and the passes that took their time."""

from __future__ import annotations

from dataclasses import dataclass

from profkit.model.run import RunInfo
from profkit.model.session import ProcessInfo


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a frame's compilation, with its run."""

    info: RunInfo
    name: str
    is_inside: bool
    """True if its time is part of another phase's that is shown."""

    @property
    def wall_s(self) -> float:
        """Wall time of the phase; of all, if it ran several times."""
        return self.info.wall_s


@dataclass(frozen=True, slots=True)
class CompiledFrame:
    """One compilation of one frame, or one export."""

    id: str
    """PyTorch's number of the frame and of its compilation, such as `0/1`; empty for an export."""
    function: str
    file: str
    line: int
    phases: tuple[Phase, ...]
    total_s: float
    """Wall time of its phases; one that ran in another counts once."""
    samples: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the compiler, and the weight of the samples whose innermost compiler function is its own."""

    name: str
    weight: int


@dataclass(frozen=True, slots=True)
class Pass:
    """A function of the compiler; its own weight includes what it calls outside of the compiler."""

    stage: str
    name: str
    file: str
    line: int
    own: int
    total: int


@dataclass(frozen=True, slots=True)
class Compilations:
    """Compilations of a process."""

    process: ProcessInfo
    frames: tuple[CompiledFrame, ...]
    """In the order in which they were compiled."""
    stages: tuple[Stage, ...]
    """Heaviest first."""
    passes: tuple[Pass, ...]
    """By own weight, heaviest first."""
    weight: int
    """Weight of all samples, each once."""
    sample_s: float
    """Time that a weight of 1 represents."""
    total_s: float
    """Wall time of all phases; one that ran in another counts once."""

    @property
    def infos(self) -> tuple[RunInfo, ...]:
        """Runs of all phases."""
        return tuple(phase.info for frame in self.frames for phase in frame.phases)
