"""Checks of the spool, the store and disks, in folders that exist, do not exist, or cannot be used."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.clock import ManualClock
from profkit.config import NOWHERE, Config, read_config
from profkit.doctor import storage, system
from profkit.doctor.storage import disk_check, disks_of, spool_check, storage_checks, store_check
from profkit.doctor.system import (
    PREFIX,
    ContainerFacts,
    SystemFacts,
    TrialFolder,
    can_use_home,
    nearest_folder,
    trial_folder,
    write_problem,
)
from profkit.errors import StoreUnavailable
from profkit.model.checkup import Check, Status
from profkit.store.database import MIGRATIONS
from profkit.store.runs import open_store
from tests.support.cli_runs import finished_session

UNWRITABLE = Path("/proc/spool")
"""A folder that not even root can make."""
NOT_CONTAINED = SystemFacts()
SESSION = "20261121T113217-4711-9f3a07c2"


def checked(config: Config, system: SystemFacts = NOT_CONTAINED) -> dict[str, Check]:
    return {check.name: check for check in storage_checks(config, system)}


@pytest.fixture
def no_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no folder for temporary files be writable, as on a read-only system."""

    def fail() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", fail)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a home folder that can be written to."""
    (tmp_path / "home").mkdir()
    return {"HOME": str(tmp_path / "home")}


def test_nothing_was_recorded_yet(config: Config, tmp_path: Path) -> None:
    checks = checked(config)
    assert {check.status for check in checks.values()} == {Status.OK}
    assert checks["spool"].found == f"{config.spool} does not exist, and can be created"
    assert checks["store"].found == f"{config.store_url} does not exist, and can be created"
    assert list(tmp_path.iterdir()) == [], "the checks leave nothing behind"


def test_a_spool_and_a_store(config: Config) -> None:
    finished_session(config, SESSION)
    open_store(config.store_url).close()
    before = sorted(config.spool.parent.rglob("*"))
    checks = checked(config)
    assert checks["spool"].status is Status.OK
    assert checks["spool"].found.startswith(f"{config.spool}, writable, ")
    assert checks["spool"].found.endswith(" of 1.00 GiB")
    assert checks["store"].found == f"{config.store_url}, writable, schema {MIGRATIONS[-1].name!r}"
    assert sorted(config.spool.parent.rglob("*")) == before


def test_a_spool_near_its_limit(config: Config) -> None:
    finished_session(config, SESSION)
    check = spool_check(replace(config, spool_limit="16KB"))
    assert (check.status, check.fix) == (Status.SHORTFALL, "profkit list")
    unlimited = spool_check(replace(config, spool_limit="0"))
    assert (unlimited.status, unlimited.found[-10:]) == (Status.OK, ", no limit")


def test_damaged_files_in_the_spool(config: Config) -> None:
    folder = config.spool / "damaged" / SESSION
    folder.mkdir(parents=True)
    (folder / "calls.jsonl").write_text("x" * 5000)
    check = spool_check(config)
    assert (check.status, check.fix) == (Status.SHORTFALL, f"ls -R {config.spool}/damaged")
    assert ", writable, 0 B of " in check.found, "damaged files do not count"


def test_a_limit_that_is_no_size(config: Config) -> None:
    check = checked(replace(config, spool_limit="much"))["spool"]
    assert (check.status, check.fix) == (Status.SHORTFALL, "unset PROFKIT_SPOOL_LIMIT")
    assert "'much' is not a size" in check.found
    assert check.cost == "the default limit of 1GB applies"


def test_a_spool_that_cannot_be_written(config: Config, tmp_path: Path, home: dict[str, str]) -> None:
    check = spool_check(replace(config, spool=UNWRITABLE), home)
    assert (check.status, check.fix) == (Status.FAILED, "export PROFKIT_SPOOL=$HOME/.profkit/spool")
    assert check.found == "the spool /proc/spool cannot be used: No such file or directory"
    file = tmp_path / "file"
    file.touch()
    assert "Not a directory" in checked(replace(config, spool=file / "spool"))["spool"].found
    assert "Not a directory" in checked(replace(config, spool=file))["spool"].found


@pytest.mark.parametrize("value", [None, "", "relative", "/proc/home", "/dev/null"])
def test_a_home_folder_that_cannot_be_used(value: str | None, config: Config) -> None:
    environ = {} if value is None else {"HOME": value}
    assert not can_use_home(environ)
    unusable = replace(config, spool=UNWRITABLE, store_url="sqlite:////proc/store/runs.db")
    assert spool_check(unusable, environ).fix == "set PROFKIT_SPOOL to a folder that you can write to"
    assert store_check(unusable, environ).fix.startswith("set PROFKIT_STORE to sqlite:////FOLDER/runs.db")


def test_a_home_folder_that_can_be_used(home: dict[str, str]) -> None:
    assert can_use_home(home)
    assert os.listdir(home["HOME"]) == []


