"""Profiled requests: which are chosen, the region of each one, and when a service's session is renewed.

Sampled requests of a route share a region. A request on demand has one of its own, so that its run has
nothing of others that run at the same time.
"""

from __future__ import annotations

import html
import secrets
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from profkit import torch_tracing
from profkit.calls.importlib_bootstrap.carrying import Carrier
from profkit.calls.importlib_bootstrap.markers import Marker, make_marker
from profkit.calls.slow_path import results_of
from profkit.clock import SYSTEM_CLOCK
from profkit.errors import ProfkitError
from profkit.integrations.web.access import Answer
from profkit.integrations.web.options import WebSettings
from profkit.integrations.web.routes import Find, Labels
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.session import SessionState
from profkit.process.background import BackgroundThread
from profkit.process.guard import LOG, ignore
from profkit.session.activity import calls_under_way
from profkit.session.counters import Counters
from profkit.session.joining import is_of_program

if TYPE_CHECKING:
    from profkit.model.run import Run
    from profkit.session.session import Session


_MODULE = "web"
_SESSION_S, _LONGEST_SESSION_S = 300.0, 600.0
"""Age at which a session ends when no request is in progress, and at which it ends anyway: another begins,
and this one's runs can be stored."""


@dataclass(frozen=True, slots=True)
class Profiled:
    """A request that is profiled, with what runs it under its region's marker."""

    label: str
    answer: Answer | None
    """What its client asked for; None for a sampled request."""
    counters: Counters
    marker: Marker
    carrier: Carrier
    began: tuple[str, int] = ("", 0)
    """The session at its beginning, and the number of the segment."""

    @property
    def run_id(self) -> str | None:
        """Id of its run, None if it runs unprofiled."""
        sessions = self.counters.sessions
        if self.counters.refused or not sessions:
            return None
        from profkit.ingest.read import run_id

        return run_id(sessions[-1], self.counters.region.id)

    def run(self) -> Run | None:
        """Return its run, which ends the current segment; None if it ran unprofiled. Raises ProfkitError."""
        session, segment = self.began
        in_that = self.counters.has_joined(session)
        return next(results_of(self.counters, segment if in_that else 0), None)


class Requests:
    """Chooser of a service's profiled requests."""

    def __init__(
        self,
        settings: WebSettings,
        handle: Callable[..., object],
        kind: RegionKind,
        random: Random | None = None,
    ) -> None:
        """Take the function that runs a request under a marker of this kind: a coroutine or a generator."""
        self.settings, self._handle, self._kind = settings, handle, kind
        self.labels = Labels()
        self._random = (random or Random()).random
        self._share = 1 / settings.every if settings.every else 0.0
        self._sampled: dict[str, Profiled] = {}

    @property
    def takes_some(self) -> bool:
        """Whether requests without a token may be profiled."""
        return self._share > 0

    def is_next(self) -> bool:
        """Return whether to sample a request: one in N on average, in no pattern that requests could have."""
        return self._random() < self._share

    def sampled(self, method: str, path: str, find: Find) -> Profiled:
        """Return a request as one of its route's."""
        renew_session()
        label = self.labels.label(method, path, find)
        known = self._sampled.get(label)
        if known is None:
            known = self._sampled.setdefault(label, self._new(label, None, ""))
        return known

    def on_demand(self, answer: Answer, method: str, path: str, find: Find) -> Profiled:
        """Return a request with a region of its own."""
        return self._new(self.labels.label(method, path, find), answer, secrets.token_hex(8))

    def _new(self, label: str, answer: Answer | None, unique: str) -> Profiled:
        chosen = self.settings.profiler
        region = Region(
            key=RegionKey(_MODULE, label, 0, label), kind=RegionKind.REQUEST, file="", code=unique
        )
        counters = Counters(region, chosen.sampler, chosen.policy)
        marker = make_marker(counters, self._handle, kind=self._kind)
        return Profiled(label, answer, counters, marker, Carrier(region), _current_segment())


def _current_segment() -> tuple[str, int]:
    """Return the id of the current session and the number of its last segment; ("", 0) without a session."""
    manager = sys.modules.get("profkit.session.manager")
    session: Session | None = getattr(getattr(manager, "MANAGER", None), "session", None)
    if session is None:
        return "", 0
    return session.id, max((segment.index for segment in session.manifest.segments), default=0)


