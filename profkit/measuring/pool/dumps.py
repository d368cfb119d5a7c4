"""The dumps of a job, taken before its zygote's folder can go."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from profkit.errors import DamagedFile
from profkit.formats.callgrind import parse_callgrind
from profkit.model.measurement import CallgrindDump


class Dump:
    """A dump's text, parsed once and by whoever asks first: that takes some milliseconds."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    @cached_property
    def parsed(self) -> CallgrindDump:
        """What it holds; raises DamagedFile."""
        return parse_callgrind(self.text, Path(self.path))


def read_dumps(folder: Path | None, answer: Mapping[str, Any]) -> Mapping[str, Dump]:
    """Each dump in the folder that an answer names; raises FileNotFoundError."""
    if folder is None:
        return {}
    paths = [path for path in _named(answer) if Path(path).parent == folder]  # a job may name any file
    return {path: Dump(path, Path(path).read_text("utf-8", "surrogateescape")) for path in paths}


def parse_ahead(dumps: Mapping[str, Dump]) -> None:
    """Parse dumps while there is nothing else to do; what is damaged is left to whoever asks for it.

    Repeats that did the same are parsed once: their files are alike from the line of events on.
    """
    known: dict[str, CallgrindDump] = {}
    for dump in dumps.values():
        _, _, body = dump.text.partition("\nevents:")
        with contextlib.suppress(DamagedFile):
            if body not in known:
                known[body] = dump.parsed
            dump.parsed = known[body]


def remove_dumps(folder: Path | None) -> None:
    """Remove every dump of a zygote, where it makes any: Callgrind writes one at each crash, too."""
    if folder is None:
        return
    for path in folder.glob("cg.*"):
        path.unlink(missing_ok=True)


def _named(answer: Mapping[str, Any]) -> Iterator[str]:
    """Whatever an answer calls a dump; whether it makes sense is seen to where it is read."""
    arms = answer.get("arms")
    for arm in arms if isinstance(arms, list) else ():
        for name in ("dumps", "baseline_dumps"):
            paths = arm.get(name) if isinstance(arm, dict) else ()
            yield from (path for path in paths or () if isinstance(path, str))
