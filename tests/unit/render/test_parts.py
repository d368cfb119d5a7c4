"""The small parts of reports: escapes, paths, numbers, bars, source lines, pages."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.model.histogram import NO_DURATIONS, Histogram
from profkit.render.escape import MAX_NAME, short, visible
from profkit.render.formatting import (
    alike,
    bar,
    columns,
    count,
    iso_moment,
    package_of,
    percent,
    place,
    rate,
    short_path,
)
from profkit.render.terminal import Terminal, terminal_of
from profkit.render.views.source import SourceLines
from profkit.stats import histogram_of

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_whatever_is_shown_prints(text: str) -> None:
    assert visible(text).isprintable()
    assert short(text).isprintable()
    assert len(short(text)) <= MAX_NAME


@given(ANY_TEXT.filter(str.isprintable))
def test_what_prints_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb", "a\\nb"),
        ("\u202eabc", "\\u202eabc"),
        ("\udc80", "\\udc80"),
        ("naïve 漢字 🚀", "naïve 漢字 🚀"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_name_loses_its_middle() -> None:
    assert short("begin" + "x" * 500 + "end", 11) == "begin…xxend"
    assert short("just fits", 9) == "just fits"


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
        ([1234.5, 1.0], ["1,234 s", "1 s"]),
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


SOURCE = "def f():\n\tif x:\n        return 1\x0c\n\n"


def written(path: Path, text: str | bytes, mtime_ns: int = 1) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, ns=(mtime_ns, mtime_ns))
    return path


def test_source_lines_without_indentation(tmp_path: Path) -> None:
    written(tmp_path / "a.py", SOURCE)
    source = SourceLines(10, str(tmp_path))
    # A form feed ends no line in Python.
    assert [source.line("a.py", n) for n in range(-1, 6)] == [
        None, None, "def f():", "if x:", "return 1", None, None,
    ]  # fmt: skip
    assert source.changed == set()


def test_no_source_of_a_file_that_changed_since(tmp_path: Path) -> None:
    path = str(written(tmp_path / "a.py", SOURCE, mtime_ns=11))
    source = SourceLines(10, "/")
    assert source.line(path, 1) is None
    assert source.changed == {path}


@pytest.mark.parametrize("name", ["a.py", "main.go", "id_rsa"])
def test_a_run_that_is_not_trusted_names_nothing(tmp_path: Path, name: str) -> None:
    path = str(written(tmp_path / name, "x = 1\n"))
    assert SourceLines(10, "/", trusted=False).line(path, 1) is None
    assert SourceLines(10, "/").line(path, 1) == "x = 1"


@pytest.mark.parametrize(
    ("file", "cwd", "shown"),
    [
        ("{root}/pkg/a.py", "/", "x = 1"),
        ("/home/bob/proj/pkg/a.py", "/home/bob/proj", "x = 1"),
        ("/home/bob/proj/pkg/a.py", "/home/bob", "x = 1"),
        ("/elsewhere/pkg/a.py", "/home/bob", "x = 1"),
        ("pkg/a.py", "", "x = 1"),
        ("/x/site-packages/pkg/a.py", "/", "x = 1"),
        ("../../pkg/a.py", "", "x = 1"),
        ("/home/bob/id_rsa", "/home/bob", None),
        ("/home/bob/secret.py", "/home/bob", None),
        ("{root}/../secret.py", "/", None),
        ("../secret.py", "", None),
        ("/home/bob/link.py", "/home/bob", None),
        ("/home/bob/folder/secret.py", "/home/bob", None),
        ("/home/bob/pipe.py", "/home/bob", None),
    ],
)
def test_source_below_a_root(tmp_path: Path, file: str, cwd: str, shown: str | None) -> None:
    root = tmp_path / "root"
    (root / "pkg").mkdir(parents=True)
    written(root / "pkg" / "a.py", "x = 1\n", mtime_ns=2**62)
    written(root / "id_rsa", "key\n")
    secret = written(tmp_path / "secret.py", "password\n")
    (root / "link.py").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.py")
    source = SourceLines(10, cwd, trusted=False, root=root)
    assert source.line(file.format(root=root), 1) == shown


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"# coding: no-such\nx = 1\n"])
def test_no_source_of_what_is_no_python(tmp_path: Path, content: bytes) -> None:
    path = str(written(tmp_path / "a.py", content))
    assert SourceLines(10, "/").line(path, 1) is None


@pytest.mark.parametrize(
    "file", ["<string>", "/no/such.py", "nul\0.py", "lone\udc80.py", "/dev/zero", "/tmp"]
)
def test_no_source_of_what_is_no_file(file: str) -> None:
    assert SourceLines(2**63, "/").line(file, 1) is None


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_colour(environ: dict[str, str], terminal: bool, pipe: bool) -> None:
    assert terminal_of(_Terminal(), environ).color is terminal
    assert terminal_of(io.StringIO(), environ).color is pipe


def test_only_terminals_have_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "123")
    assert terminal_of(_Terminal(), {}).width == 123
    assert terminal_of(io.StringIO(), {}) == Terminal(None, False)
    monkeypatch.setenv("COLUMNS", "7")
    assert terminal_of(_Terminal(), {}).width == 40
