"""Options that `profile` takes with a measuring mode, and the plan for a function's calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from profkit.errors import InvalidOption, UnknownOption, UsageError
from profkit.measuring.orders import CommonOptions, MeasureOptions, check_positive, work_order
from profkit.model.measurement import MeasuredRun
from profkit.model.region import RegionKind, kind_of
from profkit.model.workorder import WorkOrder

MeasuredMode = Literal["timer", "callgrind", "timer+callgrind"]
MODES: tuple[MeasuredMode, ...] = ("timer", "callgrind", "timer+callgrind")


class MeasuredOptions(CommonOptions, total=False):
    """Keyword arguments of `profile` with a measuring mode; explained in docs/measuring.md."""

    enabled: bool
    every: int
    max_signatures: int | None
    exit_timeout_s: float | None
    on_run: Callable[[MeasuredRun], object] | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan for measuring the calls of one function."""

    order: WorkOrder
    """Work order without function and arguments; each call adds its own."""
    every: int
    """Consider one call in every N, starting with the first."""
    coroutine: bool
    """True if a call returns an awaitable."""
    max_signatures: int | None = None
    """Maximum of measured kinds of arguments; None: the default, which mostly ignores values."""
    exit_timeout_s: float | None = None
    """Longest wait for remaining measurements when the program ends, in seconds; None: the default."""
    on_run: Callable[[MeasuredRun], object] | None = None
    """Callback with the run of each measured call."""


def plan_of(function: Callable[..., object], mode: str, options: Mapping[str, Any]) -> Plan:
    """Return the plan for a function under options that `check` accepted; raise `UsageError` if none fits."""
    target = getattr(function, "__func__", function)  # of static and class methods
    chosen = {name: value for name, value in options.items() if name in CommonOptions.__annotations__}
    order = work_order(target, **cast(MeasureOptions, {**chosen, "mode": mode}))
    kind = kind_of(target)
    if kind in (RegionKind.GENERATOR, RegionKind.ASYNC_GENERATOR):
        article = "an" if kind is RegionKind.ASYNC_GENERATOR else "a"
        raise UsageError(
            f"{order.label} returns {article} {kind.value}, which runs only when it is consumed",
            f"set mode={mode!r} on a function that consumes it",
        )
    return Plan(
        replace(order, function=None),
        options.get("every", 1),
        kind is RegionKind.COROUTINE,
        options.get("max_signatures"),
        options.get("exit_timeout_s"),
        options.get("on_run"),
    )


def check(mode: object, options: Mapping[str, object], of_samples: Iterable[str]) -> None:
    """Raise `UsageError` for an unknown mode, or for an option that the mode does not have."""
    if mode not in MODES:
        choices = ", ".join(map(repr, ("samples", *MODES, "memory", "trace")))
        raise InvalidOption("mode", mode, f"give one of {choices}")
    known = MeasuredOptions.__annotations__
    for name in options:
        if name in known:
            continue
        if name in of_samples:
            raise InvalidOption("mode", mode, f"{name}={options[name]!r} is an option of mode='samples'")
        raise UnknownOption(name, known, f" with mode={mode!r}")
    _check_values(options)


def refuse_with_samples(options: Iterable[str], of_samples: Iterable[str]) -> None:
    """Raise `UsageError` for an option that only measuring modes have."""
    for name in MeasuredOptions.__annotations__.keys() - set(of_samples):
        if name in options:
            choices = " or ".join(f"mode={mode!r}" for mode in MODES)
            raise UsageError(f"{name} is not an option of mode='samples'", f"remove it, or set {choices}")


def _check_values(options: Mapping[str, object]) -> None:
    enabled, label = options.get("enabled", True), options.get("label")
    check_positive("every", options.get("every", 1))
    if options.get("max_signatures") is not None:
        check_positive("max_signatures", options["max_signatures"])
    limit_s = options.get("exit_timeout_s")
    if limit_s is not None and (
        isinstance(limit_s, bool) or not isinstance(limit_s, int | float) or not 0 <= limit_s < math.inf
    ):
        raise InvalidOption("exit_timeout_s", limit_s, "give a number of seconds, 0 or more")
    on_run = options.get("on_run")
    if on_run is not None and not callable(on_run):
        raise InvalidOption("on_run", on_run, "give a function that takes a run")
    if not isinstance(enabled, bool):
        raise InvalidOption("enabled", enabled, "give True or False")
    if label is not None and not isinstance(label, str):
        raise InvalidOption("label", label, "give a string")
