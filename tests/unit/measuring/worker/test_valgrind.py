from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from collections.abc import Callable
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


@pytest.mark.parametrize("make", [valgrind._requests, valgrind._instrumenting])
def test_other_machines_are_named(monkeypatch: pytest.MonkeyPatch, make: Callable[[], object]) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(RuntimeError, match="x86_64 and aarch64, not on riscv64"):
        make.__wrapped__()  # type: ignore[attr-defined]


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


def test_the_result_is_the_functions() -> None:
    made = object()
    before = sys.getrefcount(made)
    assert [valgrind.instrumented(lambda: made) is made for _ in range(3)] == [True] * 3
    assert sys.getrefcount(made) == before, "no reference is lost or kept"


def test_exceptions_pass_through() -> None:
    with pytest.raises(ZeroDivisionError):
        valgrind.instrumented(lambda: 1 / 0)
    assert valgrind.instrumented(lambda: valgrind.instrumented(lambda: 3)) == 3


def test_code_of_calls_for_both_machines() -> None:
    start, stop, call = 0x1122334455667788, 0x2233445566778899, 0x33445566778899AA
    request = "48 c1 c7 03 48 c1 c7 0d 48 c1 c7 3d 48 c1 c7 33 48 87 db"
    assert valgrind.x86_64_call(start, stop, call).hex(" ") == (
        "53 41 54 48 83 ec 08 48 89 fb "
        f"48 b8 88 77 66 55 44 33 22 11 31 d2 {request} "
        "48 89 df 48 b8 aa 99 88 77 66 55 44 33 ff d0 49 89 c4 "
        f"48 b8 99 88 77 66 55 44 33 22 31 d2 {request} "
        "4c 89 e0 48 83 c4 08 41 5c 5b c3"
    )
    code = valgrind.aarch64_call(start, stop, call)
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]
    assert len(words) == 32
    loads = [(at, word) for at, word in enumerate(words[:26]) if word >> 24 == 0x58]
    targets = [code[4 * (at + (word >> 5 & 0x7FFFF)) :][:8] for at, word in loads]
    assert [int.from_bytes(target, "little") for target in targets] == [start, call, stop]
    assert [word & 31 for _, word in loads] == [4, 8, 4]