@pytest.mark.usefixtures("no_temporary_folder")
def test_no_folder_for_temporary_files(config: Config) -> None:
    checks = checked(config)
    check = checks["temporary files"]
    assert (check.status, check.fix) == (Status.SHORTFALL, "set TMPDIR to a folder that you can write to")
    assert check.found == "No usable temporary directory found in ['/tmp']"
    assert "disk" in checks, "the disks of other places are examined"
    docker = SystemFacts(ContainerFacts("docker"))
    assert checked(config, system=docker)["temporary files"].fix == "docker run --tmpfs /tmp …"


def test_a_disk_that_does_not_answer(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "statvfs", fail)
    assert disks_of(config) == []


def test_a_spool_of_another_user(config: Config) -> None:
    config.spool.mkdir(parents=True)
    check = checked(replace(config, owner=4711))["spool"]
    assert check.status is Status.FAILED
    assert "it belongs to user" in check.found
    assert check.fix.startswith("collect it with `profkit --owner ")


def test_a_current_folder_that_is_gone() -> None:
    checks = checked(read_config({}, None))
    assert (checks["spool"].status, checks["store"].status) == (Status.FAILED, Status.FAILED)
    assert "the current folder did not exist" in checks["spool"].found


@pytest.mark.parametrize(
    ("url", "words", "fix"),
    [
        ("sqlite:////proc/store/runs.db", "No such file or directory", "export PROFKIT_STORE="),
        ("mysql://u:secret@h/d", "mysql://u:***@h/d: only sqlite and postgresql", "export PROFKIT_STORE="),
        ("nonsense", "it is not a database URL", "export PROFKIT_STORE="),
    ],
)
def test_stores_that_cannot_be_used(
    url: str, words: str, fix: str, config: Config, home: dict[str, str]
) -> None:
    check = store_check(replace(config, store_url=url), home)
    assert check.status is Status.FAILED
    assert words in check.found
    assert check.fix.startswith(fix)


def test_a_store_that_is_damaged_or_newer(config: Config) -> None:
    file = Path(config.store_url.removeprefix("sqlite:///"))
    open_store(config.store_url).close()
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO profkit_migrations VALUES ('999 later', 1)")
    connection.close()
    check = checked(config)["store"]
    assert (check.status, check.fix) == (Status.FAILED, "upgrade profkit")
    file.write_bytes(b"no database" * 1000)
    assert "file is not a database" in checked(config)["store"].found


def test_a_driver_that_is_not_installed(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(url: str) -> None:
        fix = "install the driver with `pip install 'profkit[postgres]'`"
        raise StoreUnavailable(url, f"No module named 'psycopg'; {fix}")

    monkeypatch.setattr(storage, "inspect_database", fail)
    check = store_check(replace(config, store_url="postgresql://h/d"))
    assert check.found == "postgresql://h/d: No module named 'psycopg'"
    assert check.fix == "install the driver with `pip install 'profkit[postgres]'`"


def test_a_store_without_tables(config: Config) -> None:
    file = Path(config.store_url.removeprefix("sqlite:///"))
    file.parent.mkdir()
    file.touch()
    check = checked(config)["store"]
    assert check.status is Status.OK
    names = ", ".join(migration.name for migration in MIGRATIONS)
    assert check.found.endswith(f"the next command applies {names!r}")
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()


def test_little_space() -> None:
    check = disk_check(Path("/"), 2**29, 2**35)
    assert (check.status, check.fix) == (Status.SHORTFALL, "profkit gc --older-than 7d")
    assert check.found == "512 MiB free of 32.0 GiB at /"


def test_folders_that_do_not_exist(tmp_path: Path) -> None:
    assert nearest_folder(tmp_path) == tmp_path
    assert nearest_folder(tmp_path / "a" / "b") == tmp_path
    assert write_problem(tmp_path / "a") is None
    assert write_problem(NOWHERE / "spool") is not None


def test_the_folder_of_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with trial_folder(tmp_path / "spool") as name:
        assert Path(name).parent == tmp_path
        assert Path(name).name.startswith(PREFIX)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with trial_folder(UNWRITABLE) as name:
        assert Path(name).parent == tmp_path
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(OSError, match="No such file or directory"):
        trial_folder(UNWRITABLE)


def test_a_folder_of_trials_is_removed_although_a_sampler_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", lambda _: None)  # new files came meanwhile
    clock = ManualClock()
    with TrialFolder(tmp_path, clock) as name:
        Path(name, "late").touch()
    assert list(tmp_path.iterdir()) == []
    assert 0 < clock.monotonic_s() < 1
    monkeypatch.setattr(system.shutil, "rmtree", lambda *_, **__: None)
    stays = TrialFolder(tmp_path, clock)  # as long as it is referenced; then tempfile removes it
    with stays as name:
        pass
    assert [folder.name for folder in tmp_path.iterdir()] == [Path(name).name]
    assert clock.monotonic_s() > 5, "it gives up"
