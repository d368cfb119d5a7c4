"""Functions that leave everything as they found it."""

from __future__ import annotations

import ast
import base64
import bisect
import contextlib
import csv
import decimal
import enum
import functools
import hashlib
import heapq
import io
import itertools
import json
import math
import random
import re
import statistics
import string
import textwrap
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments, positional and by keyword."""


def median_by_sorting(values: list[float]) -> float:
    ordered = list(values)
    ordered.sort()
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def shortest_distances(roads: dict[str, dict[str, int]], start: str) -> dict[str, int]:
    distances = {start: 0}
    waiting = [(0, start)]
    while waiting:
        distance, town = heapq.heappop(waiting)
        if distance > distances[town]:
            continue
        for neighbour, length in roads.get(town, {}).items():
            if distance + length < distances.get(neighbour, math.inf):
                distances[neighbour] = distance + length
                heapq.heappush(waiting, (distance + length, neighbour))
    return distances


def edit_distance(first: str, second: str) -> int:
    previous = list(range(len(second) + 1))
    for row, left in enumerate(first, start=1):
        current = [row]
        for column, right in enumerate(second, start=1):
            current.append(min(current[-1] + 1, previous[column] + 1, previous[column - 1] + (left != right)))
        previous = current
    return previous[-1]


def estimate_pi(points: int, *, seed: int) -> float:
    generator = random.Random(seed)
    inside = sum(generator.random() ** 2 + generator.random() ** 2 <= 1.0 for _ in range(points))
    return 4.0 * inside / points


def noisy_signal(length: int) -> np.ndarray:
    noise = np.random.default_rng().normal(scale=0.1, size=length)
    wave = np.sin(np.linspace(0.0, 6.28, length))
    wave += noise
    return wave


def strongest_frequency(samples: np.ndarray, rate: float) -> float:
    amplitudes = np.abs(np.fft.rfft(samples - samples.mean()))
    amplitudes[0] = 0.0
    return float(np.fft.rfftfreq(samples.size, d=1.0 / rate)[amplitudes.argmax()])


_LINK = re.compile(r"\[(?P<label>[^\]]+)\]\((?P<target>[^)\s]+)\)")


def list_links(text: str) -> list[tuple[str, str]]:
    return [(match["label"], match["target"]) for match in _LINK.finditer(text)]


def canonical_digest(document: dict[str, Any]) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def invoice(customer: str, lines: list[tuple[str, int, float]]) -> str:
    rows = [f"{name:<20}{count:>5d}{price:>10.2f}{count * price:>12,.2f}" for name, count, price in lines]
    total = sum(count * price for _, count, price in lines)
    return "\n".join([customer.upper().center(47), "-" * 47, *rows, f"{'total':<35}{total:>12,.2f}"])


def largest_file(folder: dict[str, Any], path: str = "") -> tuple[int, str]:
    best = (0, "")
    for name, content in folder.items():
        here = f"{path}/{name}"
        best = max(best, largest_file(content, here) if isinstance(content, dict) else (content, here))
    return best


def primes_below(limit: int) -> list[int]:
    def odd_numbers() -> Iterator[int]:
        yield 2
        yield from range(3, limit, 2)

    def without_multiples(numbers: Iterator[int]) -> Iterator[int]:
        found: list[int] = []
        for number in numbers:
            if not any(number % prime == 0 for prime in found if prime * prime <= number):
                found.append(number)
                yield number

    return list(without_multiples(odd_numbers()))


def evaluate_postfix(expression: str) -> float:
    class Machine:
        def __init__(self) -> None:
            self.stack: list[float] = []

        def feed(self, word: str) -> None:
            if word in ("+", "-", "*"):
                right, left = self.stack.pop(), self.stack.pop()
                self.stack.append({"+": left + right, "-": left - right, "*": left * right}[word])
            else:
                self.stack.append(float(word))

    machine = Machine()
    for word in expression.split():
        machine.feed(word)
    return machine.stack.pop()


@functools.total_ordering
class Version:
    """A version number that can be compared and hashed."""

    __slots__ = ("parts", "suffix")

    def __init__(self, text: str) -> None:
        numbers, _, self.suffix = text.partition("-")
        self.parts = tuple(int(part) for part in numbers.split("."))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and (self.parts, self.suffix) == (other.parts, other.suffix)

    def __lt__(self, other: Version) -> bool:
        return (self.parts, not self.suffix, self.suffix) < (other.parts, not other.suffix, other.suffix)

    def __hash__(self) -> int:
        return hash((self.parts, self.suffix))

    @property
    def is_release(self) -> bool:
        return not self.suffix


def newest_release(versions: list[Version]) -> tuple[int, ...]:
    return max(version for version in set(versions) if version.is_release).parts


@dataclass(frozen=True)
class Settings:
    """Settings that are never changed, only replaced."""

    width: int = 80
    theme: str = "light"
    extras: tuple[str, ...] = ()


def with_overrides(settings: Settings, overrides: dict[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in overrides.items() if hasattr(settings, name)}
    return asdict(replace(settings, **known))


def longest_common_subsequence(first: str, second: str) -> int:
    @functools.cache
    def length(i: int, j: int) -> int:
        if i == len(first) or j == len(second):
            return 0
        if first[i] == second[j]:
            return 1 + length(i + 1, j + 1)
        return max(length(i + 1, j), length(i, j + 1))

    return length(0, 0)


def sales_by_region(table: str) -> dict[str, float]:
    totals: defaultdict[str, float] = defaultdict(float)
    for row in csv.DictReader(io.StringIO(table)):
        totals[row["region"]] += float(row["amount"])
    return dict(totals)


def word_on_board(board: list[list[str]], word: str) -> bool:
    def trace(row: int, column: int, index: int) -> bool:
        if index == len(word):
            return True
        if not (0 <= row < len(board) and 0 <= column < len(board[0])) or board[row][column] != word[index]:
            return False
        letter, board[row][column] = board[row][column], "#"
        found = any(
            trace(row + down, column + right, index + 1) for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
        )
        board[row][column] = letter
        return found

    return any(trace(row, column, 0) for row in range(len(board)) for column in range(len(board[0])))


def checksum_of(stream: io.BytesIO) -> int:
    position = stream.tell()
    try:
        stream.seek(0)
        return zlib.crc32(stream.read())
    finally:
        stream.seek(position)


def precise_root(number: int, digits: int) -> str:
    with decimal.localcontext() as context:
        context.prec = digits
        return str(decimal.Decimal(number).sqrt())


def names_used(source: str) -> list[str]:
    tree = ast.parse(source)
    return sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)})


def make_interpolator(xs: tuple[float, ...], ys: tuple[float, ...]) -> Callable[[float], float]:
    def interpolate(x: float) -> float:
        right = min(max(bisect.bisect(xs, x), 1), len(xs) - 1)
        share = (x - xs[right - 1]) / (xs[right] - xs[right - 1])
        return ys[right - 1] + share * (ys[right] - ys[right - 1])

    return interpolate


class Suit(enum.Enum):
    """The suits of a pack of cards."""

    CLUBS = "c"
    HEARTS = "h"
    SPADES = "s"


class Card(NamedTuple):
    """A playing card."""

    rank: int
    suit: Suit


def best_hand(cards: list[Card]) -> str:
    ranks = Counter(card.rank for card in cards)
    suits = Counter(card.suit for card in cards)
    if suits.most_common(1)[0][1] >= 5:
        return "flush"
    counts = sorted(ranks.values(), reverse=True)
    return {4: "four", 3: "three", 2: "pair"}.get(counts[0], "high card")


class Matrix:
    """A matrix of exact fractions that is read but not written."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.rows = [[Fraction(value) for value in row] for row in rows]

    def determinant(self) -> Fraction:
        rows = [row[:] for row in self.rows]
        result = Fraction(1)
        for column in range(len(rows)):
            pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
            if pivot is None:
                return Fraction(0)
            if pivot != column:
                rows[pivot], rows[column] = rows[column], rows[pivot]
                result = -result
            result *= rows[column][column]
            for lower in rows[column + 1 :]:
                factor = lower[column] / rows[column][column]
                for k in range(column, len(rows)):
                    lower[k] -= factor * rows[column][k]
        return result


