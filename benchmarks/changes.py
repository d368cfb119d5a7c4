"""Functions that change their arguments: detection rate and false alarms.

The functions in `programs.changing_functions`, `programs.pure_functions`, and the modules beside them with
functions of tensors were written without knowledge of the detection rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.figures import Figure
from benchmarks.programs import changing_functions, changing_tensors, pure_functions, pure_tensors
from benchmarks.programs.changing_functions import Call
from profkit import measure as measured
from profkit.model.measurement import WarningCode

Cases = Sequence[tuple[Callable[..., object], Callable[[], Call]]]


def measure(quick: bool) -> list[Figure]:
    """Time each function as a user would; if `quick`, the first ten of both kinds."""
    most = 10 if quick else None
    changing = (changing_tensors.CASES + changing_functions.CASES)[:most]
    pure = (pure_tensors.CASES + pure_functions.CASES)[:most]
    missed = [name for name, seen in _seen(changing) if not seen]
    suspected = [name for name, seen in _seen(pure) if seen]
    return [
        Figure(f"missed of {len(changing)} that change something", len(missed), "", 2, certain=True,
               detail=", ".join(missed)),
        Figure(f"suspected of {len(pure)} that do not", len(suspected), "", 0, certain=True,
               detail=", ".join(suspected)),
    ]  # fmt: skip


def _seen(cases: Cases) -> list[tuple[str, bool]]:
    return [(function.__qualname__, _changes(function, make())) for function, make in cases]


def _changes(function: Callable[..., object], call: Call) -> bool:
    args, kwargs = call
    found = measured(function, args=args, kwargs=kwargs, quick=True, processes=1, keep=False)
    if found.timing is None:
        raise RuntimeError(f"{function} was not timed")
    return found.timing.freshness.fresh or WarningCode.CHANGES_STATE in {
        warning.code for warning in found.warnings
    }
