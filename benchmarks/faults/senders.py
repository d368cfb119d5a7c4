"""Signals to `profkit run`, by sender: its program does what it does without profkit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import Sandbox, sandbox

_LISTENING = """\
import os, signal, time
{before}
def report(number, frame):
    os.write(1, b"%d\\n" % number)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGQUIT, signal.SIGCONT):
    signal.signal(number, report)
os.write(1, b"ready %d\\n" % os.getpid())
end = time.monotonic() + 120
while time.monotonic() < end:
    time.sleep(0.01)
"""
_PLAIN = """\
import os, time
{before}
os.write(1, b'ready %d\\n' % os.getpid())
time.sleep(120)
"""
_PROGRAMS = {
    "listening": _LISTENING.format(before=""),
    "listening in a group of its own": _LISTENING.format(before="os.setpgid(0, 0)"),
    "without handlers": _PLAIN.format(before=""),
    "without handlers in a group of its own": _PLAIN.format(before="os.setpgid(0, 0)"),
}
_NUMBERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT, signal.SIGCONT)
_LAST = signal.SIGUSR2
"""Signal without a handler in any program: it ends those that the first one did not."""
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class _Started:
    """The process that was started, and its program: the same one without profkit."""

    pid: int
    program: int


def _to_launcher(started: _Started, number: int) -> None:
    os.kill(started.pid, number)


def _to_program(started: _Started, number: int) -> None:
    os.kill(started.program, number)


def _to_group(started: _Started, number: int) -> None:
    os.killpg(started.pid, number)


def _from_the_group(started: _Started, number: int) -> None:
    """Send it from a process of the same group, as of `kill $!` in a script."""
    code = f"import os; os.kill({started.pid}, {int(number)})"
    subprocess.run([sys.executable, "-c", code], process_group=started.pid, check=True)


_SENDERS: dict[str, Callable[[_Started, int], None]] = {
    "to the launcher": _to_launcher,
    "to the program": _to_program,
    "to the group": _to_group,
    "to the launcher, from its group": _from_the_group,
}
_VARIANTS = tuple(product(_SENDERS, _NUMBERS, _PROGRAMS))
COUNT = len(_VARIANTS)


def inject(injection: Injection) -> Outcome:
    """Send one signal to a program with and without profkit, and compare what it does."""
    sender, number, program = injection.variant(_VARIANTS)
    what = f"{signal.Signals(number).name} {sender}, {program}"
    with sandbox() as box:
        (box.work / "program.py").write_text(_PROGRAMS[program])
        listens = program.startswith("listening")
        plain = _done(box, [], sender, number, listens)
        profiled = _done(box, ["-m", "profkit", "run", "-q"], sender, number, listens)
        outcome = Outcome()
        if plain != profiled:
            outcome = outcome.with_problem(f"{what}: {profiled}, not {plain}", changed=1)
        box.await_end()
        box.command("list", "--json")
        return box.counted(outcome)


def _done(
    box: Sandbox, profiler: list[str], sender: str, number: int, listens: bool
) -> tuple[list[str], int]:
    """Return what the program printed, and how it ended."""
    with subprocess.Popen(
        [sys.executable, *profiler, "program.py"], cwd=box.work, env=box.environ(), process_group=0,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        started = _Started(child.pid, int(child.stdout.readline().split()[1]))
        _SENDERS[sender](started, number)
        lines = [child.stdout.readline().strip()] if listens else []
        if listens or number == signal.SIGCONT:
            os.kill(started.program, _LAST)
        rest, _ = child.communicate(timeout=_TIMEOUT_S)
        return [*lines, *rest.splitlines()], child.returncode