def life_step(cells: np.ndarray) -> np.ndarray:
    padded = np.pad(cells, 1)
    height, width = cells.shape
    neighbours = np.zeros_like(cells)
    for down, right in itertools.product(range(3), repeat=2):
        if (down, right) != (1, 1):
            neighbours += padded[down : down + height, right : right + width]
    result = cells.copy()
    result[(neighbours < 2) | (neighbours > 3)] = 0
    result[neighbours == 3] = 1
    return result


def round_trip_size(payload: bytes) -> int:
    encoded = base64.b85encode(zlib.compress(payload, level=6))
    assert zlib.decompress(base64.b85decode(encoded)) == payload
    return len(encoded)


def printed_greeting(template: string.Template, **fields: str) -> str:
    buffer = io.StringIO()
    with contextlib.redirect_stdout(buffer):
        print(template.safe_substitute(fields), end="")
    return textwrap.fill(buffer.getvalue(), width=30)


def timed_spread(samples: tuple[float, ...]) -> tuple[float, float]:
    started = time.perf_counter()
    spread = statistics.stdev(samples) / statistics.fmean(samples)
    return spread, time.perf_counter() - started


def _folders(depth: int) -> dict[str, Any]:
    content: dict[str, Any] = {f"file{k}.txt": (k * 7919 + depth * 31) % 5003 for k in range(6)}
    if depth:
        content |= {f"folder{k}": _folders(depth - 1) for k in range(4)}
    return content


