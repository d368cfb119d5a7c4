"""Count instructions by Python function, in a run of its own.

The trampoline changes how functions are called, so these counts explain others and are compared only with
their like.
"""

from __future__ import annotations

from functools import partial

from . import valgrind
from .counting import count_block, dump_path
from .instrumented import instrumented
from .protocol import Attributed, JobMessage
from .runnable import Runnable
from .state_policy import given_policy
from .trampoline import stubs_in


def attribute_case(
    measured: Runnable, baseline: Runnable, index: int, job: JobMessage, descriptor: int
) -> Attributed:
    """Count one block of a statement and one of the same loop, empty, by Python function.

    `descriptor` is the trampoline's map.
    """
    policy = measured.do(partial(given_policy, measured, job["cases"][index]["fresh"]))
    if policy.prepared is not None:
        measured, baseline = policy.prepared.full, policy.prepared.empty
    number = job["number"][index] or 1
    dumps = []
    for one in (baseline, measured):
        one.do(partial(one.run, job["warm"], valgrind.no_toggle()))
        dumped = one.do(partial(instrumented, partial(count_block, one, number)))
        dumps.append(dump_path(job["dump_prefix"], dumped))
    return {
        "number": number,
        "baseline_dumps": dumps[:1],
        "dumps": dumps[1:],
        "fresh": policy.fresh,
        "stubs": stubs_in(descriptor),
    }
