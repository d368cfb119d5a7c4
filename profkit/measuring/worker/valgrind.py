"""Valgrind's client requests, without a compiler: one page of machine code, called through ctypes.

A request is a sequence of instructions that does nothing to the machine, and that Valgrind takes for a call
(valgrind.h): a register holds the address of six words, the request's code and five arguments. Outside
Valgrind every request does nothing. The page is written first and made executable then, never both at once.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
from collections.abc import Callable

RUNNING_ON_VALGRIND = 0x1001
_CALLGRIND = 0x43540000  # 'C', 'T': callgrind.h
DUMP, TOGGLE, START = (_CALLGRIND + offset for offset in (0, 2, 4))
_CODES = (RUNNING_ON_VALGRIND, DUMP, TOGGLE, START)

_SLOT_BYTES = 64
"""A function's code; its six words stand in a slot of their own."""

Request = Callable[[], int]


def prepare() -> None:
    """Make the page; raises RuntimeError on machines whose requests are not known here.

    Before a fork, so that children need not.
    """
    if not _requests:
        _requests.update(_made(platform.machine()))


def running_on_valgrind() -> bool:
    """Whether this process runs under Valgrind."""
    return _request(RUNNING_ON_VALGRIND)() != 0


def start_instrumentation() -> None:
    """Let Callgrind translate what runs from now on for counting; throws all translations away."""
    _request(START)()


def toggle() -> Request:
    """What begins to count in the thread that calls it, or ends to.

    Of two calls, all that is counted is ctypes' way out of the first and into the second.
    """
    return _request(TOGGLE)


def no_toggle() -> Request:
    """What is called in the same way, and changes nothing."""
    return _request(RUNNING_ON_VALGRIND)


def dump() -> int:
    """Write what was counted to the next file, forget it, and return the file's number in this process."""
    _request(DUMP)()
    pid = os.getpid()
    if pid != _DUMPED[0]:
        _DUMPED[:] = pid, 0
    _DUMPED[1] += 1
    return _DUMPED[1]


_DUMPED = [0, 0]
"""The process that wrote dumps last, and how many: a fork begins anew."""
_requests: dict[int, Request] = {}
_pages: list[mmap.mmap] = []


def _request(code: int) -> Request:
    prepare()
    return _requests[code]


def _made(machine: str) -> dict[int, Request]:
    function_code = {"x86_64": x86_64_code, "aarch64": aarch64_code}.get(machine)
    if function_code is None:
        raise RuntimeError(f"Valgrind's requests are known for x86_64 and aarch64, not for {machine}")
    own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=own, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(page))
    places = {code: 2 * _SLOT_BYTES * place for place, code in enumerate(_CODES)}
    for code, place in places.items():
        words = place + _SLOT_BYTES
        page[words : words + 48] = struct.pack("=6q", code, 0, 0, 0, 0, 0)
        machine_code = function_code(start + words)
        page[place : place + len(machine_code)] = machine_code
    _make_executable(start)
    _pages.append(page)
    # The interpreter's lock is kept: letting it go and taking it again would be counted.
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int)
    return {code: prototype(start + place) for code, place in places.items()}


def _make_executable(start: int) -> None:
    """Linux itself makes instruction caches see what was written, as it makes a page executable."""
    libc = ctypes.CDLL(None, use_errno=True)
    protection = mmap.PROT_READ | mmap.PROT_EXEC
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), protection) != 0:
        error = ctypes.get_errno()
        raise OSError(error, "a page of machine code cannot be made executable")


def x86_64_code(words: int) -> bytes:
    """A function that returns what the request at `words` answers, 0 outside Valgrind."""
    return b"".join(
        (
            b"\x48\xb8" + struct.pack("<Q", words),  # mov rax, words
            b"\x31\xd2",  # xor edx, edx: the answer outside Valgrind
            bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733"),  # rol rdi by 3, 13, 61, 51: by nothing
            bytes.fromhex("4887db"),  # xchg rbx, rbx
            b"\x48\x89\xd0\xc3",  # mov rax, rdx; ret
        )
    )


def aarch64_code(words: int) -> bytes:
    """The same for the other machine."""
    instructions = (
        0x58000144,  # ldr x4, words (10 instructions ahead)
        0xD2800003,  # mov x3, #0: the answer outside Valgrind
        *(0x93CC0D8C, 0x93CC358C, 0x93CCCD8C, 0x93CCF58C),  # ror x12, x12 by 3, 13, 51, 61: by nothing
        0xAA0A014A,  # orr x10, x10, x10
        0xAA0303E0,  # mov x0, x3
        0xD65F03C0,  # ret
        0xD503201F,  # nop
    )
    return struct.pack("<10IQ", *instructions, words)
