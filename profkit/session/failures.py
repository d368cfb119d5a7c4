"""What went wrong with sessions: said once, and not tried again at every call."""

from __future__ import annotations

import logging
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import ProfilerBusy, ProfkitError, SpoolUnavailable
from profkit.samplers.base import SamplerOptions
from profkit.session.account import Account

LOG = logging.getLogger("profkit")

RETRY_AFTER_S = 60.0
"""After a failed start, calls with the same options run unprofiled for this long."""


class Failures:
    """The failures of this process, by the options that they came with."""

    def __init__(self, clock: Clock, spool: Path) -> None:
        self._clock, self._spool = clock, spool
        self._seen: dict[SamplerOptions, tuple[float, Exception]] = {}
        self._said: set[str] = set()

    def note(self, options: SamplerOptions, error: Exception) -> None:
        """Remember a failure; a start that is refused because of it does not renew it."""
        if self.recent(options) is None:
            self._seen[options] = self._clock.monotonic_s(), error

    def recent(self, options: SamplerOptions) -> Exception | None:
        """The failure because of which these options are not worth a try now."""
        at_s, error = self._seen.get(options, (0.0, None))
        return error if error is not None and self._clock.monotonic_s() - at_s < RETRY_AFTER_S else None

    def refuse(self, account: Account) -> bool:
        """Whether a call runs unprofiled because of `recent`; raises that for a strict policy."""
        failure = self.recent(account.options)
        if failure is not None and account.policy.strict:
            raise failure.with_traceback(None)
        return failure is not None

    def of_call(self, account: Account, error: Exception) -> None:
        """A call could not be profiled: remember and say why, or raise it for a strict policy."""
        if isinstance(error, ProfilerBusy):
            raise error
        reason = self.explained(error)
        self.note(account.options, reason)
        if account.policy.strict:
            raise reason
        self.say_once(f"{account.region.key.label!r} runs unprofiled: {reason}")

    def of_session(self, options: SamplerOptions | None, error: Exception) -> str:
        """A session, if there was one, ends because of an error: remember, say and return why."""
        reason = self.explained(error)
        if options is not None:
            self.note(options, reason)
        self.say_once(f"profiling stopped: {reason}")
        return str(reason)

    def explained(self, error: Exception) -> ProfkitError:
        """What the system refuses to a session is to use its spool, but for rare cases."""
        if isinstance(error, ProfkitError):
            return error
        detail = error.strerror if isinstance(error, OSError) else None
        return SpoolUnavailable(self._spool, detail or str(error))

    def forget(self) -> None:
        """Try everything again."""
        self._seen.clear()

    def say_once(self, message: str) -> None:
        """Log a warning, the same one only once in this process."""
        if message not in self._said:
            self._said.add(message)
            LOG.warning(message)
