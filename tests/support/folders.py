"""Folders of the checkout that tests read, and files that they write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
GOLDEN = TESTS / "golden"
SAMPLES = TESTS / "samples"
"""Files that other tools have written, with shortened paths."""
REGRESSIONS = TESTS / "regressions"


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files with these texts, by their paths in a folder; return the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
