"""Failures of sessions: logged once, and no new session for a minute; those of samplers: `fallbacks`."""

from __future__ import annotations

import os
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import ProfilerBusy, ProfkitError, SamplerError, SamplerFailed, SpoolUnavailable
from profkit.model.session import Unprofiled, UnprofiledReason
from profkit.process.guard import LOG, explained, reraise_signal_error
from profkit.samplers.options import SamplerOptions
from profkit.session.counters import Counters

RETRY_AFTER_S = 60.0
"""Time until what failed is tried again."""


class Failures:
    """Failures of this process by sampler options."""

    def __init__(self, clock: Clock, spool: Path) -> None:
        self._clock, self._spool = clock, spool
        self._seen: dict[SamplerOptions, tuple[float, Exception]] = {}
        self._logged: set[str] = set()
        self._noted_pid: int | None = None

    def note(self, options: SamplerOptions, error: Exception) -> None:
        """Remember a failure, unless one is remembered: a refused start does not renew it."""
        if self.recent(options) is None:
            self._seen[options] = self._clock.monotonic_s(), error

    def recent(self, options: SamplerOptions) -> Exception | None:
        """Return the recent failure because of which these options are not tried again yet."""
        at_s, error = self._seen.get(options, (0.0, None))
        return error if error is not None and self._clock.monotonic_s() - at_s < RETRY_AFTER_S else None

    def refuse(self, counters: Counters) -> bool:
        """Return whether a call runs unprofiled because of `recent`; a strict policy raises that."""
        failure = self.recent(counters.options)
        if failure is not None and counters.policy.strict:
            raise failure.with_traceback(None)
        return failure is not None

    def of_call(self, counters: Counters, error: Exception) -> None:
        """Remember and log why a call was not profiled; a strict policy raises the error."""
        if isinstance(error, ProfilerBusy):
            raise error
        reason = self.explained(error)
        self.note(counters.options, reason)
        if counters.policy.strict:
            raise reason
        self.say_once(f"{counters.region.key.label!r} runs unprofiled: {reason}")

    def of_session(self, options: SamplerOptions | None, error: Exception) -> str:
        """Log and return why a session ends; `options` are None if there was no session.

        A sampler's failure is not remembered here: the next session begins with another way to sample.
        """
        reason = self.explained(error)
        if options is not None and not isinstance(reason, SamplerError):
            self.note(options, reason)
        self.say_once(f"profiling stopped: {reason}")
        return str(reason)

    def explained(self, error: Exception) -> ProfkitError:
        """Return an error as a ProfkitError; a session's OSErrors come from its spool."""
        if isinstance(error, OSError):
            return SpoolUnavailable(self._spool, error.strerror or str(error))
        if not isinstance(error, ProfkitError):
            LOG.debug("profkit failed", exc_info=error)
        return explained(error, "profiling")

    def note_children_off(self, counters: Counters) -> None:
        """Note in the spool, once per process, that PROFKIT_CHILDREN=0 turns profiling off here."""
        if os.getpid() == self._noted_pid:
            return
        self._noted_pid = os.getpid()
        label = counters.region.key.label
        LOG.info(
            "%r runs unprofiled: PROFKIT_CHILDREN=0 is set, and this process was forked or spawned", label
        )
        entry = Unprofiled(
            at_ns=self._clock.unix_ns(),
            pid=os.getpid(),
            host=os.uname().nodename,
            reason=UnprofiledReason.CHILDREN_OFF,
            label=label,
        )
        from profkit.store.spool_files import append_unprofiled

        try:
            append_unprofiled(self._spool, entry)
        except OSError as error:
            reraise_signal_error(error)
            LOG.info("the spool is not writable: %s", error)

    def forget(self) -> None:
        """Forget all failures, so that every start is tried again."""
        self._seen.clear()

    def say_once(self, message: str) -> None:
        """Log a warning, each message once per process."""
        if message not in self._logged:
            self._logged.add(message)
            LOG.warning(message)


def ended_early(sampler: str, early_s: float) -> SamplerFailed:
    """Return the failure of a sampler that ended soon after its start; another would likely end, too."""
    detail = f"it ended within {early_s:g} s of its start"
    fix = f"make sure that nothing ends it; profkit retries after {RETRY_AFTER_S:g} s"
    return SamplerFailed(sampler, "sampling", detail, fix)
