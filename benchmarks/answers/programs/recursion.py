"""Count the ways to make change, recursively."""

from time import perf_counter

from benchmarks.answers import truth


def ways(amount: int, coins: tuple[int, ...]) -> int:  # PLANTED
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[0], coins) + ways(amount, coins[1:])


def main() -> None:
    end_s, amount, total = perf_counter() + truth.SECONDS, 100, 0
    while perf_counter() < end_s:
        with truth.planted:
            total += ways(amount, (50, 20, 10, 5, 2, 1))
        amount = 100 + (amount + 1) % 20
    print(total)


if __name__ == "__main__":
    main()
