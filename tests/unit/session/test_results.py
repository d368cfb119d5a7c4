"""Results that are read again: the newest needs one folder, and few are kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from profkit.ingest import read
from profkit.session import results
from profkit.session.results import runs_in
from profkit.store.spool import MANIFEST

REGION = "0a1b2c3d"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the folders that are read, each of which has one run."""
    names: list[str] = []

    def read_runs(folder: Path, *, first_segment: int) -> Any:
        names.append(folder.name)
        region = SimpleNamespace(id=REGION)
        return SimpleNamespace(runs=[SimpleNamespace(info=SimpleNamespace(region=region), name=folder.name)])

    monkeypatch.setattr(read, "read_runs", read_runs)
    monkeypatch.setattr(results, "_READ", {})
    return names


def folders_in(path: Path, number: int) -> list[Path]:
    folders = [path / f"{each:03}" for each in range(number)]
    for folder in folders:
        folder.mkdir()
        (folder / MANIFEST).touch()
    return folders


def test_the_newest_run_needs_one_folder(tmp_path: Path, reads: list[str]) -> None:
    folders = folders_in(tmp_path, 5)[::-1]
    for _ in range(3):
        run: Any = next(runs_in(folders, REGION))
        assert run.name == "004"
    assert reads == ["004"]


def test_a_folder_that_is_gone_or_without_the_region_has_no_run(tmp_path: Path, reads: list[str]) -> None:
    folders = [tmp_path / "gone", *folders_in(tmp_path, 2)]
    found: list[Any] = list(runs_in(folders, REGION))
    assert [run.name for run in found] == ["000", "001"]
    assert list(runs_in(folders, "other")) == []


def test_few_results_are_kept(tmp_path: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "_MOST_READ", 3)
    folders = folders_in(tmp_path, 7)
    assert len(list(runs_in(folders, REGION))) == 7
    assert [folder.name for folder, _, _ in results._READ] == ["004", "005", "006"]
    assert len(list(runs_in(folders[4:], REGION))) == 3
    assert len(reads) == 7


def test_a_folder_that_has_changed_is_read_again(tmp_path: Path, reads: list[str]) -> None:
    (folder,) = folders_in(tmp_path, 1)
    next(runs_in([folder], REGION))
    (folder / "calls.jsonl").write_text("{}\n")
    next(runs_in([folder], REGION))
    assert reads == ["000", "000"]
    assert len(results._READ) == 1
