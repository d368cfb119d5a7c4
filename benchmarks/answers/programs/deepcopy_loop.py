"""Give each request a deep copy of the configuration."""

import copy
from time import perf_counter

from benchmarks.answers import truth

CONFIGURATION = {
    f"service {number}": {
        "hosts": [f"host{n}" for n in range(20)],
        "limits": {"cpu": number, "memory": [1, 2]},
    }
    for number in range(60)
}


def handle(number: int) -> int:
    with truth.planted:
        own = copy.deepcopy(CONFIGURATION)  # PLANTED
    own[f"service {number % 60}"]["limits"] = {}
    return len(own)


def main() -> None:
    end_s, number = perf_counter() + truth.SECONDS, 0
    while perf_counter() < end_s:
        number += handle(number) // 60
    print(number, "requests")


if __name__ == "__main__":
    main()
