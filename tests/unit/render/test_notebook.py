"""What notebooks show: a frame with a page of its own, small however large the run is."""

from __future__ import annotations

import html
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from profkit import FunctionProfiler, profiled
from profkit.comparing.measured import compare_measured
from profkit.model.profile import Frame, Profile, Sample
from profkit.model.run import Run
from profkit.model.session import ResourcePoint
from profkit.render.html.sampled import sampled_html
from profkit.render.notebook import notebook_html
from tests.support.example_measured_comparisons import one_order
from tests.support.example_measurements import both, failed
from tests.support.example_runs import INFO, MAIN, hostile_run, made_run
from tests.support.example_sampled_comparisons import made_comparison
from tests.support.html_pages import HtmlPage, blocks_of, facts_of, read_page, weights_of

EMPTY_PAGE = len(html.escape(sampled_html([Run(INFO)])))
"""Of this, most is scripts."""


class _Frames(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def framed(shown: str | None) -> tuple[dict[str, str | None], HtmlPage]:
    assert shown is not None
    parser = _Frames()
    parser.feed(shown)
    (style, _), (tag, attributes) = parser.tags
    page = attributes.pop("srcdoc")
    assert (style, tag) == ("style", "iframe")
    assert page is not None
    return attributes, read_page(page)


def large_run() -> Run:
    """Depth 40, 5,000 stacks, 30,000 samples, a day of resources."""
    frames = tuple(Frame(f"function_{n}", f"/srv/app/module_{n % 50}.py", n) for n in range(1000))
    stacks = tuple(
        (*((n // 4 ** (6 - depth % 6) + depth) % 1000 for depth in range(40)), n % 1000) for n in range(5000)
    )
    samples = tuple(Sample((n * n) % 5000, 0) for n in range(30_000))
    points = tuple(ResourcePoint(n * 10**9, n * 0.5, n, 3) for n in range(86_400))
    profile = Profile(period_ns=1e7, frames=frames, stacks=stacks, threads=(MAIN,), samples=samples)
    return Run(INFO, profile, points)


def test_a_run_is_a_page_that_reaches_nothing_outside() -> None:
    attributes, page = framed(made_run()._repr_html_())
    assert attributes["sandbox"] == "allow-scripts"
    assert attributes["title"] == "profkit: train_step"
    assert page.head["runs"][0]["total"] == 291
    assert page.head["runs"][0]["ordered"]
    assert page.head["runs"][0]["notes"] == []


@pytest.mark.parametrize("shown", [hostile_run(), replace(made_run(), profile=None)])
def test_any_run_is_one_frame(shown: Run) -> None:
    framed(shown._repr_html_())


def test_a_large_run_is_made_small_and_says_so() -> None:
    run = large_run()
    shown = run._repr_html_()
    assert shown is not None
    assert len(shown) < EMPTY_PAGE + 150_000
    _, page = framed(shown)
    assert sum(weights_of(page).values()) == page.head["runs"][0]["total"] == 30_000
    assert page.head["runs"][0]["notes"] == [
        "Calls with less than 0.5 % of the samples are combined here. "
        "`profkit report 3f2a91c0de --html` shows all."
    ]
    assert "smaller calls" in page.head["functions"]["name"]
    assert len(page.head["runs"][0]["resources"]["at_s"]) <= 300


def test_measured_runs_and_measurements() -> None:
    run = both()
    _, page = framed(run._repr_html_())
    blocks = page.head["blocks"]
    assert dict(facts_of(blocks))["blocks"].endswith("1,000 executions each")
    assert run.measurement is not None
    _, alone = framed(run.measurement._repr_html_())
    assert blocks_of(alone.head["blocks"], "distribution") == blocks_of(blocks, "distribution")
    known = {name for name, _ in facts_of(alone.head["blocks"])}
    assert {"statement", "mode", "timed in"} <= known
    assert not known & {"started", "measurement", "process", "command"}
    _, page = framed(failed()._repr_html_())
    (failure,) = blocks_of(page.head["blocks"], "lines")
    assert "ZeroDivisionError" in failure["head"]


def test_comparisons() -> None:
    sampled = made_comparison(3)
    attributes, page = framed(sampled._repr_html_())
    assert attributes["title"] == f"profkit: {sampled.a.name} and {sampled.b.name}"
    assert page.head["comparison"]
    measured = compare_measured(*one_order(), ("main", "fast"))
    attributes, page = framed(measured._repr_html_())
    assert attributes["title"] == "profkit: main and fast"
    printer = Printer()
    measured._repr_pretty_(printer, False)
    assert printer.printed == "<comparison of main and fast>"


def test_a_large_comparison_is_made_small() -> None:
    comparison = replace(made_comparison(1), both=large_run().profile)
    shown = comparison._repr_html_()
    assert shown is not None
    assert len(shown) < EMPTY_PAGE + 200_000


class Printer:
    def __init__(self) -> None:
        self.printed = ""

    def text(self, text: str) -> None:
        self.printed += text


@pytest.mark.parametrize(
    ("shown", "line"),
    [
        (large_run(), "<run 3f2a91c0de of train_step: 40 calls, 2.97 s, 291 samples>"),
        (both(), "<run 5c1d0a77e2 of x + y: 1.24 µs (min 1.23 µs), 4,999 instructions>"),
        (both().measurement, "<x + y: 1.24 µs (min 1.23 µs), 4,999 instructions>"),
        (failed(), "<run deadbeef00 of broken>"),
    ],
)
def test_the_text_beside_the_page_is_one_line(shown: Run, line: str) -> None:
    printer = Printer()
    shown._repr_pretty_(printer, False)
    assert printer.printed == line


def test_hostile_names_stay_on_that_line() -> None:
    printer = Printer()
    hostile_run()._repr_pretty_(printer, False)
    assert printer.printed.isprintable()


def test_what_has_no_run_yet_has_no_page() -> None:
    assert FunctionProfiler()._repr_html_() is None
    assert profiled("never entered")._repr_html_() is None
    assert notebook_html("text") is None
