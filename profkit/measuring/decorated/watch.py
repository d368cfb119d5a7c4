"""Watch over one decorated function: which calls are measured, when it counts as idle, and its runs."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import wrapt

from profkit import torch_tracing
from profkit.errors import CannotTravel
from profkit.measuring.decorated.backlog import Backlog, Pending
from profkit.measuring.decorated.calls import Claim, Kinds, Moment, in_process_run, is_traced, now
from profkit.measuring.decorated.options import Plan
from profkit.measuring.runner.jobs import expected_executions
from profkit.measuring.transfer.payload import Payload, pack, what_and_where
from profkit.measuring.transfer.signature import signature_of
from profkit.model.measurement import MeasuredRun
from profkit.model.workorder import WorkOrder
from profkit.originals import REAL
from profkit.process.guard import call_back, reraise_program_error

IDLE_S = 1.0
"""Seconds without a call of the function after which measuring begins."""

LOG = logging.getLogger("profkit")

UNDER_WAY: ContextVar[tuple[object, ...]] = ContextVar("profkit_under_way", default=())
"""Watches with a call in progress: a function's calls within its own calls are not the user's."""
PACKING = object()
"""In `UNDER_WAY` while arguments are packed, which runs their code: calls are ignored meanwhile."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Call to measure; it is timed in place if it has no payload."""

    claim: Claim
    label: str
    measure: Callable[[Moment, Moment], MeasuredRun]
    """Returns its run, given the call's start and end; raises errors of measuring."""
    payload: Payload | None = None


