"""Differences of Python functions' instruction counts, which say where a count differs."""

from __future__ import annotations

from collections.abc import Mapping

from profkit.model.comparison import PythonFunctionDelta
from profkit.model.function_counts import PythonFunctionCount
from profkit.model.measurement import InstructionCounts
from profkit.transforms.identity import file_identity, without_comprehensions

MIN_DELTA = 0.5
"""Minimum difference, in instructions per execution: less is left over from a loop's first or last round."""

_Key = tuple[str, str]


def python_deltas(a: InstructionCounts, b: InstructionCounts) -> tuple[PythonFunctionDelta, ...]:
    """Return the Python functions whose own instructions differ, the largest difference first.

    Empty unless both sides were counted by Python function, by the same version of Python and with the same
    number of executions: others differ everywhere.
    """
    if _conditions(a) != _conditions(b):
        return ()
    before, after = _functions(a), _functions(b)
    rows = (_delta(before.get(key), after.get(key)) for key in {**before, **after})
    changed = [row for row in rows if abs(row.delta) >= MIN_DELTA]
    return tuple(sorted(changed, key=lambda row: (-abs(row.delta), row.file, row.name)))


def _conditions(counts: InstructionCounts) -> tuple[object, ...]:
    known = counts.python is not None and not counts.python.missing
    return counts.measured_in.python, counts.number, known


def _functions(counts: InstructionCounts) -> Mapping[_Key, PythonFunctionCount]:
    rows = () if counts.python is None else counts.python.functions
    return {(file_identity(row.file), without_comprehensions(row.name)): row for row in rows}


def _delta(a: PythonFunctionCount | None, b: PythonFunctionCount | None) -> PythonFunctionDelta:
    one = b or a
    assert one is not None
    before, after = (row.exclusive if row is not None else 0.0 for row in (a, b))
    return PythonFunctionDelta(one.name, one.file, one.line, before, after)
