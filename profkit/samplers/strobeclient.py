"""Meta's strobeclient as a sampler: it keeps the samples remotely and returns links to them."""

from __future__ import annotations

import logging
import re
import shutil
from dataclasses import replace
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import InvalidOption, SamplerError, SamplerFailed, SamplerMissing
from profkit.model.notes import Note, NoteCode
from profkit.model.session import SamplerPlan, Segment, SessionState
from profkit.process.child import run_child
from profkit.process.detached import log_size
from profkit.process.guard import reraise_signal_error
from profkit.process.procfs import cpu_frequency_hz, pid_namespace_inode
from profkit.samplers.base import Attachment, LiveStacks, Pauses, SegmentFiles, log_path, plain_plan
from profkit.samplers.options import UNLIMITED_S, SamplerOptions, check_common, cpu_frequency
from profkit.samplers.process_attachment import read_log

_RUN_ID = re.compile(r"INFO Run Id: (-?\d+)")
_STATUS = re.compile(r"Profile run status: (\w+)")
_FINISHED = re.compile(r"Profile run finished with (\w+)")
_STOPPED = re.compile(r"INFO ::1:.*Success!")
_LINK = re.compile(r"((?:Total samples|GraphProfiler|Icicle view \(python stack\))[^:\n]*):?[ \t]*(.*)")
_LONGEST_S = 600.0
"""Default of the longest duration, which the service gets at the start."""
_STATES = {
    "PREPARING": SessionState.PREPARING,
    "RUNNING": SessionState.RUNNING,
    "PROCESSING": SessionState.PROCESSING,
}


_COMMAND_TIMEOUT_S = 30.0
_FINISH_TIMEOUT_S = 60.0
_FIX = "see its replies in the session's log in the spool"
_logger = logging.getLogger("profkit")


def parse_status(reply: str) -> tuple[SessionState, tuple[tuple[str, str], ...]] | None:
    """Return the state in a reply of `getRunStatus`, None if unknown, and links (what, value)."""
    finished = _FINISHED.search(reply)
    if finished is not None:
        if finished.group(1) != "SUCCESS":
            return SessionState.FAILED, ()
        return SessionState.SUCCESS, tuple(_LINK.findall(reply))
    status = _STATUS.search(reply)
    state = _STATES.get(status.group(1)) if status else None
    return (state, ()) if state else None


def _failed(stage: str, detail: str) -> SamplerFailed:
    return SamplerFailed("strobeclient", stage, detail, _FIX)


def run_arguments(pid: int, namespace: int, plan: SamplerPlan) -> tuple[str, ...]:
    """Return the arguments of `run`; `pid` belongs to the pid namespace with inode `namespace`."""
    if plan.sample_each is None:
        raise ValueError("a plan for strobeclient has an interval in cycles")
    tags = ("--sample-tags", ",".join(sorted(plan.tags))) if plan.tags else ()
    return (
        *("run", "--profiler", "pyperf", "--event", "cycles", "--async"),
        *("--sample-interval", str(round(plan.sample_each))),
        *("--duration-ms", str(round(plan.max_duration_s * 1000))),
        *("--pid", f"{namespace}:{pid}"),
        *tags,
    )


