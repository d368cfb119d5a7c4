from __future__ import annotations

import platform
import sys

import pytest

from profkit.measuring.worker import instrumented as module
from profkit.measuring.worker.instrumented import aarch64_code, instrumented, x86_64_code


def test_the_result_is_the_functions() -> None:
    made = object()
    before = sys.getrefcount(made)
    assert [instrumented(lambda: made) is made for _ in range(3)] == [True] * 3
    assert sys.getrefcount(made) == before, "no reference is lost or kept"


def test_exceptions_pass_through() -> None:
    with pytest.raises(ZeroDivisionError):
        instrumented(lambda: 1 / 0)
    assert instrumented(lambda: instrumented(lambda: 3)) == 3


def test_other_machines_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(module, "_made", [])
    with pytest.raises(RuntimeError, match="x86_64 and aarch64, not on riscv64"):
        instrumented(int)


def test_code_for_both_machines() -> None:
    start, stop, call = 0x1122334455667788, 0x2233445566778899, 0x33445566778899AA
    request = "48 c1 c7 03 48 c1 c7 0d 48 c1 c7 3d 48 c1 c7 33 48 87 db"
    assert x86_64_code(start, stop, call).hex(" ") == (
        "53 41 54 48 83 ec 08 48 89 fb "
        f"48 b8 88 77 66 55 44 33 22 11 31 d2 {request} "
        "48 89 df 48 b8 aa 99 88 77 66 55 44 33 ff d0 49 89 c4 "
        f"48 b8 99 88 77 66 55 44 33 22 31 d2 {request} "
        "4c 89 e0 48 83 c4 08 41 5c 5b c3"
    )
    code = aarch64_code(start, stop, call)
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]
    assert len(words) == 32
    loads = [(at, word) for at, word in enumerate(words[:26]) if word >> 24 == 0x58]
    targets = [code[4 * (at + (word >> 5 & 0x7FFFF)) :][:8] for at, word in loads]
    assert [int.from_bytes(target, "little") for target in targets] == [start, call, stop]
    assert [word & 31 for _, word in loads] == [4, 8, 4]
