"""Valgrind's client requests, without a compiler: one page of machine code, called through ctypes.

A request is an instruction sequence without effect on the machine, which Valgrind recognises as a call
(valgrind.h): a register holds the address of six words, the request's code and five arguments. Outside
Valgrind, requests do nothing. The page is written first, then made executable; it is never both at once.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
import struct
from collections.abc import Callable
from typing import TypeVar, cast

from .processes import c_library

T = TypeVar("T")

RUNNING_ON_VALGRIND = 0x1001
_CALLGRIND = 0x43540000  # 'C', 'T': callgrind.h
DUMP, TOGGLE, START, STOP = (_CALLGRIND + offset for offset in (0, 2, 4, 5))
_CODES = (RUNNING_ON_VALGRIND, DUMP, TOGGLE, START)

_SLOT_BYTES = 64
"""Size of a slot: one for a function's code, one for its six words."""

Request = Callable[[], int]


def prepare() -> None:
    """Make the page; raises RuntimeError on machines whose requests are not known here.

    Called before a fork, so that children inherit it.
    """
    _requests()


def running_on_valgrind() -> bool:
    """Return whether this process runs under Valgrind."""
    return _request(RUNNING_ON_VALGRIND)() != 0


def start_instrumentation() -> None:
    """Make Callgrind instrument all code from now on; discards all translations."""
    _request(START)()


def toggle() -> Request:
    """Return the request that starts or stops counting in the thread that calls it.

    The overhead counted between two calls is ctypes' return from the first and entry into the second.
    """
    return _request(TOGGLE)


def no_toggle() -> Request:
    """Return a request that is called in the same way and changes nothing."""
    return _request(RUNNING_ON_VALGRIND)


def dump() -> int:
    """Write the counts to the next file, reset them, and return the file's number in this process."""
    _request(DUMP)()
    pid = os.getpid()
    if pid != _DUMPED[0]:
        _DUMPED[:] = pid, 0
    _DUMPED[1] += 1
    return _DUMPED[1]


_DUMPED = [0, 0]
"""PID of the process that wrote the last dump, and its number of dumps: a fork starts at 0."""
_pages: list[mmap.mmap] = []


def _request(code: int) -> Request:
    return _requests()[code]


@functools.cache
def _requests() -> dict[int, Request]:
    function_code = _for_this_machine(x86_64_code, aarch64_code)
    page, start = _new_page()
    offsets = {code: 2 * _SLOT_BYTES * slot for slot, code in enumerate(_CODES)}
    for code, offset in offsets.items():
        words = offset + _SLOT_BYTES
        page[words : words + _WORDS_BYTES] = _words_of(code)
        machine_code = function_code(start + words)
        page[offset : offset + len(machine_code)] = machine_code
    _make_executable(page, start)
    # The GIL stays held: releasing and acquiring it would be counted.
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int)
    return {code: prototype(start + offset) for code, offset in offsets.items()}


def _for_this_machine(x86_64: T, aarch64: T) -> T:
    machine = platform.machine()
    try:
        return {"x86_64": x86_64, "aarch64": aarch64}[machine]
    except KeyError:
        problem = f"Valgrind's client requests work on x86_64 and aarch64, not on {machine}"
        raise RuntimeError(problem) from None


def _new_page() -> tuple[mmap.mmap, int]:
    """Return a writable page of memory for machine code, and its address."""
    own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=own, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    return page, ctypes.addressof(ctypes.c_char.from_buffer(page))


def _make_executable(page: mmap.mmap, start: int) -> None:
    """Make a page executable, and keep it; Linux then synchronises the instruction caches itself."""
    protection = mmap.PROT_READ | mmap.PROT_EXEC
    if c_library().mprotect(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), protection) != 0:
        error = ctypes.get_errno()
        raise OSError(error, "a page of machine code cannot be made executable")
    _pages.append(page)


_WORDS_BYTES = 48


def _words_of(code: int) -> bytes:
    return struct.pack("=6q", code, 0, 0, 0, 0, 0)


def x86_64_code(words: int) -> bytes:
    """Return the code of a function that returns the result of the request at `words`, 0 outside Valgrind."""
    return _x86_64_request(words) + b"\x48\x89\xd0\xc3"  # mov rax, rdx; ret


