"""What processes are told about the state that executions change, and what the first of them finds out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from profkit.errors import BadReply
from profkit.measuring.pool.jobs import Reply
from profkit.measuring.results import fresh_of
from profkit.measuring.worker.asked import SHARED, UNDECIDED, Fresh
from profkit.model.workorder import Language, WorkOrder


def first_fresh(order: WorkOrder) -> Fresh:
    """Return what the first process of an order is told about the state of executions."""
    if order.language is Language.CPP or order.fresh is False:
        return SHARED
    if order.fresh or order.runs is not None:  # to find out, it would have to be executed
        return {**SHARED, "decided": bool(order.fresh) or order.function is not None}
    return UNDECIDED


def settled(label: str, fresh: Sequence[Fresh], ask: Callable[[Sequence[Fresh]], Reply]) -> Reply:
    """Return the reply of a process; ask another one if the first finds what has to be known before.

    Raises BadReply, and what `ask` raises.
    """
    reply = ask(fresh)
    found = fresh_of(label, reply)
    if all(one["decided"] is not None for one in found):
        return reply
    reply = ask(found)
    if any(one["decided"] is None for one in fresh_of(label, reply)):
        raise BadReply(label, "it does not find out what its statement changes", reply.output)
    return reply
