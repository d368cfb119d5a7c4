"""Runs, functions and timings written by hand, small enough to add up in the head."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from profkit.render.html.document import Columns

HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'

FUNCTIONS = [
    "train_step",
    "load_batch",
    "augment",
    "Net.forward",
    "Linear.forward",
    "backward",
    "fib",
    HOSTILE,
]
FILES = [
    "train.py",
    "vision/data.py",
    "vision/data.py",
    "train.py",
    "torch/nn/modules/linear.py",
    "torch/_tensor.py",
    "maths/fib.py",
    "odd.py",
]
PACKAGES = [
    {"name": "train", "kind": "user"},
    {"name": "vision", "kind": "user"},
    {"name": "torch", "kind": "library"},
    {"name": "", "kind": "none"},
]

STACKS: Mapping[tuple[int, ...], Sequence[int]] = {
    (0,): (2, 0),
    (0, 1): (10, 5),
    (0, 1, 2): (40, 20),
    (0, 3): (3, 0),
    (0, 3, 4): (60, 0),
    (0, 5): (50, 0),
    (0, 6): (1, 0),
    (0, 6, 6): (2, 0),
    (0, 6, 6, 6): (4, 0),
    (0, 7): (3, 0),
}
"""Weight by thread of each stack; 200 samples, 175 of them in the first thread."""

SOURCE = {
    "first": 17,
    "lines": [
        "def augment(image, rng):",
        "    rows = [[pixel(value, rng) for value in row] for row in image]",
        "    if rng.random() < 0.5:",
        "        rows.reverse()",
        "    return rows",
    ],
}
Line = tuple[int, int, int, int, int]
"""Function, line, thread, self and total weight."""

LINES: Sequence[Line] = [
    (1, 30, 0, 10, 50),
    (1, 30, 1, 5, 25),
    (2, 18, 0, 33, 33),
    (2, 18, 1, 17, 17),
    (2, 20, 0, 7, 7),
    (2, 20, 1, 3, 3),
    (4, 125, 0, 60, 60),
]

FACTS = [
    ["function", [["train.py:42", "strong"], ["__main__.train_step", "plain"]]],
    ["calls", [["40", "strong"], ["2.97 s wall time", "plain"]]],
    ["samples", [["200", "strong"], ["2.00 s sampled", "plain"], ["2 torn (0.7 %)", "plain"]]],
    ["sampler", [["pyspy 0.4.3", "strong"], ["100 Hz requested", "plain"], ["61 Hz achieved", "warn"]]],
    ["note", [["The program was killed.", "warn"]]],
]


def add_run(columns: Columns, prefix: str, stacks: Mapping[tuple[int, ...], Sequence[int]]) -> None:
    """The stacks of a run with their weights by thread."""
    ordered = sorted(stacks)
    shared = [0, *(_common(a, b) for a, b in pairwise(ordered))][: len(ordered)]
    pairs = [(i, t, w) for i, stack in enumerate(ordered) for t, w in enumerate(stacks[stack]) if w]
    columns.add(f"{prefix}shared", "u16", shared)
    columns.add(f"{prefix}length", "u16", list(map(len, ordered)))
    columns.add(
        f"{prefix}frames", "u32", [fn for stack, n in zip(ordered, shared, strict=True) for fn in stack[n:]]
    )
    columns.add(f"{prefix}pair.stack", "u32", [pair[0] for pair in pairs])
    columns.add(f"{prefix}pair.thread", "u16", [pair[1] for pair in pairs])
    columns.add(f"{prefix}pair.weight", "u32", [pair[2] for pair in pairs])


def add_order(columns: Columns, prefix: str, stacks: Mapping[tuple[int, ...], Sequence[int]]) -> None:
    """Samples in the order of their stacks, thread after thread."""
    weights = [stacks[stack] for stack in sorted(stacks)]
    found = [[(i, each[t]) for i, each in enumerate(weights) if each[t]] for t in range(2)]
    columns.add(f"{prefix}order.stack", "u32", [i for thread in found for i, _ in thread])
    columns.add(f"{prefix}order.weight", "u32", [weight for thread in found for _, weight in thread])
    columns.add(f"{prefix}order.start", "u32", [0, len(found[0]), len(found[0]) + len(found[1])])


def add_lines(columns: Columns, prefix: str, lines: Sequence[Line] = LINES) -> None:
    """The weights of lines, sorted by function, line and thread."""
    names = ("function", "line", "thread", "self", "total")
    for name, values in zip(names, zip(*lines, strict=True), strict=True):
        columns.add(f"{prefix}lines.{name}", "u32", values)


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def functions_head(names: Sequence[str]) -> dict[str, object]:
    """Functions, packages and version of a head; functions beyond `FILES` are of one made-up file."""
    rest = len(names) - len(FILES)
    functions = {
        "name": list(names),
        "file": [*FILES, *(["made.py"] * rest)],
        "line": [10 + number for number in range(len(names))],
        "package": [0, 1, 1, 0, 2, 2, 0, 3, *([3] * rest)],
    }
    return {"profkit": "0.1.0", "functions": functions, "packages": PACKAGES}


def thread_object(name: str, tid: int) -> dict[str, object]:
    """A thread of the one process."""
    return {"name": name, "place": 0, "tid": tid}


def run_object(label: str, total: int, threads: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """A run of two minutes with resources."""
    at_s = [float(second) for second in range(121)]
    return {
        "id": "3f2a91c0de",
        "label": label,
        "facts": FACTS,
        "unit": "samples",
        "weight_s": 0.01,
        "total": total,
        "ordered": False,
        "threads": threads,
        "source": {"2": SOURCE},
        "notes": [],
        "resources": {
            "at_s": at_s,
            "cpu_share": [0.5 + 0.45 * math.sin(second / 9) for second in at_s[1:]],
            "rss_bytes": [int(2**29 * (1 + second / 200)) for second in at_s],
            "threads": [4 + int(second > 40) * 4 for second in at_s],
        },
    }