def _roads() -> dict[str, dict[str, int]]:
    return {f"t{k}": {f"t{(k * j + 1) % 40}": 1 + k * j % 9 for j in range(1, 5)} for k in range(40)}


def _sales() -> str:
    return "region,amount\n" + "".join(f"{'NESW'[k % 4]},{k * 1.25}\n" for k in range(80))


_SOURCE = "def area(r):\n    return scale * pi * r ** 2\n\nprint([area(k) for k in range(limit)])\n"
_LINKS = "See [the guide](https://example.org/guide), or [help](help.html) and [x](y z). " * 10
_BOARD = ["SEVENTY", "ARTICLE", "NOBLEST", "DINGOES"]
_VERSIONS = ["1.2.0", "1.10.1", "1.10.2-rc1", "0.9.9", "1.10.1", "1.4.3-beta"]

CASES: list[tuple[Callable[..., object], Callable[[], Call]]] = [
    (median_by_sorting, lambda: (([float(k * 7919 % 1009) for k in range(200)],), {})),
    (shortest_distances, lambda: ((_roads(),), {"start": "t3"})),
    (edit_distance, lambda: (("the quick brown fox", "a quack from a crow"), {})),
    (estimate_pi, lambda: ((500,), {"seed": 8})),
    (noisy_signal, lambda: ((256,), {})),
    (strongest_frequency, lambda: ((np.sin(np.arange(512) * 0.3),), {"rate": 100.0})),
    (list_links, lambda: ((_LINKS,), {})),
    (canonical_digest, lambda: (({"b": [1, 2, {"z": None}], "a": {"y": 2.5, "x": True}, "t": "é"},), {})),
    (invoice, lambda: (("Acme & Sons", [("anvil", 3, 99.5), ("rope", 12, 4.25), ("dye", 1, 1500.0)]), {})),
    (largest_file, lambda: ((_folders(4),), {})),
    (primes_below, lambda: ((800,), {})),
    (evaluate_postfix, lambda: (("3 4 + 2 * 7 - 5 6 * +",), {})),
    (newest_release, lambda: (([Version(text) for text in _VERSIONS],), {})),
    (with_overrides, lambda: ((Settings(extras=("a", "b")), {"theme": "dark", "unknown": 3}), {})),
    (longest_common_subsequence, lambda: (("ACCGGTCGAGTGCG", "GTCGTTCGGAATGC"), {})),
    (sales_by_region, lambda: ((_sales(),), {})),
    (word_on_board, lambda: (([list(row) for row in _BOARD], "SEVENTLE"), {})),
    (checksum_of, lambda: ((io.BytesIO(b"some bytes to be read" * 200),), {})),
    (precise_root, lambda: ((2,), {"digits": 120})),
    (names_used, lambda: ((_SOURCE,), {})),
    (make_interpolator((0.0, 1.0, 2.5, 4.0), (1.0, 3.0, 2.0, 8.0)), lambda: ((3.1,), {})),
    (best_hand, lambda: (([Card(k % 5, list(Suit)[k % 3]) for k in range(7)],), {})),
    (Matrix.determinant, lambda: ((Matrix([[(r + 2) ** c % 13 for c in range(6)] for r in range(6)]),), {})),
    (life_step, lambda: (((np.arange(400).reshape(20, 20) % 3 == 0).astype(np.int8),), {})),
    (round_trip_size, lambda: ((b"never odd or even " * 60,), {})),
    (
        printed_greeting,
        lambda: (
            (string.Template("Dear $name, welcome to $place, $missing!"),),
            {"name": "Lin", "place": "the old observatory"},
        ),
    ),
    (timed_spread, lambda: ((tuple(10.0 + 0.1 * k for k in range(60)),), {})),
]
