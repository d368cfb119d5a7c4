"""The guides of the documentation as programs: their files, their commands, and the pictures that these make.

A page in `docs/guides` has files (blocks with a name after the language), commands (`console` blocks) and
cells (`ipython` blocks). A comment before its first commands names the picture. Commands below the comment
`<!-- given -->` make what the reader has before: a repository, or the libraries of the program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "guides"
TERMINAL = "terminal"
"""Name of the file with what the commands printed."""

_FENCE = re.compile(r"^(?:<!-- ([^\n]*) -->\n)?```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PICTURE = re.compile(r"first picture: (\S+) shows (\S+)")
_GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    comment: str
    """Text of the comment on the line above."""
    language: str
    name: str
    """Name of the file that the block is."""
    text: str


@dataclass(frozen=True, slots=True)
class Guide:
    """One page, as what a reader of it does."""

    name: str
    title: str
    picture: str
    """File that the first commands make."""
    shows: str
    """A name that is in the picture."""
    files: Mapping[str, str]
    given: tuple[str, ...]
    path: tuple[str, ...]
    """The commands to the picture, with `pip install` first."""
    later: tuple[str, ...]
    """Commands of the sections that follow."""
    cells: tuple[str, ...]
    """Cells of a notebook, up to the picture."""
    later_cells: tuple[str, ...]

    @property
    def install(self) -> str:
        """The command that installs profkit."""
        return self.path[0]

    def write(self, folder: Path) -> None:
        """Write the files of the page, and its cells as a notebook."""
        for name, text in self.files.items():
            (folder / name).write_text(text, "utf-8")
        if self.cells:
            (folder / "notebook.ipynb").write_text(_notebook(self.cells), "utf-8")

    def check(self, folder: Path) -> None:
        """Raise RuntimeError if the picture is missing, or does not show what it should."""
        picture = folder / self.picture
        text = picture.read_text("utf-8") if picture.exists() else ""
        if picture.suffix == ".ipynb" and text:
            text = json.dumps([cell["outputs"] for cell in json.loads(text)["cells"]])
        if self.shows not in text:
            raise RuntimeError(f"{self.name}: {self.picture} does not show {self.shows}")


def read_guides() -> list[Guide]:
    """Return all pages that lead to a picture, in the order of the index."""
    index = (FOLDER / "index.md").read_text("utf-8")
    names = dict.fromkeys(re.findall(r"^\| .*\]\(([\w-]+)\.md\)", index, re.MULTILINE))
    return [read_guide(FOLDER / f"{name}.md") for name in names]


def read_guide(page: Path) -> Guide:
    """Return one page."""
    text = page.read_text("utf-8")
    files: dict[str, str] = {}
    given: list[str] = []
    path: list[str] = []
    later: list[str] = []
    cells: list[str] = []
    picture = shows = ""
    for block in blocks_of(text):
        found = _PICTURE.fullmatch(block.comment)
        if found:
            picture, shows = found.groups()
            path += commands_of(block.text)
        elif block.language == "console":
            (given if block.comment == _GIVEN else later).extend(commands_of(block.text))
        elif block.language == "ipython":
            cells.append(block.text)
        elif block.name:
            files[block.name] = block.text
    if not path:
        raise ValueError(f"{page.name} has no commands to a first picture")
    title = text.partition("\n")[0].removeprefix("# ")
    shown = next((number for number, cell in enumerate(cells, 1) if cell.startswith("%%profiled")), 0)
    return Guide(
        page.stem, title, picture, shows, files, tuple(given), tuple(path), tuple(later),
        tuple(cells[:shown]), tuple(cells[shown:]),
    )  # fmt: skip


def blocks_of(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block(*groups) for groups in _FENCE.findall(page)]


def commands_of(block: str) -> list[str]:
    """Return the commands of a `console` block."""
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


def _notebook(cells: tuple[str, ...]) -> str:
    """Return cells as a notebook, in Jupyter's format 4."""
    document = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{number}",
                "metadata": {},
                "outputs": [],
                "source": cell.rstrip("\n"),
            }
            for number, cell in enumerate(cells)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1)
