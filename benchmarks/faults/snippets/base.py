"""What a small program is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SAMPLING = ("blocking", "nonblocking")
ALL_MODES = (*SAMPLING, "timer", "callgrind", "timer+callgrind")


@dataclass(frozen=True, slots=True)
class Snippet:
    """A program's text, and how it is started."""

    text: str
    flags: tuple[str, ...] = ()
    """Of the interpreter."""
    launch: str = "file"
    """`file`, `module`, `zip`, `stdin`, `-c`, or `bytes`: a file in a folder whose name is not UTF-8."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Other files in its folder."""
    environ: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    modes: tuple[str, ...] = ALL_MODES
    """Generators cannot be measured, nor can blocks."""
    warnings: int = 0
    """Lines that profkit may log: something documented keeps it from working there."""


def each(
    texts: Mapping[str, str], modes: tuple[str, ...] = ALL_MODES, warnings: int = 0
) -> dict[str, Snippet]:
    """A snippet for each text, all started in the usual way."""
    return {name: Snippet(text, modes=modes, warnings=warnings) for name, text in texts.items()}
