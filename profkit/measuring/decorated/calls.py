"""Calls of a decorated function: detection of new kinds, and timing in place."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from resource import RUSAGE_THREAD, getrusage

from profkit.measuring.transfer.signature import Likeness, likeness_of, signature_of
from profkit.model.measurement import MeasuredRun, ProcessTimes
from profkit.model.workorder import WorkOrder
from profkit.originals import REAL


def is_traced() -> bool:
    """Return whether calls are recorded, transformed or made with tensors that hold no numbers.

    This covers torch.jit.trace, torch.fx's make_fx and torch.export, fake tensors, torch.func's transforms,
    and CUDA graph capture. (torch.compile takes the plain function, and never calls this.)
    """
    torch = sys.modules.get("torch")
    core = getattr(torch, "_C", None)
    if torch is None or core is None:
        return False
    try:
        return (
            core._get_tracing_state() is not None
            or core._len_torch_dispatch_stack() > 0
            or core._functorch.peek_interpreter_stack() is not None
            or (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())
        )
    except AttributeError:  # torch is being imported, or has other names for these
        return False


@dataclass(frozen=True, slots=True)
class Moment:
    """Readings of a thread's clocks at one time."""

    wall_s: float
    cpu_s: float
    involuntary: int
    unix_ns: int

    def times(self, end: Moment) -> ProcessTimes:
        """Return the times from here to `end`, as one block of one execution."""
        wall_s = end.wall_s - self.wall_s
        return ProcessTimes(
            times_s=(wall_s,),
            zygote=0,
            cpu_share=(end.cpu_s - self.cpu_s) / wall_s if wall_s else 1.0,
            involuntary_switches=end.involuntary - self.involuntary,
        )


def now() -> Moment:
    """Return the readings of this thread's clocks."""
    switches = getrusage(RUSAGE_THREAD).ru_nivcsw
    return Moment(REAL.perf_counter_ns() / 1e9, time.thread_time(), switches, REAL.time_ns())


def in_process_run(
    order: WorkOrder, described: tuple[str, str, int], start: Moment, end: Moment, why: str
) -> MeasuredRun:
    """Return the run of a call timed in place; `why` is the reason it was not measured in isolation."""
    from profkit.measuring.runner.in_process import Span, run_of_times

    span = Span(start.unix_ns, end.wall_s - start.wall_s)
    return run_of_times(order, described, start.times(end), span, why)


MAX_SIGNATURES = 32
"""Default maximum of measured kinds of arguments per function."""

MAX_VALUES = 4
"""Number of values per parameter that each make a new kind, under the default maximum."""

_MAX_KNOWN = 4096
"""Number of signatures that are remembered, so that their later calls are recognized fast."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Call to measure, and which of its features are new."""

    signature: str
    shape: str | None = None
    """None: an earlier call had the same shape."""
    values: tuple[tuple[str, str], ...] = ()


class Kinds:
    """Kinds of arguments of a function's calls; thread-safe.

    A loop over numbers is one kind of call, not one for each number: a call is of a new kind if types, shapes
    or modes are new, or if a parameter has one of its first `MAX_VALUES` values (for containers: lengths).
    If the user sets a limit, every signature is a kind.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = MAX_SIGNATURES if most is None else most
        self._exact = most is not None
        self.refused = False
        """True if a call of a new kind was refused because the maximum was reached."""
        self._lock = REAL.allocate_lock()
        self._claimed: set[str] = set()
        self._known: set[str] = set()
        """Claimed signatures, and others that are of no new kind."""
        self._shapes: set[str] = set()
        self._values: dict[str, set[str]] = {}

    @property
    def closed(self) -> bool:
        """True if the maximum of kinds is reached and one more was refused."""
        return self.refused and len(self._claimed) >= self.most

    def claim(self, args: Sequence[object], kwargs: Mapping[str, object]) -> Claim | None:
        """Return the claim of a call of a new kind; None for others, and if the maximum is reached."""
        signature = signature_of(args, kwargs)
        if signature in self._known:
            return None
        likeness = None if self._exact else likeness_of(args, kwargs)
        with self._lock:
            if signature in self._known:
                return None
            claim = Claim(signature) if likeness is None else self._new(signature, likeness)
            if claim is not None and len(self._claimed) >= self.most:
                self.refused = True
                return None
            self._note(signature, claim)
        return claim

    def release(self, claim: Claim) -> None:
        """Withdraw a claim, so that another call of its kind can be measured."""
        with self._lock:
            self._claimed.discard(claim.signature)
            # Some signatures may be known only because of this claim.
            self._known = set(self._claimed)
            if claim.shape is not None:
                self._shapes.discard(claim.shape)
            for parameter, value in claim.values:
                self._values[parameter].discard(value)

    def _new(self, signature: str, likeness: Likeness) -> Claim | None:
        shape = None if likeness.shape in self._shapes else likeness.shape
        values = tuple(pair for pair in likeness.values if self._is_new_value(*pair))
        return Claim(signature, shape, values) if shape is not None or values else None

    def _note(self, signature: str, claim: Claim | None) -> None:
        if claim is None:
            if len(self._known) < _MAX_KNOWN:
                self._known.add(signature)
            return
        self._claimed.add(signature)
        self._known.add(signature)
        if claim.shape is not None:
            self._shapes.add(claim.shape)
        for parameter, value in claim.values:
            self._values.setdefault(parameter, set()).add(value)

    def _is_new_value(self, parameter: str, value: str) -> bool:
        known = self._values.get(parameter, ())
        return value not in known and len(known) < MAX_VALUES
