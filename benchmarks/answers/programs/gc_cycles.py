"""Load records that refer to one another, and keep them all."""

from time import perf_counter

from benchmarks.answers import truth


def load(count: int) -> list[dict[str, object]]:  # PLANTED
    records: list[dict[str, object]] = []
    for number in range(count):
        record: dict[str, object] = {"number": number, "tags": [number], "before": None, "next": None}
        if records:
            record["before"], records[-1]["next"] = records[-1], record
        records.append(record)
    return records


archive: list[list[dict[str, object]]] = []
end_s = perf_counter() + truth.SECONDS
with truth.planted:
    while perf_counter() < end_s:
        archive.append(load(100_000))
        del archive[:-5]
print(sum(map(len, archive)), "records")
