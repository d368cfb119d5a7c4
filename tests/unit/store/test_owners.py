"""Folders and files of other users, and links that they could put in the place of one's own."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from profkit.cli.output import save
from profkit.config import HOME
from profkit.errors import SpoolUnavailable, StoreUnavailable, UsageError
from profkit.regular_files import open_own
from profkit.store import spool
from profkit.store.files import open_spool
from profkit.store.journal import append_records
from profkit.store.records import write_document
from profkit.store.runs import open_store
from tests.support.example_runs import made_run
from tests.unit.store.test_spool import manifest_of

NO_FOLDER = r"Not a directory|Too many levels"
OTHER = 65534
"""A user that is not this one."""


def as_other(path: Path) -> None:
    """Give a file or a link to another user."""
    os.chown(path, OTHER, OTHER, follow_symlinks=False)


@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_spool_that_others_can_change_is_not_used(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(SpoolUnavailable, match="other users can change it; `chmod o-w"):
        spool.create_folder(tmp_path, "session")
    assert os.listdir(tmp_path) == []


def test_a_spool_of_another_user_is_not_used(tmp_path: Path) -> None:
    as_other(tmp_path)
    with pytest.raises(SpoolUnavailable, match="it belongs to user nobody; set PROFKIT_SPOOL"):
        spool.create_folder(tmp_path, "session")


def test_a_link_of_another_user_in_the_place_of_a_spool_is_not_followed(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(0o700)
    link = tmp_path / HOME / "spool"
    link.parent.mkdir(0o700)
    link.symlink_to(private)
    as_other(link)
    with pytest.raises(PermissionError, match="a link of another user's"):
        spool.create_folder(link, "session")
    with pytest.raises(PermissionError, match="a link of another user's"):
        open_spool(link, os.geteuid())
    assert os.listdir(private) == []
    os.chown(link, os.geteuid(), -1, follow_symlinks=False)
    spool.create_folder(link, "session")
    assert os.listdir(private) == ["session"]


@pytest.mark.parametrize(("owner", "mode"), [(OTHER, 0o700), (0, 0o777)])
def test_nothing_is_made_in_a_folder_of_profkits_that_others_can_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: int, mode: int
) -> None:
    home = tmp_path / HOME
    home.mkdir()
    os.chown(home, owner, -1)
    home.chmod(mode)
    reason = "it belongs to user nobody" if owner else "other users can change it"
    with pytest.raises(PermissionError, match=reason):
        spool.create_folder(home / "spool", "session")
    with pytest.raises(StoreUnavailable, match=reason):
        open_store(f"sqlite:///{home}/runs.db")
    assert os.listdir(home) == []
    monkeypatch.setenv("PROFKIT_FILES", "umask")
    open_store(f"sqlite:///{home}/runs.db").close()
    assert sorted(os.listdir(home)) == [".gitignore", "runs.db"]


def test_a_page_does_not_replace_what_a_link_of_another_user_leads_to(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("important")
    page = tmp_path / "page.html"
    page.symlink_to("notes")
    as_other(page)
    with pytest.raises(UsageError, match="a link of another user's"):
        save(page, "<html>")
    assert (tmp_path / "notes").read_text() == "important"
    os.chown(page, os.geteuid(), -1, follow_symlinks=False)
    save(page, "<html>")
    assert (tmp_path / "notes").read_text() == "<html>"


def test_a_link_in_the_place_of_a_sessions_folder_is_not_followed(tmp_path: Path) -> None:
    """The attack: overwrite a file of root's with the name of one of a session's."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / spool.MANIFEST).write_text("important")
    folder = tmp_path / "session"
    folder.symlink_to(secret)
    with pytest.raises(OSError, match=NO_FOLDER):
        spool.write_manifest(folder, manifest_of())
    with pytest.raises(OSError, match=NO_FOLDER):
        append_records(folder / spool.CALLS, [manifest_of()])
    assert os.listdir(secret) == [spool.MANIFEST]
    assert (secret / spool.MANIFEST).read_text() == "important"


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("important")
    for name in (spool.CALLS, f"{spool.MANIFEST}.new"):
        (tmp_path / name).symlink_to("secret")
    with pytest.raises(OSError, match="Too many levels"):
        append_records(tmp_path / spool.CALLS, [manifest_of()])
    with pytest.raises(OSError, match="Too many levels"):
        write_document(tmp_path / spool.MANIFEST, "x/1", manifest_of())
    assert (tmp_path / "secret").read_text() == "important"


def test_a_folder_of_another_user_is_not_written(tmp_path: Path) -> None:
    as_other(tmp_path)
    with pytest.raises(PermissionError, match="another user"):
        open_own(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    assert os.listdir(tmp_path) == []


def test_a_store_of_another_user_is_read_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, run = f"sqlite:///{tmp_path}/runs.db", made_run()
    with open_store(url) as store:
        store.add([run])
    as_other(tmp_path / "runs.db")
    with open_store(url) as store:
        assert store.load(run.info.id) == run
        with pytest.raises(StoreUnavailable, match="it belongs to user nobody, who could read what is added"):
            store.remove([run.info.id])
    monkeypatch.setenv("PROFKIT_FILES", "umask")
    with open_store(url) as store:
        assert store.remove([run.info.id]) == 1


def test_a_store_in_another_users_folder_is_read_and_not_written(tmp_path: Path) -> None:
    """As root reads the runs of a user."""
    home = tmp_path / HOME
    url, run = f"sqlite:///{home}/runs.db", made_run()
    with open_store(url) as store:
        store.add([run])
    for path in (home, home / "runs.db"):
        as_other(path)
    with open_store(url) as store:
        assert store.load(run.info.id) == run
    os.chown(home / "runs.db", os.geteuid(), -1)
    with open_store(url) as store, pytest.raises(StoreUnavailable, match="it belongs to user nobody"):
        store.remove([run.info.id])


def test_a_link_of_another_user_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "runs.db").symlink_to(tmp_path / "elsewhere")
    as_other(tmp_path / "runs.db")
    with pytest.raises(StoreUnavailable, match="a link of another user's"):
        open_store(f"sqlite:///{tmp_path}/runs.db")
    assert not (tmp_path / "elsewhere").exists()


def test_another_programs_database_stays_as_it_is(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "app.db") as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    connection.close()
    before = (tmp_path / "app.db").read_bytes()
    (tmp_path / "runs.db").symlink_to("app.db")
    with pytest.raises(StoreUnavailable, match="another program's, with a table 'customers'"):
        open_store(f"sqlite:///{tmp_path}/runs.db")
    assert (tmp_path / "app.db").read_bytes() == before
