"""Files that broke an importer once, most of them found by the fault campaign: each is read or refused."""

from __future__ import annotations

from profkit.cli.files import import_formats
from tests.support.folders import REGRESSIONS
from tests.unit.formats.test_damaged import is_read_or_refused


def test_what_broke_an_importer_once_is_read_or_refused() -> None:
    for path in sorted(REGRESSIONS.glob("*/*")):
        name = None if path.parent.name == "any" else path.parent.name
        is_read_or_refused(path.read_bytes(), name)


def test_each_folder_is_named_like_an_importer() -> None:
    folders = {path.name for path in REGRESSIONS.iterdir() if path.is_dir()}
    assert folders
    assert folders <= {*import_formats(), "any"}
