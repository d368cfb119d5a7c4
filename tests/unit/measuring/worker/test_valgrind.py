from __future__ import annotations

import ctypes
import mmap
import os
import platform
from pathlib import Path

import pytest

from profkit.measuring.worker import valgrind


def test_requests_do_nothing_outside_valgrind() -> None:
    valgrind.prepare()
    assert not valgrind.running_on_valgrind()
    valgrind.start_instrumentation()
    valgrind.dump()
    assert [valgrind.toggle()(), valgrind.no_toggle()()] == [0, 0]


def test_no_page_is_writable_and_executable_at_once() -> None:
    valgrind.prepare()
    page = ctypes.cast(valgrind.toggle(), ctypes.c_void_p).value // mmap.PAGESIZE
    mappings = [line.split() for line in Path("/proc/self/maps").read_text("ascii").splitlines()]
    spans = [
        ([int(end, 16) // mmap.PAGESIZE for end in span.split("-")], rights) for span, rights, *_ in mappings
    ]
    assert [rights for (start, end), rights in spans if start <= page < end] == ["r-xp"]


def test_children_have_the_page_of_the_parent() -> None:
    valgrind.prepare()
    pid = os.fork()
    if pid == 0:
        os._exit(1 if valgrind.running_on_valgrind() else 42)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42


def test_other_machines_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(valgrind, "_requests", {})
    with pytest.raises(RuntimeError, match="x86_64 and aarch64, not on riscv64"):
        valgrind.prepare()


def test_code_for_both_machines() -> None:
    """As `objdump -d` and `llvm-mc --disassemble` read it back."""
    words = 0x1122334455667788
    assert valgrind.x86_64_code(words).hex(" ") == (
        "48 b8 88 77 66 55 44 33 22 11 31 d2 "
        "48 c1 c7 03 48 c1 c7 0d 48 c1 c7 3d 48 c1 c7 33 48 87 db 48 89 d0 c3"
    )
    assert valgrind.aarch64_code(words).hex(" ", 4) == (
        "44010058 030080d2 "
        "8c0dcc93 8c35cc93 8ccdcc93 8cf5cc93 4a010aaa e00303aa c0035fd6 1f2003d5 88776655 44332211"
    )
