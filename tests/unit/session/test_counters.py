"""Counters of functions that are gone: a session drops them."""

from __future__ import annotations

from profkit.session.counters import Counters, forget_gone
from tests.support.example_counters import counters_of


def labels(known: list[Counters]) -> list[str]:
    return [counters.region.key.label for counters in known]


def test_only_counters_without_a_function_are_dropped() -> None:
    held = counters_of("held")
    known = [counters_of("first"), counters_of("gone"), held, counters_of("gone, too")]
    forget_gone(known)
    assert labels(known) == ["first", "held"]
    del held
    forget_gone(known)
    assert labels(known) == ["first"]


def test_counters_with_counts_or_a_callback_stay() -> None:
    known = [counters_of("first"), counters_of("counted"), counters_of("callback", on_run=print)]
    known[1].durations.append(5)
    forget_gone(known)
    assert labels(known) == ["first", "counted", "callback"]
    known[1].drain(1)
    forget_gone(known)
    assert labels(known) == ["first", "callback"]


def test_functions_that_are_in_use_stay() -> None:
    """Their markers refer to the counters, as closures do."""

    def marker_of(counters: Counters) -> object:
        return lambda: counters

    known = [counters_of("first"), counters_of("function")]
    marker = marker_of(known[1])
    forget_gone(known)
    assert labels(known) == ["first", "function"]
    del marker
    forget_gone(known)
    assert labels(known) == ["first"]
