"""Opens of real files, as inotify reports them."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.samplers.helper.opens import Opens


@pytest.fixture
def opens() -> Iterator[Opens]:
    made = Opens()
    yield made
    os.close(made.descriptor)


def open_and_close(*paths: str | Path) -> None:
    for path in paths:
        os.close(os.open(path, os.O_RDONLY))


def test_opens_come_in_order_and_each_counts(opens: Opens, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.touch()
    second.touch()
    a, b = opens.watch(str(first)), opens.watch(str(second))
    assert opens.read() == []
    open_and_close(first, first, second, first, second, second)
    assert select.select([opens.descriptor], (), (), 30)[0], "it can be waited for"
    assert opens.read() == [a, a, b, a, b, b]
    assert opens.read() == []


def test_files_in_a_folder_are_not_the_folder(opens: Opens, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.touch()
    folder = opens.watch(str(tmp_path))
    open_and_close(inside, tmp_path, inside)
    assert opens.read() == [folder]
    with inside.open("w") as file:
        file.write("text")
    assert opens.read() == []


def test_threads_of_a_process_are_listed(opens: Opens) -> None:
    paths = [f"/proc/{os.getpid()}/{name}" for name in ("task", "stat")]
    task, stat = map(opens.watch, paths)
    for _ in range(3):
        os.listdir(paths[0])
        open_and_close(paths[1])
    open_and_close(f"{paths[0]}/{os.getpid()}/stat")
    assert opens.read() == [task, stat] * 3


def test_a_list_by_a_descriptor_is_no_open(opens: Opens) -> None:
    path = f"/proc/{os.getpid()}/task"
    descriptor = os.open(path, os.O_RDONLY)
    opens.watch(path)
    assert os.listdir(descriptor)
    os.close(descriptor)
    assert opens.read() == []


def test_a_file_that_is_missing(opens: Opens, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        opens.watch(str(tmp_path / "missing"))
