"""Where a report goes: to stdout, or into a file, which a browser may open then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from profkit.cli.output import save, tell, write
from profkit.model.measurement import MeasuredInfo
from profkit.model.run import AnyInfo, RunInfo

STDOUT = "-"
_LONGEST = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]+")


def deliver(text: str, target: Path | None, *, named: bool, opens: bool) -> None:
    """Write a report, say where it is if nobody named the file, and open it; raises as `save` and `write`."""
    if target is None:
        write(text)
        return
    save(target, text if text.endswith("\n") else f"{text}\n")
    if not named:
        tell("note", f"the report is in {target}")
    if opens:
        _open(target)


def _open(target: Path) -> None:
    import webbrowser

    if not webbrowser.open(target.resolve().as_uri()):
        tell("warning", f"no browser was found; open {target} with one")


def name_of(infos: Sequence[AnyInfo]) -> str:
    """Label and id of what is shown, or of its batch, in characters that mean nothing to a shell."""
    first = infos[0]
    labels = {info.label for info in infos}
    label = first.label if len(labels) == 1 else f"{len(infos)} orders"
    identity = first.batch if isinstance(first, MeasuredInfo) and len(infos) > 1 else first.id
    return "-".join(filter(None, (_slug(label), _slug(identity))))


def merged_name(infos: Sequence[RunInfo]) -> str:
    """The label of runs that are shown as one, in the same characters."""
    return "-".join(filter(None, (_slug(infos[0].label), "merged")))


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text)[:_LONGEST].strip("-.")
