"""Valgrind's client requests, without a compiler: one page of machine code, called through ctypes.

A request is an instruction sequence without effect on the machine, which Valgrind recognises as a call
(valgrind.h): a register holds the address of six words, the request's code and five arguments. Outside
Valgrind, requests do nothing. The page is written first, then made executable; it is never both at once.
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
DUMP, TOGGLE, START, STOP = (_CALLGRIND + offset for offset in (0, 2, 4, 5))
_CODES = (RUNNING_ON_VALGRIND, DUMP, TOGGLE, START)

_SLOT_BYTES = 64
"""Size of a slot: one for a function's code, one for its six words."""

Request = Callable[[], int]


def prepare() -> None:
    """Make the page; raises RuntimeError on machines whose requests are not known here.

    Called before a fork, so that children inherit it.
    """
    if not _requests:
        _requests.update(_made(platform.machine()))


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
_requests: dict[int, Request] = {}
_pages: list[mmap.mmap] = []


def _request(code: int) -> Request:
    prepare()
    return _requests[code]


def _made(machine: str) -> dict[int, Request]:
    function_code = {"x86_64": x86_64_code, "aarch64": aarch64_code}.get(machine)
    if function_code is None:
        raise unknown_machine(machine)
    page, start = new_page()
    offsets = {code: 2 * _SLOT_BYTES * slot for slot, code in enumerate(_CODES)}
    for code, offset in offsets.items():
        words = offset + _SLOT_BYTES
        page[words : words + WORDS_BYTES] = words_of(code)
        machine_code = function_code(start + words)
        page[offset : offset + len(machine_code)] = machine_code
    make_executable(page, start)
    # The GIL stays held: releasing and acquiring it would be counted.
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int)
    return {code: prototype(start + offset) for code, offset in offsets.items()}


def unknown_machine(machine: str) -> RuntimeError:
    """Return the error for a machine whose requests are not known here."""
    return RuntimeError(f"Valgrind's client requests work on x86_64 and aarch64, not on {machine}")


def new_page() -> tuple[mmap.mmap, int]:
    """Return a writable page of memory for machine code, and its address."""
    own = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    page = mmap.mmap(-1, mmap.PAGESIZE, flags=own, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    return page, ctypes.addressof(ctypes.c_char.from_buffer(page))


def make_executable(page: mmap.mmap, start: int) -> None:
    """Make a page executable, and keep it; Linux then synchronises the instruction caches itself."""
    libc = ctypes.CDLL(None, use_errno=True)
    protection = mmap.PROT_READ | mmap.PROT_EXEC
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(mmap.PAGESIZE), protection) != 0:
        error = ctypes.get_errno()
        raise OSError(error, "a page of machine code cannot be made executable")
    _pages.append(page)


WORDS_BYTES = 48


def words_of(code: int) -> bytes:
    """Return the six words of a request."""
    return struct.pack("=6q", code, 0, 0, 0, 0, 0)


def x86_64_code(words: int) -> bytes:
    """Return the code of a function that returns the result of the request at `words`, 0 outside Valgrind."""
    return x86_64_request(words) + b"\x48\x89\xd0\xc3"  # mov rax, rdx; ret


def x86_64_request(words: int) -> bytes:
    """Return the code of a request, whose result is in rdx; it changes rax."""
    return b"".join(
        (
            b"\x48\xb8" + struct.pack("<Q", words),  # mov rax, words
            b"\x31\xd2",  # xor edx, edx: the result outside Valgrind
            bytes.fromhex("48c1c703 48c1c70d 48c1c73d 48c1c733"),  # rol rdi by 3, 13, 61, 51: no net change
            bytes.fromhex("4887db"),  # xchg rbx, rbx
        )
    )


AARCH64_REQUEST = (
    0xD2800003,  # mov x3, #0: the result outside Valgrind
    *(0x93CC0D8C, 0x93CC358C, 0x93CCCD8C, 0x93CCF58C),  # ror x12, x12 by 3, 13, 51, 61: no net change
    0xAA0A014A,  # orr x10, x10, x10
)
"""Instructions of a request at the words that x4 points to; its result is in x3."""


def aarch64_code(words: int) -> bytes:
    """Return the same function as `x86_64_code` for aarch64."""
    instructions = (
        0x58000144,  # ldr x4, words (10 instructions ahead)
        *AARCH64_REQUEST,
        0xAA0303E0,  # mov x0, x3
        0xD65F03C0,  # ret
        0xD503201F,  # nop
    )
    return struct.pack("<10IQ", *instructions, words)
