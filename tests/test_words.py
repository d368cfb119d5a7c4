"""The words of the project: no archaic or private ones where the field has a plain word.

`docs/architecture.md` has the glossary; D401 of ruff's rules holds that docstrings begin with a verb.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PLAIN = {
    r"mend(s|ed|ing)?": "fix",
    r"tells?|told|telling|retold|untold": "say, report, show, distinguish",
    r"remed(y|ies)|cures?": "fix",
    r"doubts?|doubtful": "warning",
    r"sentr(y|ies)": "control",
    r"manners?": "design, variant",
    r"parcels?": "payload",
    r"bears?|hands? (on|over)|handed|keeps? apart|kept apart": "has, passes, separates",
    r"stands? (above|below|there|here|beside|before|at|alone|out|on)": "is",
    r"for good|give or take|as one has it|as yet|whatever|likewise": "the exact term",
    r"in turns": "alternately",
    r"indicative": "unconfirmed",
    r"amid|hence|hither|lest|nigh|ought|shall|thence|thereof|thus|unto|upon|whence|whilst": "plain English",
}
"""Archaic and private words, as regular expressions, and what to write."""

ALLOWED = {
    "profkit/cli/files.py": {"tell"},  # a method of files
    "profkit/measuring/worker/state.py": {"tell"},  # a method of files
    "benchmarks/programs/changing_functions.py": {"tell"},  # a method of files
    "benchmarks/programs/pure_functions.py": {"tell"},  # a method of files
}
"""Words that a file may have, by its path."""

_WORD = re.compile(rf"\b({'|'.join(PLAIN)})\b", re.IGNORECASE)


def prose_files() -> list[Path]:
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
    return [*pages, *sorted((ROOT / "docs").rglob("*.md"))]


def code_files() -> list[Path]:
    return [
        path
        for folder in ("profkit", "benchmarks", "examples")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "node_modules" not in path.parts
    ]


def page_files() -> list[Path]:
    """The sources of HTML pages; the bundle is made of them."""
    page = ROOT / "profkit" / "render" / "html" / "page"
    return [
        path
        for pattern in ("page.html", "*.js", "*.css", "scripts/**/*.ts", "tests/*.ts")
        for path in sorted(page.glob(pattern))
    ]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the comments, strings and names of a Python file, each with its line."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string
        elif token.type == tokenize.NAME:
            yield token.start[0], token.string.replace("_", " ")


def found(path: Path, parts: Iterator[tuple[int, str]]) -> list[str]:
    place = str(path.relative_to(ROOT))
    allowed = ALLOWED.get(place, set())
    return [
        f"{place}:{line}: {match[0]}"
        for line, text in parts
        for match in _WORD.finditer(text)
        if match[0].lower() not in allowed
    ]


@pytest.mark.parametrize("path", code_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_has_plain_words(path: Path) -> None:
    assert found(path, texts(path)) == []


@pytest.mark.parametrize("path", page_files(), ids=lambda path: path.name)
def test_html_pages_have_plain_words(path: Path) -> None:
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    assert found(path, lines) == []


@pytest.mark.parametrize("path", prose_files(), ids=lambda path: path.name)
def test_pages_have_plain_words(path: Path) -> None:
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    assert found(path, lines) == []


def test_the_list_finds_what_it_names() -> None:
    assert _WORD.search("It tells of a doubt.")
    assert not _WORD.search("A totally standard satellite, mentioned as amendment.")
