"""Call a function with Callgrind's instrumentation on during the call only, by machine code.

Callgrind loses track of the functions below the one in which instrumentation began, and ends with an error if
they are to be skipped (`--fn-skip`) when it returns to them. So it never sees them: the same function of
machine code starts instrumentation, calls, and stops it again.
"""

from __future__ import annotations

import ctypes
import platform
import struct
from collections.abc import Callable
from typing import TypeVar, cast

from .valgrind import (
    AARCH64_REQUEST,
    START,
    STOP,
    WORDS_BYTES,
    make_executable,
    new_page,
    unknown_machine,
    words_of,
    x86_64_request,
)

T = TypeVar("T")

_START_WORDS, _STOP_WORDS = 512, 576
"""Offsets in the page, behind the code."""


def instrumented(function: Callable[[], T]) -> T:
    """Call the function with instrumentation on and return its result; raises what it raises.

    Raises RuntimeError on machines whose requests are not known here.
    """
    if not _made:
        _made.append(_make(platform.machine()))
    return cast("T", _made[0](function))


_made: list[Callable[[object], object]] = []


def _make(machine: str) -> Callable[[object], object]:
    function_code = {"x86_64": x86_64_code, "aarch64": aarch64_code}.get(machine)
    if function_code is None:
        raise unknown_machine(machine)
    page, start = new_page()
    for offset, code in ((_START_WORDS, START), (_STOP_WORDS, STOP)):
        page[offset : offset + WORDS_BYTES] = words_of(code)
    call = ctypes.cast(ctypes.pythonapi.PyObject_CallNoArgs, ctypes.c_void_p).value
    assert call is not None
    machine_code = function_code(start + _START_WORDS, start + _STOP_WORDS, call)
    page[: len(machine_code)] = machine_code
    make_executable(page, start)
    # The GIL stays held, and a result of NULL raises the exception that is set.
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(start)


def x86_64_code(start_words: int, stop_words: int, call: int) -> bytes:
    """Return the code of a function that passes its argument to `call`, between two requests."""
    return b"".join(
        (
            bytes.fromhex("53 4154 4883ec08"),  # push rbx; push r12; sub rsp, 8: the stack is aligned
            bytes.fromhex("4889fb"),  # mov rbx, rdi
            x86_64_request(start_words),
            bytes.fromhex("4889df"),  # mov rdi, rbx
            b"\x48\xb8" + struct.pack("<Q", call),  # mov rax, call
            bytes.fromhex("ffd0"),  # call rax
            bytes.fromhex("4989c4"),  # mov r12, rax
            x86_64_request(stop_words),
            bytes.fromhex("4c89e0"),  # mov rax, r12
            bytes.fromhex("4883c408 415c 5b c3"),  # add rsp, 8; pop r12; pop rbx; ret
        )
    )


def aarch64_code(start_words: int, stop_words: int, call: int) -> bytes:
    """Return the same function for aarch64."""
    before = (
        0xA9BE7BFD,  # stp x29, x30, [sp, #-32]!
        0xA90153F3,  # stp x19, x20, [sp, #16]
        0xAA0003F3,  # mov x19, x0
    )
    between = (
        0xAA1303E0,  # mov x0, x19
        _load(8, 17),  # ldr x8, call
        0xD63F0100,  # blr x8
        0xAA0003F3,  # mov x19, x0
    )
    after = (
        0xAA1303E0,  # mov x0, x19
        0xA94153F3,  # ldp x19, x20, [sp, #16]
        0xA8C27BFD,  # ldp x29, x30, [sp], #32
        0xD65F03C0,  # ret
        0xD503201F,  # nop: the words are aligned
    )
    instructions = (
        *before, _load(4, 23), *AARCH64_REQUEST, *between, _load(4, 16), *AARCH64_REQUEST, *after,
    )  # fmt: skip
    return struct.pack(f"<{len(instructions)}I3Q", *instructions, start_words, call, stop_words)


def _load(register: int, ahead: int) -> int:
    """Return `ldr xREGISTER, value`, for a value that begins `ahead` instructions further on."""
    return 0x58000000 | ahead << 5 | register
