"""Start a thread for the ranking, and wait for it."""

import threading
from time import perf_counter

from benchmarks.answers import truth


def rank(words: list[str]) -> list[str]:  # PLANTED
    scored = []
    for word in words:
        vowels = sum(word.count(vowel) for vowel in "aeiou")
        scored.append((-vowels, word[::-1], word))
    return [word for _, _, word in sorted(scored)]


def work() -> None:
    words = [f"word{number * 7919 % 10_007}aeiou"[: 4 + number % 9] for number in range(10_000)]
    end_s = perf_counter() + truth.SECONDS
    with truth.planted:
        while perf_counter() < end_s:
            rank(words)
    truth.threads()


worker = threading.Thread(target=work, name="ranking")
worker.start()
with truth.also:
    worker.join()  # ALSO
print("ranked")
