"""A nightly job that does a bit of everything."""

import base64
import copy
import csv
import hashlib
import io
import json
import re
import sqlite3
import struct
import textwrap
import zlib
from collections.abc import Callable
from time import perf_counter

from benchmarks.answers import truth

rows = [{"id": number, "name": f"name {number}", "score": number * 7 % 100} for number in range(300)]
text = " ".join(str(row["name"]) for row in rows)
database = sqlite3.connect(":memory:")
numbers = list(range(3_000))
content = text.encode() * 20

TASKS: list[Callable[[], object]] = [
    lambda: json.dumps(rows),
    lambda: hashlib.sha256(content).digest(),
    lambda: zlib.compress(content),
    lambda: re.findall(r"n\w+ \d*7", text),
    lambda: sorted(rows, key=lambda row: str(row["score"])),
    lambda: list(csv.reader(io.StringIO("1,2,3\n" * 300))),
    lambda: textwrap.wrap(text[:2_000], 60),
    lambda: copy.deepcopy(rows[:50]),
    lambda: database.execute("SELECT count(*) FROM (VALUES (1), (2)) a, (VALUES (3), (4)) b").fetchall(),
    lambda: base64.b64encode(content),
    lambda: struct.pack("3000i", *numbers),
    lambda: [number**3 % 1_001 for number in numbers],
    lambda: {word: len(word) for word in text.split()},
    lambda: "".join(reversed(text)).title(),
]
end_s, done = perf_counter() + truth.SECONDS, 0
while perf_counter() < end_s:
    for task in TASKS:
        slice_end_s = perf_counter() + 0.005
        while perf_counter() < slice_end_s:
            task()
            done += 1
print(done, "tasks")
