"""Captures of memray as profiles; a separate process reads them, since a damaged one can crash the reader."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from profkit.errors import DamagedFile
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread, Value
from profkit.model.session import SEGMENT_PREFIX, Capture, segment_stem
from profkit.process.child import plain_python, run_child
from profkit.samplers.memray import reader
from profkit.samplers.memray.tracker import TrackerMissing

_ENDING = ".memray"
_READER = str(Path(reader.__file__))
_LEAST_S, _S_PER_BYTE = 120.0, 2e-5
"""Time limit of reading: so much, and for each byte; 8 MB took 11 s on a busy machine."""
_CALLER = 1
"""Memray's number of the thread that started the tracker."""
_NO_PYTHON = (Frame("(no Python function)", ""),)
"""Stack of allocations in threads that run no Python, such as those of native libraries."""
VALUES = (Value.PEAK, Value.ALLOCATED, Value.ALLOCATIONS, Value.LEFT)
"""The values of a capture, in the order of the reader's figures."""


class CaptureFolder(Protocol):
    """Open folder of a session."""

    path: Path
    descriptor: int

    def names(self) -> Sequence[str]:
        """Return the names of all files."""
        ...

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of a file, None if there is none."""
        ...

    def refusal(self, name: str) -> DamagedFile | None:
        """Return why a file must not be read, None if it may be."""
        ...


@dataclass(frozen=True, slots=True)
class CaptureContent:
    """Content of a capture: full stacks, before attribution to a region."""

    profiles: Mapping[Value, Profile]
    python_allocators: bool


def capture_name(index: int) -> str:
    """Return the name of the file of a session's capture."""
    return f"{segment_stem(index)}{_ENDING}"


def unnamed_captures(folder: CaptureFolder, captures: Iterable[Capture]) -> list[DamagedFile]:
    """Return the damage of files that no line of the journal names: their regions are not known."""
    known = {capture_name(capture.index) for capture in captures}
    return [
        DamagedFile(folder.path / name, "no line of captures.jsonl names it")
        for name in folder.names()
        if name.startswith(SEGMENT_PREFIX) and name.endswith(_ENDING) and name not in known
    ]


def read_captures(folder: CaptureFolder, captures: Sequence[Capture]) -> list[CaptureContent | DamagedFile]:
    """Return the content of each capture, or its damage.

    Raises TrackerMissing if memray is not installed for this Python, and OSError if there is no room to read.
    """
    refusals = [_refusal(folder, capture_name(capture.index)) for capture in captures]
    left = [capture for capture, refused in zip(captures, refusals, strict=True) if refused is None]
    read: list[CaptureContent | DamagedFile] = []
    while left:
        lines, why = _run_reader(folder, [capture_name(capture.index) for capture in left])
        read += [_content(line, capture, folder.path) for line, capture in zip(lines, left, strict=False)]
        if len(lines) < len(left):  # it crashed at the next one
            read.append(DamagedFile(folder.path / capture_name(left[len(lines)].index), why))
        left = left[len(lines) + 1 :]
    found = iter(read)
    return [next(found) if refused is None else refused for refused in refusals]


def _refusal(folder: CaptureFolder, name: str) -> DamagedFile | None:
    if folder.status(name) is None:
        return DamagedFile(folder.path / name, "it is missing")
    return folder.refusal(name)


def _run_reader(folder: CaptureFolder, names: Sequence[str]) -> tuple[list[str], str]:
    """Return the lines of the reader, which are fewer than the files if it crashed, and why they are."""
    python = plain_python()
    if python is None:
        raise TrackerMissing("this program is no Python that could start memray's reader")
    # The folder that was opened: its path may have been replaced since.
    opened = f"/proc/{os.getpid()}/fd/{folder.descriptor}"
    sizes = [status.st_size for name in names if (status := folder.status(name)) is not None]
    with tempfile.TemporaryDirectory(prefix="profkit-") as temporary:
        output, log = Path(temporary, "lines"), Path(temporary, "log")
        output.touch()
        try:
            code = run_child(
                [python, "-P", _READER, str(output), *(f"{opened}/{name}" for name in names)], log,
                _LEAST_S + sum(sizes) * _S_PER_BYTE,
            ).code  # fmt: skip
            why = f"memray's reader crashed (exit code {code}{_last_line(log)})"
        except TimeoutError:
            why = "memray's reader did not end in time"
        text = output.read_text("ascii")
    return [line for line in text.splitlines(keepends=True) if line.endswith("\n")], why


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines() if log.exists() else []
    return f": {lines[-1][:200]}" if lines else ""


def _content(line: str, capture: Capture, folder: Path) -> CaptureContent | DamagedFile:
    found = json.loads(line)
    if "error" in found:
        if found["missing"]:
            raise TrackerMissing(found["error"])
        return DamagedFile(folder / capture_name(capture.index), found["error"])
    frames = [Frame(*frame) for frame in found["frames"]]
    builders = [ProfileBuilder() for _ in VALUES]
    for tid, name, stack, *figures in found["rows"]:
        caller = tid == _CALLER
        number, shown = (capture.tid, capture.thread) if caller else (tid, name or f"thread {tid}")
        thread = Thread(found["pid"], number, shown)
        for builder, figure in zip(builders, figures, strict=True):
            if figure:
                builder.add(tuple(frames[place] for place in stack) or _NO_PYTHON, thread, figure)
    profiles = {
        value: builder.build(unit=value.unit, ordered=False)
        for value, builder in zip(VALUES, builders, strict=True)
    }
    return CaptureContent(profiles, bool(found["python_allocators"]))
