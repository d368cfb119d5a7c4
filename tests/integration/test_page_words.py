"""Numbers on a page read as they do in the terminal."""

from __future__ import annotations

from random import Random

from profkit.render.words import percent
from profkit.units import format_bytes, format_duration
from tests.integration.browser import PageOf
from tests.integration.graph_page import page_html

FORMATTED = """([times, sizes, shares]) => {
  const { time, bytes, share } = profkit.format;
  return [times.map(time), sizes.map(bytes), shares.map(share)];
}"""


def test_times_sizes_and_shares_are_those_of_the_terminal(page_of: PageOf) -> None:
    random = Random(3)
    times = [10 ** random.uniform(-9, 6) for _ in range(300)] + [0, 90, 89.9, 1, 0.9994, 5399, 5400]
    sizes = [10 ** random.uniform(3, 14) for _ in range(100)]
    shares = [random.random() for _ in range(100)] + [1e-5, 0.00049, 0, 1]
    page = page_of(page_html())
    shown = page.evaluate(FORMATTED, [times, sizes, shares])
    assert shown == [
        [format_duration(time) for time in times],
        [format_bytes(size) for size in sizes],
        [percent(share, 1000) for share in shares],
    ]


def test_header_tells_the_run_in_short(page_of: PageOf) -> None:
    page = page_of(page_html())
    assert page.locator("h1").inner_text() == "train_step"
    facts = page.locator(".summary span").all_inner_texts()
    assert [facts[0], *facts[2:]] == [
        "train.py:42",
        "40 calls, 2.97 s wall time",
        "291 samples, 2.99 s seen",
        "pyspy 0.4.3",
    ]
