"""Stacks of a job's ranks on several machines, gathered in a folder that the machines share."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from profkit.cli.output import say
from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.errors import DamagedFile, UsageError
from profkit.model.job_stacks import JobStacks
from profkit.store.files import make_folder, open_spool
from profkit.store.records import read_document, write_document

_SCHEMA = "profkit.shared-stacks/1"
_SUFFIX = ".stacks.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.]+")
_LARGEST_BYTES = 64 * 2**20
_OLDEST_S = 600
"""Age from which stacks of another machine are not shown with new ones."""


def share_stacks(stacks: JobStacks, folder: Path, clock: Clock = SYSTEM_CLOCK) -> JobStacks:
    """Write the stacks to a folder; return them with those of the same job that other machines wrote.

    Raises UsageError if the folder cannot be used.
    """
    own = _file_name(stacks.job)
    try:
        make_folder(folder)
        write_document(folder / own, _SCHEMA, _without_seals(stacks))
        others = list(_others(folder, own, stacks.job, clock.unix_ns()))
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}", "name a folder of your own with --share") from error
    everything = [stacks, *others]
    processes = [one for found in everything for one in found.processes]
    unread = [one for found in everything for one in found.unread]
    return JobStacks(
        stacks.job,
        tuple(sorted(processes, key=lambda one: (one.process.member.rank or 0, one.process.host))),
        tuple(sorted(unread, key=lambda one: one.process.member.rank or 0)),
    )


def _file_name(job: str) -> str:
    parts = (_UNSAFE.sub("-", text)[:60] for text in (job, os.uname().nodename))
    return f"{'@'.join(parts)}{_SUFFIX}"


def _without_seals(stacks: JobStacks) -> JobStacks:
    """Leave out seals, which belong in this user's own store only."""
    return replace(
        stacks,
        processes=tuple(replace(one, process=replace(one.process, seal="")) for one in stacks.processes),
    )


def _others(folder: Path, own: str, job: str, now_ns: int) -> Iterator[JobStacks]:
    """Yield the new stacks of other machines; say which files are damaged."""
    with open_spool(folder, os.geteuid()) as opened:
        for name in opened.names():
            if name == own or not name.endswith(_SUFFIX):
                continue
            try:
                found = read_document(opened, name, _SCHEMA, JobStacks, _LARGEST_BYTES)
            except DamagedFile as damage:
                say("warning", str(damage))
                continue
            newest_ns = max((one.at_ns for one in found.processes), default=0)
            if found.job == job and now_ns - newest_ns < _OLDEST_S * 10**9:
                yield found
