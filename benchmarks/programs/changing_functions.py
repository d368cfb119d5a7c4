"""Functions that change or use up something each time they are called."""

from __future__ import annotations

import functools
import heapq
import io
import itertools
import random
import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments, positional and by keyword."""


def quicksort(values: list[int], low: int = 0, high: int | None = None) -> None:
    if high is None:
        high = len(values) - 1
    if low >= high:
        return
    pivot = values[high]
    border = low
    for index in range(low, high):
        if values[index] < pivot:
            values[border], values[index] = values[index], values[border]
            border += 1
    values[border], values[high] = values[high], values[border]
    quicksort(values, low, border - 1)
    quicksort(values, border + 1, high)


def mean_of_iterator(samples: Iterator[float]) -> float:
    total, count = 0.0, 0
    for sample in samples:
        total += sample
        count += 1
    return total / count if count else 0.0


def read_header_block(stream: io.StringIO) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in iter(stream.readline, ""):
        if not line.strip():
            break
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return headers


def run_due_tasks(schedule: list[tuple[float, int, str]], now: float) -> list[str]:
    done: list[str] = []
    while schedule and schedule[0][0] <= now:
        due, number, name = heapq.heappop(schedule)
        done.append(name)
        if name.startswith("every-"):
            heapq.heappush(schedule, (due + 3600.0 + now, number, name))
    return done


def next_speakers(ring: deque[str], turns: int) -> list[str]:
    speakers = []
    for _ in range(turns):
        speakers.append(ring.popleft())
        ring.append(speakers[-1])
    return speakers


def normalise_rows(matrix: np.ndarray) -> np.ndarray:
    matrix -= matrix.mean(axis=1, keepdims=True)
    spread = matrix.std(axis=1, keepdims=True)
    np.divide(matrix, spread + 1e-9, out=matrix)
    return matrix


def partitions(number: int) -> int:
    answers: dict[tuple[int, int], int] = partitions.__dict__.setdefault("answers", {})

    def count(total: int, largest: int) -> int:
        if total == 0:
            return 1
        if total < 0 or largest == 0:
            return 0
        key = (total, largest)
        if key not in answers:
            answers[key] = count(total - largest, largest) + count(total, largest - 1)
        return answers[key]

    return count(number, number)


def make_running_mean() -> Callable[[list[float]], float]:
    total = 0.0
    count = 0

    def running_mean(values: list[float]) -> float:
        nonlocal total, count
        for value in values:
            total += value
            count += 1
        return total / count

    return running_mean


_sequence = 0
_journal: list[tuple[int, str]] = []


def write_journal(messages: list[str]) -> int:
    global _sequence
    for message in messages:
        _sequence += 1
        _journal.append((_sequence, message.capitalize()))
    return _sequence


class Ticket:
    """A ticket whose number comes from a counter shared by all tickets."""

    issued: ClassVar[int] = 0

    def __init__(self, holder: str) -> None:
        type(self).issued += 1
        self.number = Ticket.issued
        self.holder = holder


def issue_tickets(holders: list[str]) -> dict[str, int]:
    return {ticket.holder: ticket.number for ticket in map(Ticket, holders)}


def times_seen(text: str, seen: dict[str, int] = {}) -> int:  # noqa: B006
    before = 0
    for word in text.split():
        before += seen.get(word, 0)
        seen[word] = seen.get(word, 0) + 1
    return before


def bump_versions(project: dict[str, Any]) -> int:
    changed = 0
    for component in project.get("components", []):
        if "version" in component:
            component["version"]["patch"] += 1
            changed += 1
        changed += bump_versions(component)
    return changed


def prune_leaves(graph: dict[str, set[str]]) -> list[str]:
    leaves = sorted(vertex for vertex, neighbours in graph.items() if len(neighbours) <= 1)
    for leaf in leaves:
        for neighbour in graph.pop(leaf):
            if neighbour in graph:
                graph[neighbour].discard(leaf)
    return leaves


class Node:
    """A link of a singly linked list."""

    __slots__ = ("follower", "value")

    def __init__(self, value: int, follower: Node | None = None) -> None:
        self.value = value
        self.follower = follower


def linked(values: list[int]) -> Node:
    head: Node | None = None
    for value in reversed(values):
        head = Node(value, head)
    assert head is not None
    return head


def reverse_links(head: Node) -> int:
    behind: Node | None = None
    current: Node | None = head
    while current is not None:
        current.follower, behind, current = behind, current, current.follower
    assert behind is not None
    return behind.value


def eliminate(matrix: list[list[float]]) -> float:
    size = len(matrix)
    determinant = 1.0
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(matrix[row][column]))
        if pivot != column:
            matrix[pivot], matrix[column] = matrix[column], matrix[pivot]
            determinant = -determinant
        determinant *= matrix[column][column]
        if matrix[column][column] == 0.0:
            return 0.0
        for row in range(column + 1, size):
            factor = matrix[row][column] / matrix[column][column]
            for k in range(column, size):
                matrix[row][k] -= factor * matrix[column][k]
    return determinant


def take_from_stock(stock: Counter[str], order: dict[str, int]) -> dict[str, int]:
    missing = {item: wanted - stock[item] for item, wanted in order.items() if stock[item] < wanted}
    stock.subtract(order)
    for item in [name for name, left in stock.items() if left <= 0]:
        del stock[item]
    return missing


class Scanner:
    """Reads numbers, names and signs from a text, one at a time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def token(self) -> str | None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
        if self.position >= len(self.text):
            return None
        start = self.position
        self.position += 1
        if self.text[start].isalnum():
            while self.position < len(self.text) and self.text[self.position].isalnum():
                self.position += 1
        return self.text[start : self.position]


