"""What is read from dumps of real programs is what Valgrind's own reader says."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from profkit.model.measurement import CallgrindDump
from tests.integration.callgrind_programs import (
    RECURSION,
    TEMPLATES,
    annotated,
    annotated_totals,
    compiled,
    dumps_of,
)
from tests.support.callgrind_files import read_callgrind

pytestmark = pytest.mark.valgrind

SIMULATED = ("--cache-sim=yes", "--branch-sim=yes")


@pytest.fixture(scope="module")
def recursion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(RECURSION, tmp_path_factory.mktemp("c") / "recursion.c", "-O1")


def rows(dump: CallgrindDump, inclusive: bool) -> dict[str, int]:
    """Rows as callgrind_annotate titles them."""
    return {
        f"{row.name} [{row.object}]" if row.object else row.name: (
            int(row.inclusive if inclusive else row.exclusive)
        )
        for row in dump.functions
    }


def assert_equal_to_annotate(path: Path) -> CallgrindDump:
    dump = read_callgrind(path)
    inclusive, exclusive = annotated(path, "--inclusive=yes"), annotated(path)
    assert rows(dump, inclusive=True) == inclusive
    # What was called in this dump but cost nothing by itself has no row of its own there.
    ours = rows(dump, inclusive=False)
    assert {name: ours[name] for name in exclusive} == exclusive
    assert not any(count for name, count in ours.items() if name not in exclusive)
    assert annotated_totals(path) == (dump.events, dump.totals)
    return dump


@pytest.mark.parametrize(
    "options",
    [
        (),
        SIMULATED,
        ("--dump-instr=yes",),
        ("--dump-instr=yes", "--dump-line=no"),
        ("--dump-instr=yes", "--collect-jumps=yes", *SIMULATED),
        ("--compress-strings=no", "--compress-pos=no"),
        ("--compress-strings=no", "--collect-jumps=yes", "--separate-recs=4"),
        ("--separate-callers=2",),
        ("--toggle-collect=fibonacci",),
    ],
    ids=lambda options: " ".join(options) or "plain",
)
def test_a_c_program(recursion: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    [path] = dumps_of([recursion], tmp_path, *options)
    dump = assert_equal_to_annotate(path)
    assert any(":fibonacci" in row.name for row in dump.functions)


def test_calls_are_added_up_between_two_functions(recursion: Path, tmp_path: Path) -> None:
    [path] = dumps_of([recursion], tmp_path, "--separate-recs=1")
    dump = read_callgrind(path)
    [called] = [row for row in dump.functions if row.name.endswith("recursion.c:fibonacci")]
    edges = [call for call in dump.calls if call.callee == called.name]
    from_main = [call for call in edges if call.caller.endswith("recursion.c:main")]
    assert sum(call.calls for call in from_main) == 20
    assert sum(call.calls for call in edges) == called.calls
    assert sum(call.inclusive for call in edges) == called.inclusive


def test_names_with_blanks_and_brackets(tmp_path: Path) -> None:
    program = compiled(TEMPLATES, tmp_path / "templates.cpp", "-O1")
    for options in ((), ("--compress-strings=no",)):
        *_, path = dumps_of([program], tmp_path, *options)
        dump = assert_equal_to_annotate(path)
        names = " ".join(row.name for row in dump.functions)
        assert "Less::operator()(int, char) const" in names
        assert "(anonymous namespace)::twice<" in names


def test_odd_bytes_in_a_name(tmp_path: Path) -> None:
    program = compiled(RECURSION, tmp_path / os.fsdecode(b"od\xffd \xe9.c"))
    [path] = dumps_of([program], tmp_path)
    dump = assert_equal_to_annotate(path)
    assert any(
        row.name.encode("utf-8", "surrogateescape").endswith(b"od\xffd \xe9.c:main") for row in dump.functions
    )


def test_a_python_program(tmp_path: Path) -> None:
    program = "import json; print(json.loads(json.dumps(dict.fromkeys(map(str, range(100))))))"
    [path] = dumps_of([sys.executable, "-I", "-S", "-c", program], tmp_path, *SIMULATED)
    assert assert_equal_to_annotate(path).instructions > 1_000_000


def test_dumps_in_the_midst_of_calls(recursion: Path, tmp_path: Path) -> None:
    """Calls that began before a dump have `calls=0` after it, whose cost is not the caller's own."""
    paths = dumps_of([recursion], tmp_path, "--dump-every-bb=3000", *SIMULATED)
    assert len(paths) >= 3
    begun_before = 0
    for path in paths:
        text = path.read_text()
        begun_before += text.count("calls=0 ")
        counted = path.with_name(f"counted-{path.name}")
        counted.write_text(re.sub(r"^calls=0 ", "calls=1 ", text, flags=re.MULTILINE))
        assert_equal_to_annotate(counted)
        assert rows(read_callgrind(path), inclusive=False) == rows(read_callgrind(counted), inclusive=False)
        assert rows(read_callgrind(path), inclusive=True) == rows(read_callgrind(counted), inclusive=True)
        if "calls=0 " in text:
            assert sum(annotated(path).values()) > sum(annotated(counted).values())
    assert begun_before


def test_several_dumps_in_one_file_are_added_up(recursion: Path, tmp_path: Path) -> None:
    options = ("--dump-every-bb=3000", *SIMULATED)
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    [path] = dumps_of([recursion], tmp_path / "one", "--combine-dumps=yes", *options)
    dump = read_callgrind(path)
    parts = [read_callgrind(part) for part in dumps_of([recursion], tmp_path / "many", *options)]
    assert dump.totals == tuple(map(sum, zip(*(part.totals for part in parts), strict=True)))
    added: Counter[str] = Counter()
    for part in parts:
        added.update({row.name: int(row.exclusive) for row in part.functions})
    assert {row.name: row.exclusive for row in dump.functions} == added
