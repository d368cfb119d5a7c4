"""Kinds of a decorated function's calls: which are new, and how many are measured; timing in place."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from resource import RUSAGE_THREAD, getrusage

from profkit.measuring.runner.jobs import Task
from profkit.measuring.transfer.signature import Likeness, likeness_of, signature_of
from profkit.model.measurement import MeasuredRun, ProcessTimes, Timing
from profkit.model.notes import Note, NoteCode
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


def now() -> Moment:
    """Return the readings of this thread's clocks."""
    switches = getrusage(RUSAGE_THREAD).ru_nivcsw
    return Moment(REAL.perf_counter_ns() / 1e9, time.thread_time(), switches, REAL.time_ns())


def in_process_run(
    order: WorkOrder,
    described: tuple[str, str, int],
    spans: Sequence[tuple[Moment, Moment]],
    why: str,
    number: int = 1,
    warmups: int = 0,
) -> MeasuredRun:
    """Return the run of a call that was timed in place, in blocks of `number` executions.

    `described` is the call as `what_and_where` describes it, `spans` are the starts and ends of the blocks,
    the first of which are for warming up, and `why` is the reason why it was not measured in isolation.
    """
    from profkit.measuring.runner.outcomes import HERE, order_info, run_info, run_of
    from profkit.measuring.warnings import timing_warnings

    blocks, (first, last) = spans[warmups:], (spans[0][0], spans[-1][1])
    wall_s = sum(end.wall_s - start.wall_s for start, end in blocks)
    times = ProcessTimes(
        times_s=tuple((end.wall_s - start.wall_s) / number for start, end in blocks),
        zygote=0,
        cpu_share=sum(end.cpu_s - start.cpu_s for start, end in blocks) / wall_s if wall_s else 1.0,
        involuntary_switches=sum(end.involuntary - start.involuntary for start, end in blocks),
    )
    what, file, line = described
    called = order_info(Task(replace(order, stmt="", function=None)))
    info = run_info(
        replace(called, what=what, file=file, line=line), first.unix_ns, last.wall_s - first.wall_s
    )
    noted = replace(info, notes=(Note.of(NoteCode.IN_PROCESS, detail=why),))
    timing = Timing(number, (times,), HERE)
    return run_of(noted, timing, None, timing_warnings(order, timing))


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
    features: frozenset[tuple[str | None, str]] = frozenset()
    """Its values by parameter, and its shape by None; without those of earlier calls."""


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
        self._features: set[tuple[str | None, str]] = set()
        """Those of claimed calls."""

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
            if claim is None:
                if len(self._known) < _MAX_KNOWN:
                    self._known.add(signature)
                return None
            if len(self._claimed) >= self.most:
                self.refused = True
                return None
            self._claimed.add(signature)
            self._known.add(signature)
            self._features |= claim.features
        return claim

    def release(self, claim: Claim) -> None:
        """Withdraw a claim, so that another call of its kind can be measured."""
        with self._lock:
            self._claimed.discard(claim.signature)
            # Some signatures may be known only because of this claim.
            self._known = set(self._claimed)
            self._features -= claim.features

    def _new(self, signature: str, likeness: Likeness) -> Claim | None:
        known = Counter(parameter for parameter, _ in self._features)
        values = {pair for pair in likeness.values if known[pair[0]] < MAX_VALUES}
        features = frozenset({(None, likeness.shape), *values} - self._features)
        return Claim(signature, features) if features else None