class TrafficLight:
    """A traffic light that remembers its colour and how long it has shown it."""

    __slots__ = ("colour", "elapsed")
    following: ClassVar[dict[str, tuple[str, int]]] = {
        "green": ("amber", 30),
        "amber": ("red", 3),
        "red": ("green", 27),
    }

    def __init__(self) -> None:
        self.colour = "red"
        self.elapsed = 0

    def advance(self, seconds: int) -> str:
        self.elapsed += seconds
        while self.elapsed >= self.following[self.colour][1]:
            self.elapsed -= self.following[self.colour][1]
            self.colour = self.following[self.colour][0]
        return self.colour


def mask_payload(payload: bytearray, key: bytes) -> int:
    with memoryview(payload) as view:
        for index in range(len(view)):
            view[index] ^= key[index % len(key)]
    return len(payload)


@dataclass
class Account:
    """A bank account with its history."""

    owner: str
    balance: int
    history: list[tuple[str, int]] = field(default_factory=list)


def transfer(source: Account, target: Account, amount: int) -> bool:
    if source.balance < amount:
        return False
    source.balance -= amount
    target.balance += amount
    source.history.append((target.owner, -amount))
    target.history.append((source.owner, amount))
    return True


def write_frames(buffer: io.BytesIO, frames: list[bytes]) -> int:
    for frame in frames:
        buffer.write(struct.pack(">I", len(frame)))
        buffer.write(frame)
    return buffer.tell()


def roll(dice: random.Random, count: int, *, sides: int = 6) -> list[int]:
    return [dice.randint(1, sides) for _ in range(count)]


