"""Type of small programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

HAS_STATES = sys.version_info >= (3, 15)
"""True if this Python has the reader of the sampler `cpython`, with the states of threads."""
SAMPLING = ("blocking", "nonblocking", "inside", *(("cpython",) if HAS_STATES else ()))
ALL_MODES = (*SAMPLING, "timer", "callgrind", "timer+callgrind")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A program's text, and the way to start it."""

    text: str
    flags: tuple[str, ...] = ()
    """Flags of the interpreter."""
    launch: str = "file"
    """`file`, `module`, `zip`, `stdin`, `-c`, or `bytes`: a file in a folder whose name is not UTF-8."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Other files in its folder."""
    environ: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    modes: tuple[str, ...] = ALL_MODES
    """Modes in which it can run: generators and blocks cannot be measured."""
    warnings: int = 0
    """Number of lines that profkit may log, for a documented limitation."""


def each(
    texts: Mapping[str, str], modes: tuple[str, ...] = ALL_MODES, warnings: int = 0
) -> dict[str, Snippet]:
    """Return a snippet for each text, all started in the usual way."""
    return {name: Snippet(text, modes=modes, warnings=warnings) for name, text in texts.items()}
