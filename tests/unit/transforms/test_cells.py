"""Notebook cells: names in place of files, and one identity for all."""

from __future__ import annotations

import linecache

import pytest

from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.session import CellName
from profkit.transforms.cells import (
    ANY_CELL,
    cell_name,
    is_cell,
    lines_of_cell,
    remember_cells,
    shown_file,
    with_cell_names,
)
from profkit.transforms.identity import file_identity
from profkit.transforms.origin import is_library_file, package_of

KERNEL = "/tmp/ipykernel_4711/2846712398.py"
TERMINAL = "<ipython-input-12-9e1622b385b6>"


@pytest.mark.parametrize("file", [KERNEL, TERMINAL, "In [3]", ANY_CELL])
def test_all_cells_have_one_identity(file: str) -> None:
    assert is_cell(file)
    assert file_identity(file) == ANY_CELL
    assert not is_library_file(file)


@pytest.mark.parametrize("file", ["", "/tmp/ipykernel_4711.py", "<stdin>", "In [3].py", "notebook/In [3]"])
def test_other_files_keep_theirs(file: str) -> None:
    assert not is_cell(file)
    assert file_identity(file) != ANY_CELL


def test_names_replace_files() -> None:
    names = {KERNEL: cell_name(3)}
    assert shown_file(KERNEL, names) == "In [3]"
    assert shown_file(KERNEL, {}) == KERNEL
    assert shown_file(TERMINAL, names) == "In [12]"
    assert package_of("In [3]") == "In [3]"
    builder = ProfileBuilder()
    builder.add((Frame("<module>", KERNEL, 2), Frame("f", "app.py", 7)), Thread(1, 1, "t"))
    profile = builder.build(period_ns=1e6)
    named = with_cell_names(profile, names)
    assert named.frames == (Frame("<module>", "In [3]", 2), Frame("f", "app.py", 7))
    assert with_cell_names(named, names) is named


def test_lines_are_those_that_were_compiled() -> None:
    linecache.cache[KERNEL] = 12, None, ["x = 1\n", "y = 2\n"], KERNEL
    try:
        remember_cells([CellName(KERNEL, "In [3]")])
        assert lines_of_cell("In [3]") == ("x = 1", "y = 2")
        assert lines_of_cell("In [4]") == ()
    finally:
        del linecache.cache[KERNEL]