class RecentlyUsed:
    """A small store that drops what was used least recently."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.entries: OrderedDict[str, int] = OrderedDict()
        self.misses = 0

    def length_of(self, key: str) -> int:
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        self.misses += 1
        self.entries[key] = len(key)
        if len(self.entries) > self.capacity:
            self.entries.popitem(last=False)
        return self.entries[key]


def look_up_lengths(store: RecentlyUsed, keys: list[str]) -> int:
    return sum(store.length_of(key) for key in keys)


def find_root(parents: list[int], element: int) -> int:
    root = element
    while parents[root] != root:
        root = parents[root]
    while parents[element] != root:
        parents[element], element = root, parents[element]
    return root


def shuffle_columns(generator: np.random.Generator, table: np.ndarray) -> float:
    for column in range(table.shape[1]):
        generator.shuffle(table[:, column])
    return float(table[0].sum())


def label_batch(names: list[str], numbers: Iterator[int]) -> list[str]:
    return [f"{name}-{number:04d}" for name, number in zip(names, numbers, strict=False)]


class Polygon:
    """A polygon that works out its area when it is first asked for."""

    def __init__(self, corners: list[tuple[float, float]]) -> None:
        self.corners = corners

    @functools.cached_property
    def area(self) -> float:
        pairs = zip(self.corners, self.corners[1:] + self.corners[:1], strict=True)
        return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2.0


def total_area(polygons: list[Polygon]) -> float:
    return sum(polygon.area for polygon in polygons)


def _project() -> dict[str, Any]:
    version = {"major": 1, "minor": 4, "patch": 0}
    return {
        "name": "engine",
        "components": [
            {"name": "core", "version": dict(version), "components": [{"version": dict(version)}]},
            {"name": "docs", "components": [{"name": "guide", "version": dict(version)}]},
        ],
    }


def _headers() -> io.StringIO:
    return io.StringIO("Host: example.org\nAccept: text/html\n\nHost: example.net\nCookie: a=1\n\n")


def _schedule() -> list[tuple[float, int, str]]:
    tasks = [(float(k * 37 % 101), k, f"every-{k}" if k % 3 == 0 else f"once-{k}") for k in range(60)]
    heapq.heapify(tasks)
    return tasks


CASES: list[tuple[Callable[..., object], Callable[[], Call]]] = [
    (quicksort, lambda: (([(k * 7919) % 1009 for k in range(150)],), {})),
    (mean_of_iterator, lambda: ((iter([0.5 * k for k in range(200)]),), {})),
    (read_header_block, lambda: ((_headers(),), {})),
    (run_due_tasks, lambda: ((_schedule(),), {"now": 50.0})),
    (next_speakers, lambda: ((deque(["Ada", "Grace", "Edsger", "Barbara"]),), {"turns": 9})),
    (normalise_rows, lambda: ((np.arange(600, dtype=np.float64).reshape(20, 30) ** 1.5,), {})),
    (partitions, lambda: ((30,), {})),
    (make_running_mean(), lambda: (([12.5, 3.0, 8.25, 11.0, 0.5, 6.75, 9.0],), {})),
    (write_journal, lambda: ((["started", "valve open", "pressure low", "valve closed", "stopped"],), {})),
    (issue_tickets, lambda: ((["Ana", "Ben", "Chloe"],), {})),
    (times_seen, lambda: (("the light of the old lighthouse",), {})),
    (bump_versions, lambda: ((_project(),), {})),
    (
        prune_leaves,
        lambda: (
            ({"a": {"b"}, "b": {"a", "c"}, "c": {"b", "d", "e"}, "d": {"c", "e"}, "e": {"c", "d"}},),
            {},
        ),
    ),
    (reverse_links, lambda: ((linked(list(range(80))),), {})),
    (eliminate, lambda: (([[float((r + 2) ** c % 11) for c in range(9)] for r in range(9)],), {})),
    (take_from_stock, lambda: ((Counter(bolt=40, nut=55, washer=3), {"bolt": 12, "washer": 5}), {})),
    (Scanner.token, lambda: ((Scanner("  total1 = 3 * (alpha + 42)"),), {})),
    (TrafficLight.advance, lambda: ((TrafficLight(), 317), {})),
    (mask_payload, lambda: ((bytearray(b"the quick brown fox" * 20),), {"key": b"secret"})),
    (transfer, lambda: ((Account("Ida", 900), Account("Max", 20), 150), {})),
    (write_frames, lambda: ((io.BytesIO(), [b"alpha", b"", b"gamma" * 10]), {})),
    (roll, lambda: ((random.Random(99), 25), {"sides": 20})),
    (look_up_lengths, lambda: ((RecentlyUsed(4), ["oak", "willow", "oak", "ash", "beech", "larch"]), {})),
    (find_root, lambda: (([max(k - 1, 0) for k in range(120)], 119), {})),
    (shuffle_columns, lambda: ((np.random.default_rng(3), np.arange(60.0).reshape(15, 4)), {})),
    (label_batch, lambda: ((["pump", "valve", "gauge"], itertools.count(10)), {})),
    (total_area, lambda: (([Polygon([(0, 0), (k, 0), (k, k + 1), (0, 2)]) for k in range(1, 9)],), {})),
]
