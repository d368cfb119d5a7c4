"""Remove duplicates from a list by searching a list of the values so far."""

from time import perf_counter

from benchmarks.answers import truth


def unique(values: list[int]) -> list[int]:
    seen: list[int] = []
    for value in values:
        if value not in seen:  # PLANTED
            seen.append(value)
    return seen


def main() -> None:
    values = [number * 7_919 % 3_001 for number in range(6_000)]
    end_s, kept = perf_counter() + truth.SECONDS, 0
    while perf_counter() < end_s:
        shifted = [value + kept % 2 for value in values]
        with truth.planted:
            kept += len(unique(shifted))
    print(kept, "kept")


if __name__ == "__main__":
    main()
