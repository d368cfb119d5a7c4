"""The renderers of comparisons of sampled runs by name. A function imports its module when called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profkit.model.comparison import SampledComparison
from profkit.render.options import ReportOptions
from profkit.render.page import Page

ComparedSampledRenderer = Callable[[SampledComparison, ReportOptions, Page], str]


def _text(comparison: SampledComparison, options: ReportOptions, page: Page) -> str:
    from profkit.render.compared.sampled.text import compared_text

    return compared_text(comparison, options, page)


def _json(comparison: SampledComparison, options: ReportOptions, page: Page) -> str:
    from profkit.render.compared.sampled.as_json import compared_json

    return compared_json(comparison, options)


def _markdown(comparison: SampledComparison, options: ReportOptions, page: Page) -> str:
    from profkit.render.compared.sampled.markdown import compared_markdown

    return compared_markdown(comparison, options)


def _html(comparison: SampledComparison, options: ReportOptions, page: Page) -> str:
    from profkit.render.compared.sampled.as_html import compared_html

    return compared_html(comparison, options)


COMPARED_SAMPLED: Mapping[str, ComparedSampledRenderer] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "html": _html,
}
