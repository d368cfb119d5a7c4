"""Injection of faults: choice of the remaining ones, in parallel, each outcome saved at once."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from benchmarks.faults.injections import HELD, Injection, NotPermitted, Outcome, chosen_numbers
from benchmarks.faults.registry import FAULTS, Fault
from benchmarks.faults.results import Results
from benchmarks.faults.rows import FaultRow, row_of
from benchmarks.faults.sandbox import end_sandboxes
from tests.support.unsteady import MOST_FAILED


def planned(
    faults: Mapping[str, Fault], seed: int, *, short: bool, numbers: Sequence[int] | None = None
) -> dict[str, list[Injection]]:
    """Return the injections of a campaign, by fault; `numbers` selects some of each fault."""
    return {
        name: [
            Injection(name, seed, number, short)
            for number in numbers or chosen_numbers(fault.full, fault.short if short else fault.full, seed)
            if number < fault.full
        ]
        for name, fault in faults.items()
    }


def run_campaign(plan: Mapping[str, Sequence[Injection]], results: Results, jobs: int) -> None:
    """Make the injections that have no outcome yet."""
    for name, injections in plan.items():
        _inject_all(FAULTS[name], [each for each in injections if not results.known(each)], results, jobs)


def repeat_failed(plan: Mapping[str, Sequence[Injection]], results: Results) -> list[Injection]:
    """Make each failed injection again, alone; return those that hold now, as their outcomes then say."""
    failed = [
        each for injections in plan.values() for each in injections
        if results.of(each.fault)[each.number].verdict != HELD
    ]  # fmt: skip
    if len(failed) > MOST_FAILED or any(FAULTS[each.fault].searches for each in failed):
        return []
    for injection in failed:
        _say(f"{injection.fault} {injection.number}: again, alone")
        _inject_all(FAULTS[injection.fault], [injection], results, jobs=1)
    return [each for each in failed if results.of(each.fault)[each.number].verdict == HELD]


def rows_of(plan: Mapping[str, Sequence[Injection]], results: Results) -> list[FaultRow]:
    """Return a row for each fault, of all its planned injections."""
    return [
        row_of(name, {each.number: results.of(name)[each.number] for each in injections})
        for name, injections in plan.items()
    ]


def _inject_all(fault: Fault, injections: Sequence[Injection], results: Results, jobs: int) -> None:
    if not injections:
        return
    start_s = time.monotonic()
    _say(f"{injections[0].fault}: {fault.what}, {len(injections)} times …")
    with ThreadPoolExecutor(1 if fault.alone else jobs) as workers:
        outcomes = {workers.submit(_injected, fault, injection): injection for injection in injections}
        try:
            for done in as_completed(outcomes):
                outcome = done.result()
                results.add(outcomes[done], outcome)
                if outcome.verdict != HELD:
                    _say(f"  {outcomes[done].number}: {outcome.verdict}: {_why(outcome)}")
        except BaseException:  # an interrupt
            workers.shutdown(wait=False, cancel_futures=True)
            while not all(each.done() for each in outcomes):
                end_sandboxes()
            raise
    _say(f"  {time.monotonic() - start_s:.0f} s")


def _injected(fault: Fault, injection: Injection) -> Outcome:
    """Return the outcome of an injection; errors of the campaign itself are no failures of profkit."""
    try:
        return fault.inject(injection)
    except NotPermitted as error:
        return Outcome(injected=0, not_run=str(error))
    except (RuntimeError, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
        return Outcome(injected=0, not_run=f"the campaign failed: {type(error).__name__}: {error}")


def _why(outcome: Outcome) -> str:
    return " ".join((outcome.not_run or "; ".join(outcome.problems) or str(outcome)).split())[:600]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
