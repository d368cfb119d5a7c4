"""Decide who may join a session; the manager calls this under its lock."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import profkit.stats  # noqa: F401 - accounts need it later, when it may be out of reach
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Account, Policy


class Decision(enum.Enum):
    """What becomes of a call that asks for a session."""

    START = "start a session"
    JOIN = "join the session"
    SHARE = "join a session that runs under other options"
    REPLACE = "end the idle session and start another"
    WAIT = "wait until the others are done"
    SKIP = "run unprofiled"
    RAISE = "raise ProfilerBusy"


def decide(
    held: SamplerOptions | None, asked: SamplerOptions, policy: Policy, *, busy: bool, nested: bool
) -> Decision:  # fmt: skip
    """The decision for a call.

    `held` is what the session runs under, None without one. `busy`: a region of another call context
    is active; `nested`: a region of the same one is. A session of scope "process" shares with nobody.
    """
    if held is None:
        return Decision.START
    exclusive = "process" in (held.scope, asked.scope)
    if nested or (held == asked and not (exclusive and busy)):
        return Decision.JOIN
    if not busy:
        return Decision.REPLACE
    if policy.on_busy == "wait":
        return Decision.WAIT
    if policy.on_busy == "raise" and policy.strict:
        return Decision.RAISE
    return Decision.SHARE if policy.on_busy == "share" and not exclusive else Decision.SKIP


def rival_of(account: Account, others: Iterable[Account]) -> Account | None:
    """Return a block among the others whose samples cannot be distinguished from those of this one.

    They show the function, the file and the line. So it is another version of the block, or another label
    for the same `with` statement.
    """
    return next((other for other in others if _are_rivals(account, other)), None)


def _are_rivals(one: Account, other: Account) -> bool:
    if one is other or one.code is None or other.code is None or one.region.id == other.region.id:
        return False
    mine, its = one.region, other.region
    in_one_place = (mine.file, mine.key.qualname) == (its.file, its.key.qualname)
    if not in_one_place or set(mine.body).isdisjoint(its.body):
        return False
    return mine.key.line == its.key.line or one.code != other.code


def rivals_note(account: Account, rival: Account) -> str:
    """Return what to keep with a session in which two blocks' samples cannot be distinguished."""
    one, other = account.region.key, rival.region.key
    return (
        f"Samples of {one.label!r} and {other.label!r} show the same lines of {one.qualname}: each has those "
        "of both. Give the statement one label, or blocks of more than a second."
    )


def sharing_messages(label: str, holder: str) -> tuple[str, str]:
    """What to log, and what to keep with the session, when a call shares one under other options."""
    return (
        f"{label!r} shares the session that {holder!r} started under other sampler options; its run "
        "records the options that held",
        f"{label!r} asked for other sampler options than this session's.",
    )