def renew_session() -> None:
    """End a session that has lasted for long, in the background, so that its runs can be stored."""
    try:
        torch_tracing.unseen(_renew_session)
    except Exception as error:  # noqa: BLE001 - logged; raised if it is the program's
        ignore(error, "ending a session")


def end_session() -> None:
    """End the session of this process, as its service ends: a signal may end the process without its exit."""
    try:
        from profkit.session.manager import MANAGER

        if MANAGER.session is not None:
            torch_tracing.unseen(_end, MANAGER.session)
    except Exception as error:  # noqa: BLE001 - logged; raised if it is the program's
        ignore(error, "ending a session")


def _renew_session() -> None:
    from profkit.session.manager import MANAGER

    session = MANAGER.session
    if session is None:
        return
    age_s = SYSTEM_CLOCK.monotonic_s() - session.started_s
    is_due = age_s >= _LONGEST_SESSION_S or (age_s >= _SESSION_S and not calls_under_way())
    if is_due and not (_renewals and _renewals[-1].is_alive()) and _may_end(session):
        _renewals.append(BackgroundThread(lambda: _replace(session)))
        _renewals[-1].start()


_renewals: deque[BackgroundThread] = deque(maxlen=1)
"""The thread that ends a session, or has ended the last one."""


def _may_end(session: Session) -> bool:
    """Return whether a session has no regions to which all of its samples belong."""
    return not session.covers and not is_of_program(session.counters)


def _end(session: Session) -> bool:
    """End a session that may end, unless it is over."""
    from profkit.session.manager import MANAGER

    with MANAGER.lock:
        if MANAGER.session is not session or not _may_end(session):
            return False
        MANAGER.end_session()
        return True


def _replace(session: Session) -> None:
    """End a session, and begin another if requests are in progress, such as a stream of events."""
    from profkit.session.manager import MANAGER

    if _end(session):
        for counters in session.counters:
            if counters.open_runs:
                MANAGER.enter(counters, own=0)


PRIVATE_HEADERS: Sequence[tuple[str, str]] = (
    ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")
)  # fmt: skip
"""Headers of each answer to who has the token, which may be in its URL."""
PAGE_HEADERS: Sequence[tuple[str, str]] = (
    ("Content-Type", "text/html; charset=utf-8"),
    *PRIVATE_HEADERS,
    ("X-Content-Type-Options", "nosniff"),
)
RUN_HEADER = "Profkit-Run"
_FAILED = "503 Service Unavailable"
_LOGGED = "The server's log says why."


def answer_headers(run_id: str | None) -> list[tuple[str, str]]:
    """Return the headers to add to an application's own answer to who has the token."""
    return [*PRIVATE_HEADERS, *(() if run_id is None else ((RUN_HEADER, run_id),))]


class Page:
    """Page about a request: a status, headers and a body."""

    def __init__(self, status: str, text: str, run_id: str | None) -> None:
        self.status, self.body = status, text.encode("utf-8", "replace")
        run = () if run_id is None else ((RUN_HEADER, run_id),)
        self.headers = (*PAGE_HEADERS, *run, ("Content-Length", str(len(self.body))))

    @property
    def code(self) -> int:
        """Number of the status."""
        return int(self.status.partition(" ")[0])


def page_of(profiled: Profiled, *, source: bool) -> Page:
    """Return the page of a request that has ended; this takes a while, and waits for the sampler."""
    try:
        run = profiled.run()
    except ProfkitError as error:
        LOG.warning("a profiled request has no page: %s", error)
        return _failed(f"The profile of this request cannot be read. {_LOGGED}")
    if run is None:
        return _failed(f"This request could not be profiled. {_LOGGED}")
    return Page("200 OK", _rendered(run, source=source), run.info.id)


def _failed(sentence: str) -> Page:
    return Page(_FAILED, f"<!DOCTYPE html><title>profkit</title><p>{html.escape(sentence)}</p>\n", None)


def _rendered(run: Run, *, source: bool) -> str:
    """Return the report of a run: whole if source is allowed, else without data about the machine."""
    from profkit.cli.scrubbing import scrubbed_run
    from profkit.render.html.sampled import sampled_html

    ended = replace(run, info=replace(run.info, state=SessionState.SUCCESS)) if _is_over(run) else run
    return sampled_html([ended if source else scrubbed_run(ended)])


def _is_over(run: Run) -> bool:
    """Return whether all of the request is in its run, although its session goes on."""
    return run.info.state is SessionState.RUNNING
