"""The guides: the commands of each page lead to its picture, and those below them work in the same folder."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from benchmarks.first_picture import EXECUTE
from benchmarks.guide_shell import Shell
from benchmarks.guides import FOLDER, Guide, blocks_of, commands_of, read_guides
from tests.integration.harness import environment

GUIDES = read_guides()
MARKS = {
    "training-loop": [pytest.mark.torch, pytest.mark.full],
    "data-loader": [pytest.mark.torch, pytest.mark.full],
    "web-service": [pytest.mark.neighbours],
    "notebook": [pytest.mark.neighbours],
    "ci-gate": [pytest.mark.valgrind, pytest.mark.full],
    "compile-times": [pytest.mark.torch, pytest.mark.full],
    "many-workers": [pytest.mark.torch, pytest.mark.full],
}

SAID = {"many-workers": ["Rank 1 made the other one wait ", "Rank 1 sleeps in load (hang.py:"]}
"""Beginnings of sentences that the commands of a page print."""


@pytest.mark.sampler
@pytest.mark.parametrize(
    "guide", [pytest.param(guide, id=guide.name, marks=MARKS.get(guide.name, [])) for guide in GUIDES]
)
@pytest.mark.slow
def test_guide(guide: Guide, tmp_path: Path) -> None:
    guide.write(tmp_path)
    shell = shell_in(tmp_path)
    shell.run([command for command in guide.given if not command.startswith("pip install ")])
    shell.run([*guide.path[1:], *([EXECUTE] if guide.cells else []), *guide.later])
    guide.check(tmp_path)
    assert [words for words in SAID.get(guide.name, []) if words not in shell.printed()] == []


def shell_in(folder: Path) -> Shell:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return Shell(folder, environment(PATH=path), timeout_s=500)


@pytest.mark.neighbours
@pytest.mark.slow
def test_a_suite_on_dask(tmp_path: Path) -> None:
    commands: list[str] = []
    for block in blocks_of((FOLDER.parent / "fleet.md").read_text("utf-8")):
        if block.name:
            (tmp_path / block.name).write_text(block.text, "utf-8")
        elif block.language == "console":
            commands += [line for line in commands_of(block.text) if not line.startswith("pip install ")]
    shell = shell_in(tmp_path)
    shell.run(commands)
    listed = shell.printed().rpartition("\nrun ")[2]
    assert all(f" {label} " in listed for label in ("sort / hundred", "sort / thousand", "join")), listed


def test_each_page_is_in_the_index() -> None:
    pages = {page.stem for page in FOLDER.glob("*.md")} - {"index"}
    assert {guide.name for guide in GUIDES} == pages


def test_each_page_begins_with_the_installation_and_says_how_long_it_takes() -> None:
    index = (FOLDER / "index.md").read_text("utf-8")
    for guide in GUIDES:
        assert guide.install == "pip install profkit"
        text = (FOLDER / f"{guide.name}.md").read_text("utf-8")
        said = re.search(r"<!-- time -->\n\*([\d.]+ s) from `pip install`", text)
        assert said is not None, guide.name
        row = next(row for row in index.splitlines() if row.startswith(f"| [{guide.title}]") and "s |" in row)
        assert row.endswith(f"| {said[1]} |")
