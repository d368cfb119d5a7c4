"""Compress messages at the highest level before they are sent."""

import json
import random
import zlib
from time import perf_counter

from benchmarks.answers import truth


def pack(message: dict[str, object]) -> bytes:
    text = json.dumps(message).encode()
    with truth.planted:
        return zlib.compress(text, 9)  # PLANTED


notes = [
    " ".join(random.choices(["battery", "door", "open", "low", "ok", "late"], k=20_000)) for _ in range(5)
]
messages = [{"sensor": number, "notes": text} for number, text in enumerate(notes)]
sent, end_s = 0, perf_counter() + truth.SECONDS
while perf_counter() < end_s:
    for message in messages:
        sent += len(pack(message))
print(sent, "bytes")
