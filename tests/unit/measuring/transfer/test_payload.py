"""What must not be copied is refused by its place, also in subclasses and deep inside of arguments."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gzip
import io
import mmap
import multiprocessing
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import pytest

from profkit.errors import CannotTravel
from profkit.measuring.transfer.payload import pack, pack_names
from profkit.measuring.worker.unpack import unpack


class TextFile(io.TextIOWrapper):
    pass


class Connection(sqlite3.Connection):
    pass


class Reader:
    """An object of a user's that holds something which cannot be copied."""

    def __init__(self, held: object) -> None:
        self.held = held


def take(thing: object) -> object:
    return thing


def numbers() -> Generator[int]:
    yield 1


def popen(folder: Path) -> subprocess.Popen[bytes]:
    with subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE) as child:
        return child


def copied(thing: object) -> Any:
    payload = pack(take, [thing])
    _, (copy,), _ = unpack(payload.fd)
    return copy


def text_of(folder: Path) -> Path:
    path = folder / "some.txt"
    path.write_text("a line\n" * 100)
    return path


HELD: dict[str, Callable[[Path], Any]] = {
    "text": lambda at: text_of(at).open(),
    "text being written": lambda at: text_of(at).open("w"),
    "bytes": lambda at: text_of(at).open("rb"),
    "raw": lambda at: text_of(at).open("rb", buffering=0),
    "subclass of a text file": lambda at: TextFile(text_of(at).open("rb")),
    "temporary file": lambda at: tempfile.NamedTemporaryFile(dir=at),  # noqa: SIM115 - the fixture closes it
    "temporary text file": lambda at: tempfile.TemporaryFile("w+", dir=at),  # noqa: SIM115
    "compressed file": lambda at: gzip.open(at / "a.gz", "wb"),  # noqa: SIM115
    "socket": lambda _: socket.socket(),
    "end of a pipe": lambda _: multiprocessing.Pipe()[0],
    "database": lambda _: contextlib.closing(sqlite3.connect(":memory:")),
    "subclass of a database": lambda _: contextlib.closing(sqlite3.connect(":memory:", factory=Connection)),
    "mmap": lambda _: mmap.mmap(-1, 4096),
}
OTHERS: dict[str, Callable[[Path], Any]] = {
    "lock": lambda _: threading.Lock(),
    "event": lambda _: threading.Event(),
    "generator": lambda _: numbers(),
    "thread": lambda _: threading.Thread(),
    "child process": popen,
    "C function": lambda _: ctypes.CDLL(None).getpid,
    "C library": lambda _: ctypes.CDLL(None),
}


@pytest.fixture
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[object]:
    made = {**HELD, **OTHERS}[request.param](tmp_path)
    with ExitStack() as stack:
        if request.param in HELD:
            made = stack.enter_context(made)
        yield made


@pytest.mark.parametrize("held", [*HELD, *OTHERS], indirect=True)
@pytest.mark.parametrize("around", [lambda it: it, Reader, lambda it: {"a": [1, (2, Reader(it))]}])
def test_it_is_refused_wherever_it_is(held: object, around: Callable[[object], object]) -> None:
    with pytest.raises(CannotTravel, match=r"argument 'thing' of take \("):
        pack(take, [around(held)])


@pytest.mark.parametrize("wrapped", [enumerate, iter, lambda file: map(str.strip, file)])
def test_iterators_over_files_are_refused(wrapped: Callable[[object], object], tmp_path: Path) -> None:
    with text_of(tmp_path).open() as file, pytest.raises(CannotTravel, match="open files"):
        pack(take, [wrapped(file)])


def test_an_open_file_is_not_read(tmp_path: Path) -> None:
    with text_of(tmp_path).open() as file:
        file.readline()
        with pytest.raises(CannotTravel, match="open files, sockets and connections are not copied"):
            pack(take, [file])
        assert len(file.readlines()) == 99


def test_the_place_is_named(tmp_path: Path) -> None:
    with text_of(tmp_path).open() as file, pytest.raises(CannotTravel) as caught:
        pack(take, [{"a": [Reader(file)]}])
    assert "(dict)['a'][0].held cannot be sent to another process: TextIOWrapper" in str(caught.value)


def test_names_of_a_statement(tmp_path: Path) -> None:
    payload = pack_names({"n": 3, "double": lambda n: 2 * n})
    function, args, names = unpack(payload.fd)
    assert (function, args, names["n"], names["double"](4)) == (dict, (), 3, 8)
    with (tmp_path / "file").open("w") as file, pytest.raises(CannotTravel) as refused:
        pack_names({"n": 3, "held": [file]})
    assert refused.value.what == "held (list)[0]"


def test_what_processes_share_is_not_copied() -> None:
    shared = SharedMemory(create=True, size=8)
    try:
        with pytest.raises(CannotTravel, match="objects that processes share"):
            pack(take, [shared])
    finally:
        shared.close()
        shared.unlink()


@pytest.mark.parametrize("made", [io.StringIO("some text"), io.BytesIO(b"some bytes")])
def test_files_in_memory_are_copied(made: io.StringIO | io.BytesIO) -> None:
    copy = copied(made)
    assert type(copy) is type(made)
    assert copy.getvalue() == made.getvalue()


def test_standard_streams_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)  # without pytest's
    assert copied(sys.stderr) is sys.stderr


@pytest.mark.parametrize("made", [asyncio.Queue, asyncio.Lock, asyncio.Event])
def test_asyncio_objects_that_nobody_uses_are_copied(made: Callable[[], object]) -> None:
    copy = copied(made())
    assert type(copy) is made


def test_an_event_loop_is_refused() -> None:
    with contextlib.closing(asyncio.new_event_loop()) as loop, pytest.raises(CannotTravel):
        pack(take, [loop])


@pytest.mark.parametrize("made", [io.StringIO, io.BytesIO, io.FileIO, type(None), type(...), type(numbers)])
def test_classes_of_c_code_go_by_name(made: type) -> None:
    copy = copied(made)
    assert copy is made


def test_a_class_of_c_code_that_no_module_has_is_refused() -> None:
    with pytest.raises(CannotTravel, match="its module has no class list_iterator"):
        pack(take, [type(iter([]))])