class Watch:
    """State of one function's calls; thread-safe.

    `measure` measures a packed call, keeps its run and closes the payload. `keep` keeps the run of a call
    that was timed in place, and raises OSError if it cannot be written.
    """

    def __init__(
        self,
        plan: Plan,
        backlog: Backlog,
        measure: Callable[[WorkOrder, Payload], MeasuredRun],
        keep: Callable[[MeasuredRun], None],
    ) -> None:
        self.plan, self.backlog, self._measure, self._keep = plan, backlog, measure, keep
        self._turn = itertools.count()
        self._lock = REAL.allocate_lock()
        self._kinds = Kinds(plan.max_signatures)
        self._runs: list[MeasuredRun] = []
        self._logged: set[str] = set()
        self._announced = False
        self._active, self._last_s = 0, 0.0

    def runs(self) -> Iterator[MeasuredRun]:
        """Measure waiting calls now, and return this process's runs of the function, newest first."""
        self.backlog.flush(self)
        return iter(() if self.backlog.forked else self._runs[::-1])

    def take(self, run: MeasuredRun) -> None:
        """Receive the run of a measured call."""
        if run.info.error is not None:
            self.say_once(f"{run.info.label} was not measured: {run.info.error}")
        self._runs.append(run)
        if self.plan.on_run is not None:
            call_back(self.plan.on_run, run, f"on_run of {run.info.label!r}")

    def ready_in_s(self) -> float:
        """Return the seconds until the function will have been idle for long enough, as far as known now."""
        if self._active:
            return IDLE_S
        return self._last_s + IDLE_S - self.backlog.clock.monotonic_s()

    def is_measurable(self) -> bool:
        """Return whether this is a call by the user, in a process that measures."""
        if not self.backlog.open or is_traced():
            return False
        under_way = UNDER_WAY.get()
        return self not in under_way and PACKING not in under_way

    def begin(self) -> None:
        """Note that a call begins."""
        with self._lock:
            self._active += 1

    def end(self) -> None:
        """Note that a call has ended."""
        with self._lock:
            self._active -= 1
            self._last_s = self.backlog.clock.monotonic_s()

    def choose(
        self, wrapped: Callable[..., Any], instance: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Chosen | None:
        """Pack a call that is the first of its kind; return None for others.

        Only exceptions from the program's signal handlers are raised.
        """
        if next(self._turn) % self.plan.every or self._kinds.closed:
            return None
        claim = self._kinds.claim(args if instance is None else (instance, *args), kwargs)
        if claim is None:
            self._warn_if_full()
            return None
        if type(wrapped) is wrapt.PartialCallableObjectProxy:  # Class.method(instance, …)
            wrapped, args = wrapped.__wrapped__, (instance, *args)
        label = f"{self.plan.order.label}({signature_of(args, kwargs)})"
        if self.backlog.ending:
            self.backlog.miss(label)
            return None
        order, token = replace(self.plan.order, label=label), UNDER_WAY.set((PACKING,))
        try:
            return torch_tracing.unseen(self._packed, claim, order, wrapped, args, kwargs)
        except BaseException:
            self._kinds.release(claim)
            raise
        finally:
            UNDER_WAY.reset(token)

    def enqueue(self, chosen: Chosen, start: Moment) -> None:
        """Queue `chosen`, whose call has returned, for measuring. Raises as `choose` does."""
        end = now()
        try:
            if chosen.payload is not None and not self._announced:
                self._announced = True
                self._announce(end.wall_s - start.wall_s)
            self.backlog.add(Pending(self, chosen.label, lambda: chosen.measure(start, end), chosen.payload))
        except Exception as error:  # noqa: BLE001 - the user's call must not fail
            reraise_program_error(error)
            self.abandon(chosen)
            self.say_once(f"{chosen.label} is not measured: {error}")

    def abandon(self, chosen: Chosen) -> None:
        """Release the claim of `chosen`, whose call raised: another call of its kind may be measured."""
        self._kinds.release(chosen.claim)
        if chosen.payload is not None:
            chosen.payload.close()

    def note_traced(self) -> None:
        """Log that a compiler took the plain function, so that calls of compiled code are not seen."""
        self.say_once(f"{self.plan.order.label}: calls that torch compiles or exports are not measured")

    def say_once(self, message: str) -> None:
        """Log a warning, each message only once per function."""
        if message not in self._logged:
            self._logged.add(message)
            LOG.warning(message)

    def _announce(self, call_s: float) -> None:
        """Log once how often the function will be executed; at level INFO if the user set a limit."""
        order = self.plan.order
        kinds = f"for each kind of arguments (at most {self._kinds.most})"
        if order.runs is not None:
            most = max(order.runs, order.mode.times + order.mode.counts)
            LOG.info("%s will be run at most %d times in other processes %s", order.label, most, kinds)
            return
        LOG.warning(
            "%s will be run %s times or more in other processes %s, with its side effects on files, "
            "databases and servers; limit this with runs= and max_signatures=",
            order.label, _rounded(expected_executions(order, max(call_s, 1e-9))), kinds,
        )  # fmt: skip

    def _warn_if_full(self) -> None:
        if self._kinds.closed:
            self.say_once(
                f"{self.plan.order.label} is called with more than {self._kinds.most} kinds of arguments: "
                "further kinds are not measured; raise max_signatures= to measure them"
            )

    def _packed(self, claim: Claim, order: WorkOrder, function: Callable[..., Any], args: tuple[Any, ...],
                kwargs: dict[str, Any]) -> Chosen | None:  # fmt: skip
        try:
            try:
                self.backlog.check_room()
                payload = pack(function, args, kwargs)
            except CannotTravel as error:
                reraise_program_error(error)
                self.say_once(f"{self.plan.order.label} is timed in this process, not isolated: {error}")
                in_place = partial(self._in_place, order, what_and_where(function, args, kwargs), str(error))
                return Chosen(claim, order.label, in_place)
            return Chosen(claim, order.label, lambda *_: self._measure(order, payload), payload)
        except Exception as error:  # noqa: BLE001 - the user's call must not fail
            reraise_program_error(error)
            self.say_once(f"{self.plan.order.label} is not measured: {type(error).__name__}: {error}")
            return None

    def _in_place(
        self, order: WorkOrder, described: tuple[str, str, int], why: str, start: Moment, end: Moment
    ) -> MeasuredRun:
        run = in_process_run(order, described, [(start, end)], why)
        self._keep(run)
        return run


def _rounded(number: int) -> str:
    """Return a number rounded to two significant digits: `4,200`."""
    return f"{round(number, 2 - len(str(number))):,}" if number >= 100 else str(number)