def _x86_64_request(words: int) -> bytes:
    """Return the code of a request, whose result is in rdx; it changes rax."""
    return b"".join(
        (
            b"\x48\xb8" + struct.pack("<Q", words),  # mov rax, words
            b"\x31\xd2",  # xor edx, edx: the result outside Valgrind
            bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733"),  # rol rdi by 3, 13, 61, 51: no net change
            bytes.fromhex("4887db"),  # xchg rbx, rbx
        )
    )


_AARCH64_REQUEST = (
    0xD2800003,  # mov x3, #0: the result outside Valgrind
    *(0x93CC0D8C, 0x93CC358C, 0x93CCCD8C, 0x93CCF58C),  # ror x12, x12 by 3, 13, 51, 61: no net change
    0xAA0A014A,  # orr x10, x10, x10
)
"""Instructions of a request at the words that x4 points to; its result is in x3."""


def aarch64_code(words: int) -> bytes:
    """Return the same function as `x86_64_code` for aarch64."""
    instructions = (
        0x58000144,  # ldr x4, words (10 instructions ahead)
        *_AARCH64_REQUEST,
        0xAA0303E0,  # mov x0, x3
        0xD65F03C0,  # ret
        0xD503201F,  # nop
    )
    return struct.pack("<10IQ", *instructions, words)


_START_WORDS, _STOP_WORDS = 512, 576
"""Offsets in the page, behind the code."""


def instrumented(function: Callable[[], T]) -> T:
    """Call the function with instrumentation on during the call only; return its result.

    Callgrind loses track of the functions below the one in which instrumentation began, and ends with an
    error if they are to be skipped (`--fn-skip`) when it returns to them. So it never sees them: the same
    function of machine code starts instrumentation, calls, and stops it again. Raises what the call raises.
    """
    return cast("T", _instrumenting()(function))


@functools.cache
def _instrumenting() -> Callable[[object], object]:
    function_code = _for_this_machine(x86_64_call, aarch64_call)
    page, start = _new_page()
    for offset, code in ((_START_WORDS, START), (_STOP_WORDS, STOP)):
        page[offset : offset + _WORDS_BYTES] = _words_of(code)
    call = ctypes.cast(ctypes.pythonapi.PyObject_CallNoArgs, ctypes.c_void_p).value
    assert call is not None
    machine_code = function_code(start + _START_WORDS, start + _STOP_WORDS, call)
    page[: len(machine_code)] = machine_code
    _make_executable(page, start)
    # The GIL stays held, and a result of NULL raises the exception that is set.
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(start)


def x86_64_call(start_words: int, stop_words: int, call: int) -> bytes:
    """Return the code of a function that passes its argument to `call`, between two requests."""
    return b"".join(
        (
            bytes.fromhex("53 4154 4883ec08"),  # push rbx; push r12; sub rsp, 8: the stack is aligned
            bytes.fromhex("4889fb"),  # mov rbx, rdi
            _x86_64_request(start_words),
            bytes.fromhex("4889df"),  # mov rdi, rbx
            b"\x48\xb8" + struct.pack("<Q", call),  # mov rax, call
            bytes.fromhex("ffd0"),  # call rax
            bytes.fromhex("4989c4"),  # mov r12, rax
            _x86_64_request(stop_words),
            bytes.fromhex("4c89e0"),  # mov rax, r12
            bytes.fromhex("4883c408 415c 5b c3"),  # add rsp, 8; pop r12; pop rbx; ret
        )
    )


def aarch64_call(start_words: int, stop_words: int, call: int) -> bytes:
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
        *before, _load(4, 23), *_AARCH64_REQUEST, *between, _load(4, 16), *_AARCH64_REQUEST, *after,
    )  # fmt: skip
    return struct.pack(f"<{len(instructions)}I3Q", *instructions, start_words, call, stop_words)


def _load(register: int, ahead: int) -> int:
    """Return `ldr xREGISTER, value`, for a value that begins `ahead` instructions further on."""
    return 0x58000000 | ahead << 5 | register
