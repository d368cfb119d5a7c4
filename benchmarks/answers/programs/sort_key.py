"""Sort a phone book with a key that is expensive."""

import random
import unicodedata
from time import perf_counter

from benchmarks.answers import truth

random.seed(4)
LETTERS = "aäbcçdeéèfghiïjklmnñoöpqrstuüvwxyz"


def sort_key(name: str) -> tuple[str, ...]:  # PLANTED
    decomposed = unicodedata.normalize("NFD", name.casefold())
    letters = [letter for letter in decomposed if not unicodedata.combining(letter)]
    return tuple("".join(letters).split())


def main() -> None:
    names = [" ".join("".join(random.choices(LETTERS, k=8)) for _ in range(3)) for _ in range(3_000)]
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        names.append("".join(random.choices(LETTERS, k=8)))
        with truth.planted:
            names.sort(key=sort_key)
    print(names[0], "...", names[-1])


main()
