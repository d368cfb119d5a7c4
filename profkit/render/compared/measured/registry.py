"""The renderers of comparisons of measured runs by name. A function imports its module when called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profkit.model.comparison import MeasuredComparison
from profkit.render.options import ReportOptions
from profkit.render.page import Page

ComparedRenderer = Callable[[MeasuredComparison, ReportOptions, Page], str]


def _text(comparison: MeasuredComparison, options: ReportOptions, page: Page) -> str:
    from profkit.render.compared.measured.text import compared_text

    return compared_text(comparison, options, page)


def _json(comparison: MeasuredComparison, options: ReportOptions, _page: Page) -> str:
    from profkit.render.compared.measured.as_json import compared_json

    return compared_json(comparison, options)


def _markdown(comparison: MeasuredComparison, options: ReportOptions, _page: Page) -> str:
    from profkit.render.compared.measured.markdown import compared_markdown

    return compared_markdown(comparison, options)


def _html(comparison: MeasuredComparison, options: ReportOptions, _page: Page) -> str:
    from profkit.render.html.compared_measured import compared_html

    return compared_html(comparison, options)


COMPARED_MEASURED: Mapping[str, ComparedRenderer] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "html": _html,
}
