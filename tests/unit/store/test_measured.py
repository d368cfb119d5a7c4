from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from profkit.errors import DamagedFile
from profkit.store.measured import keep_measured, measured_files, unfinished_names
from profkit.store.spool import session_folders
from tests.support.example_measured_runs import failed_run, measured_run
from tests.support.example_measurements import INFO
from tests.support.spool_folders import open_folder, read_measured, set_aside


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    for run in (measured_run("sur\udc80 \0 é 日"), failed_run(id="f1")):
        assert read_measured(keep_measured(tmp_path, run)) == run


def test_the_file_has_the_id_and_is_for_the_owner_alone(tmp_path: Path) -> None:
    path = keep_measured(tmp_path / "a" / "spool", measured_run())
    assert path == tmp_path / "a" / "spool" / f"{INFO.id}.measured.json"
    assert json.loads(path.read_text())["schema"] == "profkit.measured/1"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == [path.name]


def test_files_are_found_beside_everything_else(tmp_path: Path) -> None:
    assert measured_files(tmp_path / "none") == ()
    kept = [keep_measured(tmp_path, measured_run(id=run_id)) for run_id in ("a1", "b2")]
    (tmp_path / "c3.measured.json.new").touch()
    (tmp_path / "session").mkdir()
    set_aside(tmp_path, keep_measured(tmp_path, measured_run(id="d4")))
    assert list(measured_files(tmp_path)) == kept
    with open_folder(tmp_path) as spool:
        assert unfinished_names(spool) == ("c3.measured.json.new",)
    assert session_folders(tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("[]", "not a JSON object"),
        ("[" * 100_000, "recursion|Stack overflow"),
        ('{"schema": "profkit.measured/9"}', "its schema is 'profkit.measured/9', and this profkit reads"),
        ('{"schema": "profkit.measured/1", "info": 1, "measurement": null}', "info is not a JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "a1.measured.json"
    path.write_text(text)
    with pytest.raises(DamagedFile, match=problem) as told:
        read_measured(path)
    assert told.value.path == path


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile, match="No such file"):
        read_measured(tmp_path / "a1.measured.json")


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from profkit.store.measured import keep_measured
from tests.support.example_measured_runs import measured_run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    keep_measured(Path(sys.argv[1]), measured_run())
except OSError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []
