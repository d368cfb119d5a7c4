"""Facts in which the runs of a merged run may differ: launches, tags, users and environment variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from profkit.model.run import Merged, RunInfo
from profkit.render.escape import visible
from profkit.render.formatting import Part, Tone, count
from profkit.render.views.merged import listed

_RUN_ID = "TORCHELASTIC_RUN_ID"
_NUMBER = re.compile(r"\d[\d.,]*")
_OF_WORKERS = ("--multiprocessing-fork", "from multiprocessing")
"""Parts of the commands by which Python starts workers."""
_INTEGER = re.compile(r"-?\d{1,18}")
_FEW = 3
"""Number of values up to which they are listed and not a range."""


def launch_parts(merged: Merged) -> list[Part]:
    """Return of how many launches or commands runs are, if several: a warning if one has many processes."""
    ids = {info.process.launch for info in merged.infos} - {""}
    jobs = {value for info in merged.infos for name, value in info.region.env if name == _RUN_ID}
    commands = set(filter(None, map(_command, merged.infos)))
    launches = max(len(ids), len(jobs))
    if max(launches, len(commands)) < 2:
        return []
    text = f"of {count(launches, 'launch')}" if launches > 1 else f"of {count(len(commands), 'command')}"
    return [Part(text, Tone.WARN if len(merged.processes) > launches else Tone.PLAIN)]


def _command(info: RunInfo) -> str:
    """Return a command without its numbers, by which ranks may differ; empty for workers of Python's."""
    text = "\0".join(info.process.argv)
    return "" if any(part in text for part in _OF_WORKERS) else _NUMBER.sub("0", text)


def tag_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the tags of the runs; those of some runs with their number."""
    runs_of = Counter(tag for info in infos for tag in dict.fromkeys(info.region.tags))
    return [Part(visible(f"{tag}{_in_some(having, infos)}")) for tag, having in runs_of.items()]


def user_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the users that the runs name."""
    users = [info.region.user for info in infos if info.region.user]
    return [Part(listed(users))] if users else []


def env_parts(infos: Sequence[RunInfo]) -> list[Part]:
    """Return the recorded environment variables; different values as a range or a list."""
    values: dict[str, list[str]] = {}
    for info in infos:
        for name, value in info.region.env:
            values.setdefault(name, []).append(value)
    return [
        Part(f"{visible(name)}={_values(found)}{_in_some(len(found), infos)}")
        for name, found in values.items()
    ]


def _values(values: Sequence[str]) -> str:
    distinct = set(values)
    if len(distinct) > _FEW and all(map(_INTEGER.fullmatch, distinct)):
        numbers = sorted(map(int, distinct))
        return f"{numbers[0]} to {numbers[-1]}"
    return listed(sorted(values, key=_in_order))


def _in_order(value: str) -> tuple[int, str]:
    return (int(value), "") if _INTEGER.fullmatch(value) else (0, value)


def _in_some(having: int, infos: Sequence[RunInfo]) -> str:
    return "" if having == len(infos) else f" in {having:,} of {count(len(infos), 'run')}"
