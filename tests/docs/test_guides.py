"""The guides: the commands of each page lead to its picture, and those below them work in the same folder."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from benchmarks.first_picture import EXECUTE
from benchmarks.guide_shell import Shell
from benchmarks.guides import FOLDER, Guide, read_guides
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


@pytest.mark.sampler
@pytest.mark.parametrize(
    "guide", [pytest.param(guide, id=guide.name, marks=MARKS.get(guide.name, [])) for guide in GUIDES]
)
@pytest.mark.slow
def test_guide(guide: Guide, tmp_path: Path) -> None:
    guide.write(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = Shell(tmp_path, environment(PATH=path), timeout_s=500)
    shell.run([command for command in guide.given if not command.startswith("pip install ")])
    shell.run([*guide.path[1:], *([EXECUTE] if guide.cells else []), *guide.later])
    guide.check(tmp_path)


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
