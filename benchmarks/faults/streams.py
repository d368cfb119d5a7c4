"""Programs and streams that are read once, closed or full: `profkit run` does what `python` does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import Sandbox, sandbox

_PROGRAM = """\
import os, sys
print(6 * 7) if sys.stdout else None
print("problem", file=sys.stderr) if sys.stderr else None
print(sys.stdin.readline()) if sys.stdin and sys.stdout else None
with open("seen", "w") as file:
    file.write(repr([stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)]))
sys.exit(3)
"""
_BEFORE = "import os, sys\n{}\nos.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
_STREAMS = {
    "closed 0": "os.close(0)", "closed 1": "os.close(1)", "closed 2": "os.close(2)",
    "closed 0 and 1": "os.closerange(0, 2)", "closed 1 and 2": "os.closerange(1, 3)",
    "all closed": "os.closerange(0, 3)",
    "full disk": "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)",
    "reader gone": "r, w = os.pipe(); os.close(r); os.dup2(w, 1)",
    "no messages": "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
}  # fmt: skip
"""What happens to the streams before the program starts."""
_OPTIONS = (("-q",), (), ("-o", "report.txt"), ("--sampler", "inprocess"))
_TIMEOUT_S = 120.0


_Script = tuple[str, int | None]
"""Name of a script, and a descriptor to pass on."""


def _file(box: Sandbox) -> _Script:
    (box.work / "script.py").write_text(_PROGRAM)
    return "script.py", None


def _pipe(box: Sandbox) -> _Script:
    """Make a pipe, as of `run <(command)`."""
    read, write = os.pipe()
    os.write(write, _PROGRAM.encode())
    os.close(write)
    return f"/dev/fd/{read}", read


def _link(box: Sandbox) -> _Script:
    (box.work / "real.py").write_text(_PROGRAM)
    (box.work / "script.py").unlink(missing_ok=True)
    (box.work / "script.py").symlink_to("real.py")
    return "script.py", None


def _missing(box: Sandbox) -> _Script:
    return "script.py", None


def _folder(box: Sandbox) -> _Script:
    (box.work / "script.py").mkdir(exist_ok=True)
    return "script.py", None


def _device(box: Sandbox) -> _Script:
    return os.devnull, None


_SCRIPTS: dict[str, Callable[[Sandbox], _Script]] = {
    "file": _file, "pipe": _pipe, "link": _link, "missing": _missing, "folder": _folder, "device": _device,
}  # fmt: skip
"""What makes a script, by its kind."""
_VARIANTS = (*product(_STREAMS, ["file"], _OPTIONS), *product([""], _SCRIPTS, _OPTIONS))
COUNT = len(_VARIANTS)


@dataclass(frozen=True, slots=True)
class _Done:
    """What a program did: exit code, output, messages, and the streams that it saw."""

    code: int
    output: bytes
    messages: bytes
    seen: str


def inject(injection: Injection) -> Outcome:
    """Run one program with and without profkit, and compare."""
    streams, script, options = injection.variant(_VARIANTS)
    before = _STREAMS.get(streams, "")
    with sandbox() as box:
        plain = _run(box, before, [], script)
        profiled = _run(box, before, ["-m", "profkit", "run", *options], script)
        what = f"{streams or 'all streams'}, {script}, {' '.join(options)}"
        outcome = Outcome()
        if (plain.code, plain.output, plain.seen) != (profiled.code, profiled.output, profiled.seen):
            outcome = outcome.with_problem(f"{what}: {profiled}, not {plain}", changed=1)
        if b"Traceback" in profiled.messages and b"Traceback" not in plain.messages:
            outcome = outcome.with_problem(f"{what}: {profiled.messages[-400:]!r}", changed=1)
        box.await_end()
        box.command("list", "--json")
        return box.counted(outcome)


def _run(box: Sandbox, before: str, profiler: list[str], script: str) -> _Done:
    name, descriptor = _SCRIPTS[script](box)
    seen = box.work / "seen"
    seen.unlink(missing_ok=True)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _BEFORE.format(before), *profiler, name], cwd=box.work, env=box.environ(),
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_TIMEOUT_S,
            pass_fds=[] if descriptor is None else [descriptor],
        )  # fmt: skip
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return _Done(done.returncode, done.stdout, done.stderr, seen.read_text() if seen.exists() else "")
