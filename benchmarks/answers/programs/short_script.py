"""A script of 50 ms."""

import json

from benchmarks.answers import truth


def totals(rows: list[dict[str, int]]) -> dict[int, int]:
    """Return the sum of each group."""
    sums: dict[int, int] = {}
    for row in rows:
        sums[row["group"]] = sums.get(row["group"], 0) + row["value"]
    return sums


rows = [{"group": number % 10, "value": number} for number in range(60_000)]
print(json.dumps(totals(rows)), truth.SECONDS > 0)
