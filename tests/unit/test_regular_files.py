"""Only regular files are opened; what can be read once is left to others."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from profkit.regular_files import open_regular, read_regular


def test_a_file_is_read_through_links_and_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", 100) == b"content"
    assert read_regular(str(tmp_path / "file"), 3) == b"con"


def test_a_link_can_be_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(tmp_path / "link", os.O_NOFOLLOW)


def test_devices_folders_and_sockets_are_refused(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "socket"))
    with listener:
        for path in (tmp_path / "socket", tmp_path, "/dev/null", "/dev/zero"):
            with pytest.raises(OSError, match="not a regular file"):
                open_regular(path)


def test_a_writer_of_a_pipe_still_waits_for_its_reader(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(pipe)
    with pytest.raises(OSError, match="No such device"):  # no reader has come
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 1)
