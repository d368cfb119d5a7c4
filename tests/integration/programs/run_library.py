"""Load shared objects of C++ statements as workers do, run some blocks, and say what came of it, as JSON."""

from __future__ import annotations

import ctypes
import json
import sys
import time

BLOCK = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64)
READY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def run(path: str, function: str, numbers: list[int]) -> dict[str, object]:
    """Blocks of so many executions each: what was thrown in each and what they took; the last word."""
    measure = getattr(ctypes.CDLL(path), function)
    measure.restype, measure.argtypes = ctypes.c_char_p, [READY]
    thrown, spent_ns = [], []

    def ready(address: int, context: int) -> None:
        block = BLOCK(address)
        for number in numbers:
            start_ns = time.perf_counter_ns()
            said = block(context, number)
            spent_ns.append(time.perf_counter_ns() - start_ns)
            thrown.append(said and said.decode())

    said = measure(READY(ready))
    return {"thrown": thrown, "spent_ns": spent_ns, "said": said and said.decode()}


if __name__ == "__main__":
    path, function, *numbers = sys.argv[1:]
    print(json.dumps(run(path, function, [int(number) for number in numbers])))
