"""The dumps of a job, taken before its zygote's folder can go."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from profkit.errors import DamagedFile
from profkit.formats.callgrind import parse_callgrind
from profkit.model.counts import CallgrindDump


class Dump:
    """A dump's text, parsed once and by whoever asks first: that takes some milliseconds."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text

    @cached_property
    def parsed(self) -> CallgrindDump:
        """What it holds; raises DamagedFile."""
        return parse_callgrind(self.text, Path(self.path))


def read_dumps(answer: Mapping[str, Any]) -> Mapping[str, str]:
    """The text of each dump that an answer names; raises FileNotFoundError."""
    return {path: Path(path).read_text("utf-8", "surrogateescape") for path in _named(answer)}


def remove_dumps(folder: Path | None) -> None:
    """Remove every dump of a zygote, where it makes any: Callgrind writes one at each crash, too."""
    if folder is None:
        return
    for path in folder.glob("cg.*"):
        path.unlink(missing_ok=True)


def _named(answer: Mapping[str, Any]) -> Iterator[str]:
    for arm in answer["arms"]:
        yield from arm.get("dumps", ())
        yield from arm.get("baseline_dumps", ())
