"""Pages of single requests, for whoever has the token: without source unless it is allowed."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from profkit.errors import ProfkitError
from profkit.integrations.web.requests import Profiled
from profkit.model.session import SessionState
from profkit.process.guard import LOG

if TYPE_CHECKING:
    from profkit.model.run import Run

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
