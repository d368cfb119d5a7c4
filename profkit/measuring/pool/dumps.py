"""The dumps of a job, taken before its zygote's folder can go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def take_dumps(folder: Path | None, answer: Mapping[str, Any]) -> Mapping[str, str]:
    """The text of each dump that an answer names; removes these and any other that the job has left."""
    if folder is None:
        return {}
    texts = {path: Path(path).read_text("utf-8", "surrogateescape") for path in _named(answer)}
    remove_dumps(folder)
    return texts


def remove_dumps(folder: Path) -> None:
    """Remove every dump in the folder."""
    for path in folder.glob("cg.*"):
        path.unlink(missing_ok=True)


def _named(answer: Mapping[str, Any]) -> Iterator[str]:
    for arm in answer["arms"]:
        yield from arm.get("dumps", ())
        yield from arm.get("baseline_dumps", ())
