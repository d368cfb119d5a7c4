"""The renderers of measured runs by name; what `registry` is for sampled ones.

Several runs make one report, such as the orders that were measured together. A function imports its
module when called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profkit.model.measurement import MeasuredRun
from profkit.render.options import ReportOptions
from profkit.render.page import Page

MeasuredRenderer = Callable[[tuple[MeasuredRun, ...], ReportOptions, Page], str]


def _text(runs: tuple[MeasuredRun, ...], options: ReportOptions, page: Page) -> str:
    from profkit.render.measured.text import measured_text

    return measured_text(runs, options, page)


def _json(runs: tuple[MeasuredRun, ...], options: ReportOptions, page: Page) -> str:
    from profkit.render.measured.as_json import measured_json

    return measured_json(runs, options)


def _markdown(runs: tuple[MeasuredRun, ...], options: ReportOptions, _page: Page) -> str:
    from profkit.render.measured.markdown import measured_markdown

    return measured_markdown(runs, options)


def _html(runs: tuple[MeasuredRun, ...], options: ReportOptions, _page: Page) -> str:
    from profkit.render.html.measured import measured_html

    return measured_html(runs, options)


MEASURED_RENDERERS: Mapping[str, MeasuredRenderer] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "html": _html,
}
