"""The renderers by name; the command line's choices derive from here.

A new renderer is one module and one line in `RENDERERS`. Its function imports the module when called,
so that asking for help costs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from profkit.model.run import Run
from profkit.render.options import ReportOptions
from profkit.render.page import Page

Renderer = Callable[[Run, ReportOptions, Page], str]
SessionRenderer = Callable[[Sequence[Run], ReportOptions, Page], str]


def _text(run: Run, options: ReportOptions, page: Page) -> str:
    from profkit.render.text.report import report_text

    return report_text(run, width=page.width, color=page.color, options=options)


def _json(run: Run, options: ReportOptions, page: Page) -> str:
    from profkit.render.as_json import report_json

    return report_json(run, options=options)


def _markdown(run: Run, options: ReportOptions, _page: Page) -> str:
    from profkit.render.markdown import report_markdown

    return report_markdown(run, options)


def _html(run: Run, options: ReportOptions, page: Page) -> str:
    return _html_of_session((run,), options, page)


def _html_of_session(runs: Sequence[Run], options: ReportOptions, _page: Page) -> str:
    from profkit.render.html.sampled import sampled_html

    return sampled_html(runs, options)


RENDERERS: Mapping[str, Renderer] = {"text": _text, "json": _json, "markdown": _markdown, "html": _html}

IN_ORDER = frozenset({"html"})
"""Names of renderers that show samples in the order in which they were taken."""

SESSION_RENDERERS: Mapping[str, SessionRenderer] = {"html": _html_of_session}
"""Those that show the other regions of a run's session as well; the run itself comes first."""

ENDINGS: Mapping[str, str] = {".html": "html", ".json": "json", ".md": "markdown"}
"""Of files, and the renderer that is meant where only the file is named."""
