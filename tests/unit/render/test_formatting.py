"""Numbers, times, shares, paths and bars as reports show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.histogram import NO_DURATIONS, Histogram, histogram_of
from profkit.render.formatting import (
    alike,
    bar,
    columns,
    count,
    counts_alike,
    iso_moment,
    percent,
    place,
    range_of,
    rate,
    short_path,
    spread,
    switches,
    time_text,
    times_alike,
)
from profkit.transforms.origin import package_of


@pytest.mark.parametrize(
    ("file", "path", "package"),
    [
        ("/home/ada/app/train.py", "train.py", "train"),
        ("/home/ada/app/pkg/data.py", "pkg/data.py", "pkg"),
        ("/home/ada/application.py", "/home/ada/application.py", "application"),
        ("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py", "torch/nn/modules/linear.py", "torch"),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", "yaml/loader.py", "yaml"),
        ("/usr/lib/python3.13t/json/encoder.py", "json/encoder.py", "json"),
        ("/usr/lib/python3.11/lib-dynload/_json.so", "_json.so", "_json.so"),
        ("/usr/lib/python313.zip/json/encoder.py", "json/encoder.py", "json"),
        ("/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6"),
        ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap>", "importlib._bootstrap"),
        ("<string>", "<string>", "<string>"),
        ("", "", "?"),
    ],
)
def test_paths_as_people_say_them(file: str, path: str, package: str) -> None:
    assert short_path(file, "/home/ada/app") == path
    # A package is asked for only of libraries; of a program's file its own name has to do.
    assert package_of(file if not file.startswith("/home") else path) == package


def test_a_place_has_a_line_where_there_is_one() -> None:
    assert place("/a/b.py", 3, "/a") == "b.py:3"
    assert place("/a/b.py", 0, "/a/") == "b.py"
    assert place("", 3, "/a") == ""


@pytest.mark.parametrize(
    ("share", "samples", "text"),
    [
        (1.0, 10, "100 %"), (0.4321, 999, "43 %"), (0.4321, 1000, "43.2 %"), (0.0, 10, "0 %"),
        (0.004, 300, "<1 %"), (0.0004, 5000, "<0.1 %"), (0.005, 300, "0 %"), (0.0051, 300, "1 %"),
    ],
)  # fmt: skip
def test_percent_has_the_digits_that_the_samples_tell(share: float, samples: int, text: str) -> None:
    assert percent(share, samples) == text


def test_counts_and_rates() -> None:
    assert (count(1, "call"), count(1234, "call"), count(0)) == ("1 call", "1,234 calls", "0")
    assert (rate(97.44), rate(100.0), rate(1500.0), rate(0.25)) == (
        "97.4 Hz",
        "100 Hz",
        "1,500 Hz",
        "0.25 Hz",
    )


def test_moments_for_programs_are_utc() -> None:
    assert iso_moment(1_763_725_743_250_999_999) == "2025-11-21T11:49:03.250Z"


@pytest.mark.parametrize(
    ("durations_s", "texts"),
    [
        ([2.53, 0.0449, None, 0.0], ["2.53 s", "0.04 s", "", "0.00 s"]),
        ([0.0123, 0.0004], ["12.3 ms", "0.4 ms"]),
        ([89.0, 1.0], ["89.0 s", "1.0 s"]),
        ([129.0, 0.36, 0.0], ["2.15 min", "0.01 min", "0.00 min"]),
        ([1234.5, 1.0], ["20.6 min", "<0.1 min"]),
        ([3e-7, 1e-10], ["300 ns", "<1 ns"]),
        ([9.996], ["10.0 s"]),
        ([None], [""]),
        ([], []),
    ],
)
def test_durations_of_a_column_are_alike(durations_s: list[float | None], texts: list[str]) -> None:
    assert alike(durations_s) == texts


@pytest.mark.parametrize(
    ("part", "text"), [(0, ""), (1e-6, "▏"), (0.5, "██"), (0.53, "██▏"), (1, "████"), (2, "████")]
)
def test_bar(part: float, text: str) -> None:
    assert bar(part, 4) == text


def test_columns_show_a_distribution() -> None:
    assert columns(NO_DURATIONS, 8) == ""
    assert columns(histogram_of([1000]), 8) == "█"
    assert columns(Histogram(buckets=((10, 1), (11, 100), (17, 50))), 8) == "▁█     ▄"


@given(st.lists(st.integers(1, 10**12), min_size=1), st.integers(1, 20))
def test_columns_leave_nobody_out(durations_ns: list[int], cells: int) -> None:
    drawn = columns(histogram_of(durations_ns), cells)
    assert 1 <= len(drawn) <= cells
    assert drawn[0] != " "
    assert drawn[-1] != " "
    assert "█" in drawn


@pytest.mark.parametrize(
    ("duration_s", "text"),
    [
        (0.0, "0 s"),
        (0.3e-9, "0.300 ns"),
        (9.9996e-9, "10.00 ns"),
        (1.2344e-6, "1.234 µs"),
        (999.96e-6, "1,000 µs"),
        (0.0612345, "61.23 ms"),
        (86_400.0, "86,400 s"),
    ],
)
def test_one_time(duration_s: float, text: str) -> None:
    assert time_text(duration_s) == text


def test_times_share_a_unit_unless_they_are_too_far_apart() -> None:
    assert times_alike([1.2344e-6, None, 12.5e-6]) == ["1.234 µs", "", "12.500 µs"]
    assert times_alike([40e-9, 60e-3]) == ["40.00 ns", "60.00 ms"]
    assert times_alike([0.0, 1e-6]) == ["0.000 µs", "1.000 µs"]
    assert times_alike([0.0, None]) == ["0 s", ""]
    assert times_alike([]) == []


def test_counts_have_decimals_where_they_tell() -> None:
    assert counts_alike([5600.8, 100.2, None]) == ["5,601", "100", ""]
    assert counts_alike([5600.8, 31.0]) == ["5,600.8", "31.0"]
    assert counts_alike([7.0, 0.0, -3.0]) == ["7", "0", "-3"]
    assert counts_alike([5612.5]) + counts_alike([8.25]) == ["5,613", "8.3"], "as numbers.test.js expects"


def test_how_many() -> None:
    assert range_of([1], "process") == "1 process"
    assert range_of([10, 4], "process") == "4–10 processes"
    assert range_of([1000], "block") == "1,000 blocks"
    assert switches(2) == "2 involuntary switches"


def test_spread_is_as_high_as_there_are_values() -> None:
    assert spread([1.0, 1.1, 1.2, 2.0], 4) == "█  ▃"
    assert spread([3.0, 3.0], 8) == "█"


@given(st.lists(st.floats(0, 1e9), min_size=1), st.integers(1, 30))
def test_every_spread_fits_and_shows_both_ends(values: list[float], cells: int) -> None:
    shown = spread(values, cells)
    assert len(shown) in (1, cells)
    assert shown[0] != " " != shown[-1]
