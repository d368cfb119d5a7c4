"""Read a large JSON document for each request instead of once."""

import json
from time import perf_counter

from benchmarks.answers import truth

DOCUMENT = json.dumps(
    {"users": [{"id": n, "name": f"user {n}", "tags": ["a", "b"], "score": n / 7} for n in range(20_000)]}
)


def find_user(name: str) -> float:
    with truth.planted:
        users = json.loads(DOCUMENT)["users"]  # PLANTED
    return float(next(user["score"] for user in users if user["name"] == name))


def main() -> None:
    total, requests, end_s = 0.0, 0, perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        total += find_user(f"user {requests % 1_000}")
        requests += 1
    print(requests, total)


if __name__ == "__main__":
    main()
