"""Check product codes with a regular expression that backtracks."""

import re
from time import perf_counter

from benchmarks.answers import truth

CODE = re.compile(r"(?:[a-z]+-?)+\d$")


def is_code(text: str) -> bool:
    return CODE.match(text) is not None  # PLANTED


codes = ["blue-shirt-4", "greenshirtsxl-", "hat-2", "longsleevedshirt"]
valid, end_s = 0, perf_counter() + truth.SECONDS
with truth.planted:
    while perf_counter() < end_s:
        for code in codes:
            valid += is_code(code)
print(valid, "valid codes")
