"""The renderers of histories by name. A function imports its module when called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profkit.model.history import History
from profkit.render.options import ReportOptions
from profkit.render.page import Page

HistoryRenderer = Callable[[History, ReportOptions, Page], str]


def _text(history: History, options: ReportOptions, page: Page) -> str:
    from profkit.render.history.text import history_text

    return history_text(history, options, page)


def _json(history: History, options: ReportOptions, _page: Page) -> str:
    from profkit.render.history.as_json import history_json

    return history_json(history, options)


def _html(history: History, options: ReportOptions, _page: Page) -> str:
    from profkit.render.html.history import history_html

    return history_html(history, options)


HISTORY_RENDERERS: Mapping[str, HistoryRenderer] = {"text": _text, "json": _json, "html": _html}
