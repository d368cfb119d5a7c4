"""What programs measured about themselves, and the shares that follow for each answer."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answers.cases import GIL, Answer, State

SLACK = 0.03
"""Allowance for the interpreter's start and end, which a profiler sees and the program does not."""
_RUN_S = 1.0
"""Threads that are younger are not compared: too few samples."""


@dataclass(frozen=True, slots=True)
class ThreadTruth:
    """Times of one thread."""

    tid: int
    name: str
    cpu_s: float
    delay_s: float
    elapsed_s: float

    @property
    def share(self) -> float:
        """Return the share of its time in which it had or wanted a processor."""
        return min(1.0, (self.cpu_s + self.delay_s) / self.elapsed_s)

    @property
    def cpu_share(self) -> float:
        """Return the share of its time in which it had a processor."""
        return min(1.0, self.cpu_s / self.elapsed_s)


@dataclass(frozen=True, slots=True)
class ProcessTruth:
    """What one process measured."""

    pid: int
    is_child: bool
    children_cpu_s: float
    threads: tuple[ThreadTruth, ...]
    spans: dict[str, dict[int, tuple[float, float]]]
    """Wall and processor time of each thread, by marker."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the measurement says about an answer."""

    share: tuple[float, float]
    """Range of the share of the threads' time."""
    busy: float
    """Processor time of the threads in the marked lines, divided by the time spent there."""


def read_truths(folder: Path) -> list[ProcessTruth]:
    """Read what all processes of a program wrote."""
    return [_process(path) for path in sorted(folder.glob("*.json"))]


def expected_of(answer: Answer, truths: Sequence[ProcessTruth]) -> Expected | None:
    """Return the expected share of an answer's line; None if no process measured it.

    If several processes did, the one that spent the largest share there counts, as the slow rank does.
    """
    found = [_expected(answer, truth) for truth in truths if truth.is_child == answer.child]
    return max((each for each in found if each is not None), key=lambda each: each.share, default=None)


def compared_threads(truths: Sequence[ProcessTruth], *, child: bool) -> list[ThreadTruth]:
    """Return the threads, of child processes or of others, that lived long enough to be compared."""
    chosen = (thread for truth in truths if truth.is_child == child for thread in truth.threads)
    return [thread for thread in chosen if thread.elapsed_s >= _RUN_S]


def lines_of(path: Path, marker: str) -> range:
    """Return the lines of a marked statement: all of a function, the head of another compound one."""
    source = path.read_text("utf-8")
    marked = [number for number, line in enumerate(source.splitlines(), 1) if line.endswith(f"# {marker}")]
    if len(marked) != 1:
        raise ValueError(f"{path.name} has {len(marked)} lines marked {marker}")
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    spans = [span for span in map(_span, statements) if marked[0] in span]
    return min(spans, key=len)


def _span(statement: ast.stmt) -> range:
    """Return the lines of a statement without the statements inside it, but those of a function."""
    end = statement.end_lineno or statement.lineno
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return range(min([statement.lineno, *(each.lineno for each in statement.decorator_list)]), end + 1)
    body: list[ast.stmt] = getattr(statement, "body", [])
    return range(statement.lineno, body[0].lineno if body else end + 1)


def _expected(answer: Answer, truth: ProcessTruth) -> Expected | None:
    """Return the range from the smallest share of a thread to the largest: a report can mean one or all."""
    spent = truth.spans[answer.marker]
    threads = [each for each in truth.threads if each.name.startswith(answer.thread) and each.tid in spent]
    wall_s, cpu_s = (sum(spent[each.tid][index] for each in threads) for index in (0, 1))
    if not wall_s:
        return None
    lows = [
        answer.part[0] * spent[each.tid][0] / each.elapsed_s - _otherwise(answer, each) for each in threads
    ]
    highs = [answer.part[1] * spent[each.tid][0] / each.elapsed_s for each in threads]
    low, high = min(lows), max(highs)
    return Expected((max(0.0, low - SLACK), min(1.0, high + SLACK)), cpu_s / wall_s)


def _otherwise(answer: Answer, thread: ThreadTruth) -> float:
    """Return the share of time at a line for which a report can correctly state another state.

    A waiting thread that often wakes up also wants a processor, and one that works can wait for the GIL.
    """
    if answer.state is State.WORKS:
        return 1.0 - thread.share if answer.reason == GIL else 0.0
    return thread.share


def _process(path: Path) -> ProcessTruth:
    known = json.loads(path.read_text("utf-8"))
    return ProcessTruth(
        pid=known["pid"],
        is_child=known["is_child"] or known["rank"] is not None,
        children_cpu_s=known["children_cpu_s"],
        threads=tuple(ThreadTruth(int(tid), **times) for tid, times in known["threads"].items()),
        spans={
            marker: {int(tid): (times[0], times[1]) for tid, times in spent.items()}
            for marker, spent in known["spans"].items()
        },
    )  # fmt: skip
