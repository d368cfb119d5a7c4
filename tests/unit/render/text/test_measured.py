"""The text report of measured runs: golden files, every width, and text that tries to act on the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from profkit.model.function_counts import STATEMENT, PythonCounts
from profkit.model.measurement import MeasuredRun, MeasurementWarning, Preload, Tool, WarningCode
from profkit.model.workorder import Mode
from profkit.render.options import ReportOptions, Sort, Terminal
from profkit.render.registry import MEASURED
from profkit.render.views.measurement_warnings import warning_text
from tests.support.example_measured_runs import measured_on, program_run
from tests.support.example_measurements import (
    BUSY,
    COUNTS,
    DIFFER,
    ORDER,
    PLAIN_ZYGOTE,
    PYTHON_COUNTS,
    QUICK,
    batch,
    blocks,
    both,
    extremes,
    failed,
    hostile,
    measured,
    timing,
)
from tests.support.example_runs import HOSTILE
from tests.support.golden import check_golden

STYLES = re.compile(r"\x1b\[[0-9;]*m")
WIDTHS = (None, 40, 60, 80, 96, 120, 160)
EPYC, XEON = "AMD EPYC 7B13 × 8", "Intel(R) Xeon(R) × 4"
FLEET = [
    measured_on(*where, run)
    for where, run in zip([("node-1", EPYC), ("node-2", XEON), ("node-1", EPYC)], batch()[:3], strict=True)
]
EVERY: tuple[Sequence[MeasuredRun], ...] = (
    (both(),), batch(), extremes(), (failed(),), (hostile(),), (hostile(), both(), hostile()), (),
    *((run,) for run in extremes()), (program_run(),), (program_run(), both()), FLEET,
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("utc")


@pytest.mark.parametrize("width", [None, 60, 120])
@pytest.mark.parametrize("name", ["one", "batch"])
def test_report(name: str, width: int | None) -> None:
    runs = (both(),) if name == "one" else batch()
    page = "pipe" if width is None else f"width-{width}"
    check_golden(f"measured-{name}-{page}.txt", MEASURED.text(runs, terminal=Terminal(width)) + "\n")


def test_a_whole_program() -> None:
    text = MEASURED.text((program_run(),), terminal=Terminal(100))
    check_golden("measured-program-width-100.txt", text + "\n")


def test_what_is_rare() -> None:
    check_golden("measured-extremes-width-80.txt", MEASURED.text(extremes(), terminal=Terminal(80)) + "\n")


def test_a_batch_of_several_machines() -> None:
    check_golden("measured-fleet-width-120.txt", MEASURED.text(FLEET, terminal=Terminal(120)) + "\n")
    alike = [measured_on(run.info.process.host, EPYC, run) for run in FLEET]
    text = MEASURED.text(alike, terminal=Terminal(120))
    assert "machines  node-1, node-2\n" in text
    assert MEASURED.text([FLEET[0], FLEET[2]]).count("node-1") == 1


def test_colours() -> None:
    runs = batch()[:14]
    colored = MEASURED.text(runs, terminal=Terminal(100, color=True))
    check_golden("measured-color.txt", colored.replace("\x1b", "␛") + "\n")
    assert STYLES.sub("", colored) == MEASURED.text(runs, terminal=Terminal(100))


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_page(width: int | None) -> None:
    for runs in EVERY:
        for line in MEASURED.text(runs, terminal=Terminal(width)).split("\n"):
            assert cell_len(line) <= (width or 10_000)
            assert line == line.rstrip()


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_text_is_shown_not_obeyed(width: int | None) -> None:
    for runs in EVERY:
        text = MEASURED.text(runs, terminal=Terminal(width))
        assert all(line.isprintable() for line in text.split("\n"))
        colored = MEASURED.text(runs, terminal=Terminal(width, color=True))
        assert STYLES.sub("", colored) == text


def test_hostile_text_is_all_there_on_a_wide_page() -> None:
    text = MEASURED.text((hostile(),))
    for part in HOSTILE:
        assert "".join(part.splitlines()[:1]).encode("unicode_escape").decode("ascii")[:20] in text


@pytest.mark.parametrize("name", MEASURED.formats)
def test_every_renderer_writes_the_same_bytes_twice(name: str) -> None:
    for runs in EVERY:
        first, second = (MEASURED.renderer(name)(runs, ReportOptions(), Terminal(80)) for _ in range(2))
        assert first.encode() == second.encode()
        assert len(runs) != 1 or runs[0].info.id in first


def test_an_order_has_all_its_figures() -> None:
    text = MEASURED.text((both(),))
    for figure in (
        "1.231 µs", "±0.8 %", "95 % interval 1.231 µs to 1.251 µs", "10 processes × 20 blocks",
        "5 interpreters", "1,000 executions", "99 % of the wall time", "9 involuntary switches",
        "longest 2.339 µs", "560,934", "2 repeats agree", "8.5", "5,601", "4,999", "autograd=forward",
    ):  # fmt: skip
        assert figure in text
    assert "trust" not in text


def test_repeats_that_differ_are_reported() -> None:
    text = MEASURED.text((measured(None, replace(COUNTS, raw=(100_000, 100_500))),))
    assert "100,000, 100,500 · the repeats differ by 0.5 %" in text
    assert "1 repeat, so agreement is not known" in MEASURED.text(
        (measured(None, replace(COUNTS, raw=(7,))),)
    )


def test_events_and_cycles_are_shown_where_they_were_simulated() -> None:
    events = (("Ir", 5600.8), ("Dr", 1400.0), ("D1mr", 2.5), ("cycles", 61234.5))
    text = MEASURED.text((measured(None, replace(COUNTS, events=events)),))
    assert "events  Dr 1,400 · D1mr 2.5\n" in text
    assert "cycles  61,235 · as KCachegrind estimates them" in text
    assert "cycles" not in MEASURED.text((both(),))


def test_reasons_not_to_trust_come_before_what_is_relative() -> None:
    text = MEASURED.text((measured(timing(blocks(1e-6)), warnings=(QUICK, BUSY)),))
    assert re.search(r"\n *warning  1 of 10 processes.*\n *relative only  all processes", text)


def test_a_reason_that_several_orders_have_is_reported_once() -> None:
    text = MEASURED.text([measured(timing(blocks(1e-6)), warnings=(QUICK,), id=str(n)) for n in range(3)])
    assert text.count(warning_text(QUICK)) == 1
    assert "~ relative only  all orders · all processes (2) share" in text


def test_marks_are_where_the_warnings_are_about() -> None:
    runs = [
        measured(timing(blocks(1e-6)), COUNTS, (warning,), replace(ORDER, label=label))
        for label, warning in (("quick", QUICK), ("busy", BUSY), ("uneven", DIFFER))
    ]
    times, _, counts = MEASURED.text(runs).partition("\nInstructions")
    assert {"\n~  quick ", "\n!  busy ", "\n   uneven "} <= set(re.findall(r"\n[~! ]  \w+ ", times))
    assert {"\n   quick ", "\n   busy ", "\n!  uneven "} <= set(re.findall(r"\n[~! ]  \w+ ", counts))


def test_sentences_that_differ_in_figures_alone_are_cut() -> None:
    runs = [
        measured(
            timing(blocks(1e-6)),
            warnings=(MeasurementWarning.of(WarningCode.SWITCHES, per_s=n, switches=n),),
            order=replace(ORDER, label=f"order {n}"),
        )
        for n in range(9)
    ]
    text = MEASURED.text(runs)
    assert text.count("preempted") == 3
    assert " the same · order 3, order 4, order 5, order 6, order 7, order 8" in text
    assert MEASURED.text(runs[:4]).count("preempted") == 4


def test_sentences_name_orders_that_share_a_label() -> None:
    orders = [
        measured(timing(blocks(1e-6)), warnings=(QUICK,) if threads == 2 else (), order=order)
        for threads in (1, 2)
        for order in (replace(ORDER, num_threads=threads),)
    ]
    assert "~ relative only  x + y (2 threads) · all processes" in MEASURED.text(orders)


def test_intervals_that_nobody_has_take_no_room() -> None:
    text = MEASURED.text([measured(timing(blocks(1e-6, 3)), id=name) for name in "ab"])
    assert "interval" not in text
    assert "±" not in text


def test_functions_are_ordered_and_limited_as_asked() -> None:
    def first(options: ReportOptions) -> list[str]:
        rows = MEASURED.text((both(),), options).partition("Hottest functions")[2].split("\n")[2:]
        return [row for row in rows if row]

    assert "TensorIteratorBase" in first(ReportOptions())[0]
    assert "_PyEval_EvalFrameDefault" in first(ReportOptions(sort=Sort.TOTAL))[0]
    limited = first(ReportOptions(limit=2))
    assert (len(limited), limited[-1]) == (3, "… and 4 more functions")


def test_many_orders_show_functions_only_on_request() -> None:
    assert "report one order, or set a limit" in MEASURED.text(batch())
    asked = MEASURED.text(batch(), ReportOptions(limit=1))
    assert asked.count("\nHottest functions of ") == sum(run.info.order.mode.counts for run in batch())
    assert "\nHottest functions of x + y" in MEASURED.text((both(), failed()))


def test_a_failure_shows_what_the_worker_wrote_with_its_indentation() -> None:
    text = MEASURED.text((failed(),))
    assert '\n    Traceback (most recent call last):\n      File "<stmt>", line 1, in <module>\n' in text
    assert "nothing" not in text
    several = MEASURED.text((both(), failed("first"), failed("second")))
    assert several.index("Failed  first") < several.index("Failed  second")


def test_a_failure_is_in_one_table() -> None:
    broken = failed()
    order = replace(broken.info.order, mode=Mode.CALLGRIND)
    counted = MEASURED.text((both(), replace(broken, info=replace(broken.info, order=order))))
    times, _, counts = counted.partition("\nInstructions")
    assert "broken" not in times
    assert re.search(r"\nbroken +1 / 0|\nbroken +failed", counts)
    assert MEASURED.text((both(), broken)).count("  failed\n") == 1


def test_a_long_failure_loses_its_middle() -> None:
    error = "\n".join(["it failed", *(f"    line {n}" for n in range(500))])
    text = MEASURED.text((replace(failed(), info=replace(failed().info, error=error)),))
    assert "    … 420 more lines\n" in text
    assert text.endswith("line 499")


def test_no_numbers_are_said() -> None:
    assert MEASURED.text((measured(timing([[]])),)).endswith("it ended before a block was measured.")
    assert MEASURED.text(()) == "Nothing was measured."


def test_orders_are_distinguished_by_what_differs() -> None:
    other = replace(PLAIN_ZYGOTE, preload=Preload.TORCH, packages=(("torch", "2.12.0"),))
    slow = measured(timing(blocks(2e-6), measured_in=other))
    orders = [
        measured(timing(blocks(1e-6)), order=replace(ORDER, labels=(("autograd", "forward"),))),
        replace(slow, info=replace(slow.info, order=replace(ORDER, labels=(("autograd", "backward"),)))),
    ]
    text = MEASURED.text(orders)
    assert "x + y: 2 runs" in text
    assert "forward, torch 2.13.0+cpu" in text
    assert "backward, torch 2.12.0" in text
    assert "timed in" not in text
    assert "setup  import torch" in text


def test_where_numbers_come_from_is_reported() -> None:
    ours = replace(PLAIN_ZYGOTE, isolated=False, preload=Preload.NOTHING, packages=())
    assert "the caller's own process, not isolated" in MEASURED.text(
        (measured(timing(blocks(1.0), measured_in=ours)),)
    )
    plain = replace(PLAIN_ZYGOTE, tool=Tool.VALGRIND, preload=Preload.NOTHING, packages=())
    text = MEASURED.text((measured(None, replace(COUNTS, measured_in=plain)),))
    assert "counted in  processes under Valgrind, nothing preloaded · Python 3.11.2\n" in text


def test_a_function_is_shown_where_it_is_defined() -> None:
    order = replace(
        ORDER, what="vision.data:load(path, rng)", file="/home/ada/vision/vision/data.py", line=30
    )
    assert "function  vision/data.py:30 · vision.data:load(path, rng)" in MEASURED.text(
        (measured(timing(blocks(1.0)), order=order),)
    )


SECONDS = st.floats(0, 1e7, allow_nan=False)
TIMES = st.lists(st.lists(SECONDS, max_size=4), max_size=8)


@given(st.lists(TIMES, min_size=1, max_size=5), st.sampled_from(WIDTHS))
def test_any_times_have_a_report(orders: list[list[list[float]]], width: int | None) -> None:
    runs: list[MeasuredRun] = [measured(timing(times)) for times in orders]
    text = MEASURED.text(runs, terminal=Terminal(width))
    assert all(cell_len(line) <= (width or 10_000) for line in text.split("\n"))


@given(st.floats(-1e15, 1e15), st.lists(st.integers(0, 10**15), max_size=9), st.sampled_from(WIDTHS))
def test_any_counts_have_a_report(net: float, raw: list[int], width: int | None) -> None:
    run = measured(None, replace(COUNTS, net=net, stripped=net / 2, baseline=-net, raw=tuple(raw)))
    for runs in ((run,), (run, both())):
        text = MEASURED.text(runs, terminal=Terminal(width))
        assert all(cell_len(line) <= (width or 10_000) for line in text.split("\n"))


def test_python_functions_come_before_native_ones() -> None:
    text = MEASURED.text((measured(None, replace(COUNTS, python=PYTHON_COUNTS)),))
    python, native = text.index("Hottest Python functions"), text.index("Hottest native functions")
    assert python < text.index("/home/u/app.py:12") < text.index(STATEMENT) < native
    assert "1.8 % more than without" in text
    assert "Hottest functions" not in text


def test_why_there_are_no_python_functions() -> None:
    text = MEASURED.text((measured(None, replace(COUNTS, python=PythonCounts(missing="it is too old"))),))
    assert "Hottest functions" in text
    assert "Instructions by Python function are missing: it is too old." in text
