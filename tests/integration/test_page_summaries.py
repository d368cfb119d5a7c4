"""The summary of a page, and what it opens on, in Chromium."""

from __future__ import annotations

from dataclasses import replace

from profkit.comparing.merged_runs import merge_runs
from profkit.model.profile import ProfileBuilder, Thread, ThreadState
from profkit.model.region import RegionKind
from profkit.model.run import Run
from profkit.render.html.sampled import sampled_html
from profkit.render.options import ReportOptions
from tests.integration.browser import PageOf, chromium, page_of
from tests.support.example_runs import made_run
from tests.support.example_worker_runs import waiting_rank
from tests.support.profile_strategies import frame_of

__all__ = ["chromium", "page_of"]


def test_a_page_opens_on_the_summary_of_the_whole_run(page_of: PageOf) -> None:
    builder, run = ProfileBuilder(), made_run()
    main, child = Thread(4242, 4242, "MainThread"), Thread(9, 9, "MainThread")
    builder.add((frame_of("main:8"), frame_of("wait@other:4")), main, 60, state=ThreadState.WAITING)
    builder.add((frame_of("main:9"),), main, 40, state=ThreadState.WORKING)
    builder.add((frame_of("tokenize:4"),), child, 100, state=ThreadState.WORKING)
    info = replace(run.info, region=replace(run.info.region, kind=RegionKind.PROGRAM), torn=0)
    whole = Run(info, builder.build(period_ns=1e7))

    page = page_of(sampled_html([whole]))
    summary, threads = page.locator("#panel-sentences"), page.get_by_label("Thread", exact=True)
    assert threads.locator("option:checked").inner_text().startswith("MainThread")
    assert "Child process 9 worked" in summary.inner_text()
    threads.select_option("1")
    assert "Child process" not in summary.inner_text()
    assert "tokenize (" in summary.inner_text()

    asked = page_of(sampled_html([whole], ReportOptions(thread="9"))).locator("#panel-sentences")
    assert "Child process" not in asked.inner_text()


def test_the_waits_of_calls_are_not_hidden(page_of: PageOf) -> None:
    page = page_of(sampled_html([merge_runs([waiting_rank(number, 20) for number in range(3)])]))
    assert page.get_by_label("Time", exact=True).input_value() == "all"
    assert "waits 80 % ±5 of the time for other ranks" in page.locator("#panel-sentences").inner_text()
