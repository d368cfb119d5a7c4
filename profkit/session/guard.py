"""What a failure of profkit's own means to a sampled call; the guard itself is `profkit.process.guard`."""

from __future__ import annotations

from profkit.process.guard import LOG, explained, guarded, ignore, pass_on, say_once
from profkit.session.account import Account

__all__ = ["LOG", "explained", "guarded", "ignore", "pass_on", "refuse", "say_once"]


def refuse(account: Account, error: BaseException) -> bool:
    """Log once what ended an attempt to profile a call, and return False: the call runs unprofiled.

    Raises what the program is to see, and under `stop_at_error=True` the failure itself.
    """
    pass_on(error)
    if isinstance(error, RecursionError):  # the call itself is about to say so
        return False
    account.refused = True
    reason = explained(error, "starting to profile a call")
    LOG.debug("profkit failed", exc_info=error)
    if account.policy.strict:
        raise reason
    say_once(f"{account.region.key.label!r} runs unprofiled: {reason}")
    return False
