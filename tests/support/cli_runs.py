"""A store and a spool with runs in them, and what a command said about them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from profkit.config import Config
from profkit.model.measurement import AnyRun
from profkit.model.session import SessionState
from profkit.process.procfs import start_ticks
from profkit.store.runs import open_store
from tests.support.example_sessions import (
    GONE,
    PLAN,
    F,
    calls,
    manifest,
    segment,
    session_folder,
    write_speedscope,
)


class Said(NamedTuple):
    """What a command returned and wrote."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, object]:
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document


Profkit = Callable[..., Said]


def keep(config: Config, *runs: AnyRun) -> None:
    with open_store(config.store_url) as store:
        store.add(runs)


def finished_session(config: Config, session: str, weight: int = 5) -> Path:
    """A finished session of region `f` in the spool."""
    head = manifest(segment(0), session=session, plan=replace(PLAN, sampler="pyspy"))
    folder = session_folder(config.spool, head, deltas=(calls(F, 7),))
    write_speedscope(folder, 0, weight)
    return folder


def live_session(config: Config, session: str, started_ns: int | None = None) -> Path:
    """A session of this very process that is still being recorded; its first segment is done."""
    ticks = start_ticks(os.getpid())
    assert ticks is not None
    head = manifest(
        segment(0),
        session=session,
        state=SessionState.RUNNING,
        ended_ns=None,
        plan=replace(PLAN, sampler="pyspy"),
        process=replace(GONE, pid=os.getpid(), start_ticks=ticks),
    )
    folder = session_folder(config.spool, head, (F,), (calls(F, 7, first_call_ns=started_ns),))
    write_speedscope(folder, 0, 5)
    return folder
