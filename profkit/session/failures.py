"""What went wrong with sessions: said once, and not tried again at every call."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import ProfilerBusy, ProfkitError, SamplerFailed, SpoolUnavailable
from profkit.model.session import Unprofiled
from profkit.process.guard import explained, let_through
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Account
from profkit.store.spool_files import append_unprofiled

LOG = logging.getLogger("profkit")

RETRY_AFTER_S = 60.0
"""After a failed start, calls with the same options run unprofiled for this long."""


EARLY_S = 5.0
"""A sampler that ends by itself within this time of its start counts as a failed start."""


class Failures:
    """The failures of this process, by the options that they came with."""

    def __init__(self, clock: Clock, spool: Path) -> None:
        self._clock, self._spool = clock, spool
        self._seen: dict[SamplerOptions, tuple[float, Exception]] = {}
        self._said: set[str] = set()
        self._noted_pid: int | None = None

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

    def of_sampler(self, options: SamplerOptions, sampler: str, age_s: float) -> None:
        """Note that a sampler ended by itself; if it was young, another would hardly live longer."""
        if age_s < EARLY_S:
            detail = f"it ended by itself within {EARLY_S:g} s of its start"
            remedy = f"see that nobody ends it; it is tried again after {RETRY_AFTER_S:g} s"
            self.of_session(options, SamplerFailed(sampler, "sampling", detail, remedy))

    def explained(self, error: Exception) -> ProfkitError:
        """Return the error that says why; what the system refuses to a session is to use its spool."""
        if isinstance(error, OSError):
            return SpoolUnavailable(self._spool, error.strerror or str(error))
        if not isinstance(error, ProfkitError):
            LOG.debug("profkit failed", exc_info=error)
        return explained(error, "profiling")

    def note_switched_off(self, account: Account) -> None:
        """Note in the spool, once for each process, that this one is not profiled, and by which switch."""
        if os.getpid() == self._noted_pid:
            return
        self._noted_pid = os.getpid()
        label, reason = account.region.key.label, "PROFKIT_CHILDREN=0 is set"
        LOG.info("%r runs unprofiled: %s, and this process was forked or spawned", label, reason)
        entry = Unprofiled(
            at_ns=self._clock.unix_ns(),
            pid=os.getpid(),
            host=os.uname().nodename,
            reason=reason,
            switch="unset it to profile forked and spawned workers",
            label=label,
        )
        try:
            append_unprofiled(self._spool, entry)
        except OSError as error:
            let_through(error)
            LOG.info("the spool cannot be written: %s", error)

    def forget(self) -> None:
        """Try everything again."""
        self._seen.clear()

    def say_once(self, message: str) -> None:
        """Log a warning, the same one only once in this process."""
        if message not in self._said:
            self._said.add(message)
            LOG.warning(message)
