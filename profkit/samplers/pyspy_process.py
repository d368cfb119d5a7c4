"""py-spy 0.4 as a process: its command line, when it is RUNNING, whether its file is complete, and its log.

RUNNING is read from its signal handlers, not from its output: it prints its line before it can be stopped.
"""

from __future__ import annotations

import math
import re
import signal
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerError
from profkit.model.session import SamplerPlan
from profkit.process import procfs, watchdog
from profkit.process.detached import Watched
from profkit.samplers import helper
from profkit.samplers.base import log_path, output_path, rounds_path
from profkit.samplers.process_attachment import KILLED_BY_FILTER, START, ProcessAttachment, ended_how, tail_of

BACKSTOP_S = 5
"""Time after the longest duration at which a sampler ends by itself if the program cannot stop it."""
_TAIL = 512
_PROGRAM = "py-spy"
_HELPER = helper.__path__[0]
_COUNTS = re.compile(r"Samples: (\d+) Errors: (\d+)")
_BEHIND = re.compile(r"([\d.]+)s behind in sampling")
_ERROR = re.compile(r"^(?:Error|error): (.+)$", re.MULTILINE)
# With --subprocesses, py-spy reports a denial as "no python processes found". A seccomp filter may also
# answer ENOSYS, or kill the caller by SIGSYS.
_DENIED = re.compile(
    "permission denied|operation not permitted|function not implemented|no python processes found in process"
    f"|{KILLED_BY_FILTER}",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_PYTHON = ("Failed to find python version", "Failed to get process executable name")
_WRONG_USE = "with exit status 2"


def command(program: str, pid: int, plan: SamplerPlan, output: Path) -> tuple[str, ...]:
    """Return the py-spy command line for a plan."""
    flags = {
        # A thread that waits inside a system call may hold the GIL.
        "--idle": plan.idle or plan.gil,
        "--gil": plan.gil,
        "--nonblocking": not plan.blocking,
        "--native": plan.native,
        "--subprocesses": plan.subprocesses,
    }
    limit_s = math.ceil(plan.max_duration_s) + BACKSTOP_S
    return (
        *(program, "record", "-p", str(pid), "-f", "speedscope", "--full-filenames", "-o", str(output)),
        *("-r", str(round(plan.rate_hz)), "-d", str(limit_s)),
        *(flag for flag, enabled in flags.items() if enabled),
    )


class PySpyProcess(ProcessAttachment):
    """One start of py-spy."""

    sampler, any_name = _PROGRAM, False

    def __init__(
        self, program: str, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock
    ) -> None:
        output = output_path(folder, index, "pyspy")
        words = command(program, pid, plan, output)
        super().__init__(pid, words, output, log_path(folder, index), index, clock)
        self.plan, self.rounds = plan, rounds_path(folder, index)
        """`rounds`: the journal of rounds."""
        self.rounds.unlink(missing_ok=True)  # of an earlier try

    def watchdog_options(self) -> tuple[str, ...]:
        """See `ProcessAttachment.watchdog_options`: states are known of all threads or of none."""
        target = f"{watchdog.TARGET}{self.pid}"
        if not self.plan.idle:
            return (target,)
        given = {watchdog.STOPS: self.plan.blocking, watchdog.CHILDREN: self.plan.subprocesses}
        flags = (flag for flag, is_given in given.items() if is_given)
        return target, f"{watchdog.ROUNDS}{self.rounds}", f"{watchdog.HELPER}{_HELPER}", *flags

    def is_running(self, process: Watched) -> bool:
        """See `ProcessAttachment.is_running`: it handles SIGINT, and is no shell, as of pyenv's script."""
        if not procfs.catches_signal(process.pid, signal.SIGINT):
            return False
        program = procfs.program(process.pid)
        if program is None:  # not permitted to read it, or it is ending and has no arguments either
            return bool(procfs.command_line(process.pid))
        return program.rpartition("/")[2].startswith(_PROGRAM) or "Sampling process" in self.text()

    def is_whole(self) -> bool:
        return is_whole(self.output)

    def failure(self, stage: str) -> SamplerError:
        text = self.text()
        if stage == START and _DENIED.search(text):
            return self.denied()
        if "No space left" in text:
            return self.disk_full(stage)
        if any(words in text for words in _NOT_PYTHON):
            return self.failed(
                stage, f"process {self.pid} has ended, or is not a Python program that it supports",
                "make sure that it still runs Python (not another program after exec), or update py-spy",
            )  # fmt: skip
        found = _ERROR.search(text)
        passing = stage == START and ended_how(text) != _WRONG_USE
        return self.stopped_failure(stage) or self.unknown_failure(
            stage, found.group(1) if found else None, passing=passing
        )

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: py-spy ends with its next sample, at a random interval."""
        return 2 + 12 / self.plan.rate_hz


def is_whole(output: Path) -> bool:
    """Return whether py-spy's file is complete, by its last fields."""
    tail = tail_of(output, _TAIL).rstrip()
    return b'"exporter":"py-spy' in tail and tail.endswith(b"}")


def log_facts(text: str) -> tuple[int, float]:
    """Return in how many rounds a process could not be read, and the maximum delay in seconds."""
    counts = _COUNTS.search(text)
    behind_s = max((float(late) for late in _BEHIND.findall(text)), default=0.0)
    return int(counts.group(2)) if counts else 0, behind_s
