"""Lines of source files, and which files are never shown."""

from __future__ import annotations

import linecache
import os
from pathlib import Path

import pytest

from profkit.model.session import CellName
from profkit.render.views.source import SourceLines
from profkit.transforms.origin import remember_cells

SOURCE = "def f():\n\tif x:\n        return 1\x0c\n\n"


def written(path: Path, text: str | bytes, mtime_ns: int = 1) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, ns=(mtime_ns, mtime_ns))
    return path


def test_source_lines_without_indentation(tmp_path: Path) -> None:
    written(tmp_path / "a.py", SOURCE)
    source = SourceLines(10, str(tmp_path))
    # A form feed ends no line in Python.
    assert [source.line("a.py", n) for n in range(-1, 6)] == [
        None, None, "def f():", "if x:", "return 1", None, None,
    ]  # fmt: skip
    assert source.changed == set()


def test_cells_are_those_of_this_process(tmp_path: Path) -> None:
    linecache.cache["<cell>"] = 6, None, ["x = 1\n"], "<cell>"
    remember_cells([CellName("<cell>", "In [77]")])
    assert SourceLines(10, str(tmp_path), here=True).line("In [77]", 1) == "x = 1"
    assert SourceLines(10, str(tmp_path)).line("In [77]", 1) is None
    del linecache.cache["<cell>"]


def test_no_source_of_a_file_that_changed_since(tmp_path: Path) -> None:
    path = str(written(tmp_path / "a.py", SOURCE, mtime_ns=11))
    source = SourceLines(10, "/")
    assert source.line(path, 1) is None
    assert source.changed == {path}


@pytest.mark.parametrize("name", ["a.py", "main.go", "id_rsa"])
def test_a_run_that_is_not_trusted_names_nothing(tmp_path: Path, name: str) -> None:
    path = str(written(tmp_path / name, "x = 1\n"))
    assert SourceLines(10, "/", trusted=False).line(path, 1) is None
    assert SourceLines(10, "/").line(path, 1) == "x = 1"


@pytest.mark.parametrize(
    ("file", "cwd", "shown"),
    [
        ("{root}/pkg/a.py", "/", "x = 1"),
        ("/home/bob/proj/pkg/a.py", "/home/bob/proj", "x = 1"),
        ("/home/bob/proj/pkg/a.py", "/home/bob", "x = 1"),
        ("/elsewhere/pkg/a.py", "/home/bob", "x = 1"),
        ("pkg/a.py", "", "x = 1"),
        ("/x/site-packages/pkg/a.py", "/", "x = 1"),
        ("../../pkg/a.py", "", "x = 1"),
        ("/home/bob/id_rsa", "/home/bob", None),
        ("/home/bob/secret.py", "/home/bob", None),
        ("{root}/../secret.py", "/", None),
        ("../secret.py", "", None),
        ("/home/bob/link.py", "/home/bob", None),
        ("/home/bob/folder/secret.py", "/home/bob", None),
        ("/home/bob/pipe.py", "/home/bob", None),
    ],
)
def test_source_below_a_root(tmp_path: Path, file: str, cwd: str, shown: str | None) -> None:
    root = tmp_path / "root"
    (root / "pkg").mkdir(parents=True)
    written(root / "pkg" / "a.py", "x = 1\n", mtime_ns=2**62)
    written(root / "id_rsa", "key\n")
    secret = written(tmp_path / "secret.py", "password\n")
    (root / "link.py").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.py")
    source = SourceLines(10, cwd, trusted=False, root=root)
    assert source.line(file.format(root=root), 1) == shown


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"# coding: no-such\nx = 1\n"])
def test_no_source_of_what_is_no_python(tmp_path: Path, content: bytes) -> None:
    path = str(written(tmp_path / "a.py", content))
    assert SourceLines(10, "/").line(path, 1) is None


@pytest.mark.parametrize(
    "file", ["<string>", "/no/such.py", "nul\0.py", "lone\udc80.py", "/dev/zero", "/tmp"]
)
def test_no_source_of_what_is_no_file(file: str) -> None:
    assert SourceLines(2**63, "/").line(file, 1) is None
