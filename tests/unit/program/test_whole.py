"""The region of a whole program: its name, its label, its code."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.calls.options import settings
from profkit.model.region import RegionKind
from profkit.program.whole import program_region

CHOSEN = settings({"threads": True})


@pytest.mark.parametrize(
    ("argv", "orig_argv", "name", "label"),
    [
        (["-m", "-n", "1"], ["python", "-X", "dev", "-m", "timeit", "-n", "1"], "-m timeit", "timeit"),
        (["-m", "x"], ["python", "-mtimeit", "x"], "-m timeit", "timeit"),
        (["-m"], ["python", "-bmjson.tool"], "-m json.tool", "json.tool"),
        (["-m"], ["python", "-bm", "json.tool"], "-m json.tool", "json.tool"),
        (["-c", "a"], ["python", "-c", "pass", "a"], "-c", "-c"),
        (["-", "a"], ["python", "-", "a"], "-", "-"),
        ([""], ["python"], "-", "-"),
        ([], [], "-", "-"),
    ],
)
def test_programs_without_a_script(argv: list[str], orig_argv: list[str], name: str, label: str) -> None:
    region = program_region(CHOSEN, argv, orig_argv)
    assert (region.key.qualname, region.key.label, region.file, region.code) == (name, label, "", "")
    assert (region.kind, region.detached, region.all_threads) == (RegionKind.PROGRAM, True, True)
    assert not region.is_marked


def test_versions_of_a_script_differ_by_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "app.py"
    regions = []
    for text in ("pass", "pass", "print()"):
        script.write_text(text)
        regions.append(program_region(CHOSEN, ["app.py", "x"], ["python", "app.py", "x"]))
    assert regions[0] == regions[1] != regions[2]
    assert (regions[0].file, regions[0].key.label) == (str(script), "app.py")
    assert regions[0].id != regions[2].id


def test_a_script_that_cannot_be_read_has_no_version() -> None:
    assert program_region(CHOSEN, ["/nowhere/app.py"], ["python", "/nowhere/app.py"]).code == ""


def test_a_label_of_the_users() -> None:
    region = program_region(settings({"label": "nightly"}), ["-c"], ["python", "-c", "pass"])
    assert region.key.label == "nightly"