class StrobeclientRun(Attachment):
    """Attachment of one strobelight run; not thread-safe. Appends the output of all commands to one log."""

    pauses = Pauses(first_s=0.05, growth=1.5, longest_s=1.0)

    def __init__(self, program: str, log: Path, pid: int, plan: SamplerPlan, index: int) -> None:
        """Start a run on a process; raises `SamplerFailed` if that fails."""
        self._program, self._log, self._index = program, log, index
        self._links: tuple[tuple[str, str], ...] = ()
        self._finished = self._stop_sent = False
        reply = self._reply("start", *run_arguments(pid, pid_namespace_inode(pid), plan))
        found = _RUN_ID.search(reply)
        if found is None:
            raise _failed("start", f"no run id in {reply.strip()!r}")
        self._run_id = found.group(1)

    def _reply(self, stage: str, *arguments: str) -> str:
        """Return the reply to one command; raises `SamplerFailed` if it fails or takes too long."""
        before = log_size(self._log)
        try:
            ended = run_child((self._program, *arguments), self._log, _COMMAND_TIMEOUT_S)
        except OSError as error:  # TimeoutError is one
            raise _failed(stage, str(error)) from error
        reply = read_log(self._log, before)
        # The code is None if the program's own waitpid(-1) took it: then only the reply is checked.
        if ended.code:
            raise _failed(stage, f"exit code {ended.code}, {reply.strip()!r}")
        return reply

    def segment(self) -> Segment:
        return Segment(self._index, started_ns=0, remote_id=self._run_id, links=self._links)

    def poll(self) -> SessionState:
        """See `Attachment.poll`; takes as long as one command."""
        if self._finished:
            return SessionState.SUCCESS
        stage = "stop" if self._stop_sent else "run"
        reply = self._reply(stage, "getRunStatus", "--run-id", self._run_id)
        status = parse_status(reply)
        if status is None or status[0] is SessionState.FAILED:
            raise _failed(stage, reply.strip() or "an empty reply")
        state, self._links = status
        self._finished = state is SessionState.SUCCESS
        return state

    def request_stop(self) -> None:
        """See `Attachment.request_stop`; raises `SamplerFailed` if the run cannot be stopped."""
        if self._finished or self._stop_sent:
            return
        reply = self._reply("stop", "stopRun", "--run-id", self._run_id)
        self._stop_sent = True
        # A run that has reached its duration can no longer be stopped, which is no failure.
        if not _STOPPED.search(reply) and self.poll() in (SessionState.PREPARING, SessionState.RUNNING):
            raise _failed("stop", reply.strip() or "an empty reply")

    def stop_timeout_s(self) -> float:
        return _FINISH_TIMEOUT_S

    def kill(self) -> None:
        """See `Attachment.kill`: a run that cannot be stopped ends after its duration."""
        try:
            self.request_stop()
        except SamplerError as error:
            reraise_signal_error(error)
            _logger.debug("a strobeclient run was not stopped and ends after its duration: %s", error)


DEFAULT_SAMPLE_EACH = 1e7
"""Default cycles per sample, the same as in PyTorch's own wrapper."""


class StrobeclientSampler:
    name = "strobeclient"

    def find(self) -> str:
        """Return the path of the strobeclient on PATH; raises `SamplerMissing`."""
        program = shutil.which("strobeclient")
        if program is None:
            raise SamplerMissing(
                self.name, self.name, "use sampler='pyspy': strobeclient is available only at Meta"
            )
        return str(Path(program).absolute())

    def version(self) -> str | None:
        """Return None: strobeclient reports no version."""
        return None

    def check(self, options: SamplerOptions) -> None:
        """Raise `UsageError` for options that strobeclient's protocol cannot express."""
        check_common(options)
        if options.blocking != "auto":
            raise InvalidOption(
                "blocking", options.blocking, "strobeclient cannot set it: leave it at 'auto'"
            )
        unsupported = {
            "native": options.native,
            "gil": options.gil,
            "subprocesses": options.subprocesses,
            "async_stacks": options.async_stacks,
        }
        for option, enabled in unsupported.items():
            if enabled:
                raise InvalidOption(
                    option, True, "strobeclient does not support it: leave it out, or use sampler='pyspy'"
                )
        for tag in options.tags:
            if not tag or "," in tag:
                raise InvalidOption("sample_tags", tag, "strobeclient supports only tags without commas")
        if options.rate_hz is not None:
            cpu_frequency("rate", options.rate_hz)

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        """See `Sampler.plan`; `sample_each` is always set, since strobeclient needs it."""
        rate_hz, sample_each = _rate_and_cycles(options)
        return replace(
            plain_plan(self.name, options, rate_hz),
            idle=False,
            max_duration_s=_LONGEST_S if options.max_duration_s >= UNLIMITED_S else options.max_duration_s,
            sample_each=sample_each,
            notes=(Note(NoteCode.CPU_TIME_ONLY),) if options.idle else (),
        )

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        return StrobeclientRun(self.find(), log_path(folder, index), pid, plan, index)

    def read(self, files: SegmentFiles, segment: Segment, plan: SamplerPlan) -> None:
        """Return None: strobelight keeps the samples."""
        return


def _rate_and_cycles(options: SamplerOptions) -> tuple[float, float]:
    """Return samples per busy processor second (0 if its frequency is unknown), and cycles per sample."""
    if options.rate_hz is not None:
        return options.rate_hz, cpu_frequency("rate", options.rate_hz) / options.rate_hz
    sample_each = options.sample_each or DEFAULT_SAMPLE_EACH
    return (cpu_frequency_hz() or 0.0) / sample_each, sample_each
