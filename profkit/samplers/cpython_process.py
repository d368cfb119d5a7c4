"""Process of the `cpython` sampler: its command line, when it is RUNNING, and why it fails."""

from __future__ import annotations

import math
import posix
import re
from pathlib import Path

from profkit.clock import Clock
from profkit.errors import SamplerError
from profkit.model.session import SamplerPlan
from profkit.process.detached import Watched
from profkit.samplers import helper
from profkit.samplers.base import log_path, output_path
from profkit.samplers.helper.program import DENIED, ENDED, PREFIX, UNEXPECTED, UNREADABLE
from profkit.samplers.helper.reader import ALL_THREADS, HOLDS_GIL, ON_CPU, TOO_DEEP
from profkit.samplers.process_attachment import KILLED_BY_FILTER, START, ProcessAttachment, tail_of
from profkit.samplers.stack_journal import has_ended

NAME = "cpython"
BACKSTOP_S = 5
"""Time after the longest duration at which it ends by itself if the program cannot stop it."""
RETRIES = 10
"""Number of immediate retries of a read that met a stack while it changed."""
_STOP_TIMEOUT_S = 2.0
_TAIL = 4096
_PROGRAM = f"{helper.__path__[0]}/__main__.py"
_KILLED = re.compile(KILLED_BY_FILTER, re.MULTILINE)
_SAID = re.compile(f"^{PREFIX}([a-z ]+): (.*)$", re.MULTILINE)


def command(
    python: str, pid: int, plan: SamplerPlan, output: Path, retries: int = RETRIES
) -> tuple[str, ...]:  # fmt: skip
    """Return the command line for a plan."""
    options = {
        "pid": pid,
        "rate": f"{plan.rate_hz:.6g}",
        "duration": math.ceil(plan.max_duration_s) + BACKSTOP_S,
        "only": _only(plan),
        "retries": retries,
        "children": "yes" if plan.subprocesses else "no",
        "tasks": "yes" if plan.async_stacks else "no",
    }
    words = (f"--{name}={value}" for name, value in options.items())
    # The output is an argument of its own: `start_detached` finds the process by it.
    return (python, "-I", "-S", _PROGRAM, *words, str(output))


def _only(plan: SamplerPlan) -> str:
    if plan.gil:
        return HOLDS_GIL
    return ALL_THREADS if plan.idle else ON_CPU


class CPythonProcess(ProcessAttachment):
    """One start of the process. Its watchdog has no options: the process stops nothing, and knows states."""

    sampler = NAME

    def __init__(
        self, python: str, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock,
        retries: int = RETRIES,
    ) -> None:  # fmt: skip
        output = output_path(folder, index, NAME)
        output.unlink(missing_ok=True)  # of an earlier try: its existence says RUNNING
        words = command(python, pid, plan, output, retries)
        super().__init__(pid, words, output, log_path(folder, index), index, clock)

    def is_running(self, process: Watched) -> bool:
        """See `ProcessAttachment.is_running`: the first stack makes the output."""
        try:
            return posix.stat(self.output).st_size > 0
        except FileNotFoundError:
            return False

    def is_whole(self) -> bool:
        """See `ProcessAttachment.is_whole`: the journal ends because the sampling did."""
        return has_ended(tail_of(self.output, _TAIL))

    def failure(self, stage: str) -> SamplerError:
        text = self.text()
        found = _SAID.search(text)
        word, detail = found.groups() if found else ("", "")
        if word == DENIED or _KILLED.search(text):
            return self.denied()
        if "No space left" in text:
            return self.disk_full(stage)
        if word == UNEXPECTED:
            return self.failed(
                stage, f"this Python's reader of stacks did not answer as expected: {detail}",
                "use sampler='pyspy', and report this with the version of Python",
            )  # fmt: skip
        if word in (UNREADABLE, ENDED):
            why = f": {detail}" if detail else ""
            if TOO_DEEP in detail:
                problem = f"this Python's reader cannot read stacks as deep as the program's{why}"
                return self.failed(stage, problem, "use sampler='pyspy'")
            return self.failed(
                stage, f"process {self.pid} has ended, or its stacks cannot be read{why}",
                "make sure that it still runs the same Python (not another program after exec)",
                passing=stage == START,
            )  # fmt: skip
        return self.stopped_failure(stage) or self.unknown_failure(
            stage, detail or None, passing=stage == START
        )

    def stop_timeout_s(self) -> float:
        """See `Attachment.stop_timeout_s`: it ends with the current round."""
        return _STOP_TIMEOUT_S
