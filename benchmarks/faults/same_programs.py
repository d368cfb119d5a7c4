"""Small programs with and without profkit, compared by output, exit status and leftovers.

The same text runs both times; without profkit, PROFKIT_DISABLE is set.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import Sandbox, sandbox
from benchmarks.faults.snippets.all import SNIPPETS
from benchmarks.faults.snippets.base import SAMPLING, Snippet

CASES = tuple((name, mode) for name, snippet in SNIPPETS.items() for mode in snippet.modes)
"""Every program in all its modes."""
OPTIONS = {
    "blocking": {"rate": 200, "blocking": True},
    "nonblocking": {"rate": 200, "blocking": False, "sampler": "pyspy"},
    "cpython": {"sampler": "cpython"},
    "inside": {"sampler": "inprocess"},
    "timer": {"mode": "timer", "quick": True, "min_run_time_s": 0.01, "timeout_s": 10.0, "retries": 0},
    "callgrind": {"mode": "callgrind", "quick": True, "timeout_s": 30.0, "retries": 0},
    "timer+callgrind": {
        "mode": "timer+callgrind", "quick": True, "min_run_time_s": 0.01, "timeout_s": 30.0, "retries": 0,
    },
}  # fmt: skip
"""Options of the decorator in each mode; a new mode is one line."""
_PROLOGUE = """\
import atexit as _atexit, os, sys, time
def _report(path={report!r}, os=os, open=open, listdir=os.listdir, link=os.readlink, pid=os.getpid):
    links = []
    try:
        for number in listdir('/proc/self/fd'):
            try: links.append(link('/proc/self/fd/' + number))
            except OSError: pass
        with open('/proc/self/task/' + str(pid()) + '/children') as file: children = file.read().split()
        with open(path, 'a') as file: file.write(repr((sorted(links), len(children))))
    except Exception: pass
_atexit.register(_report)
from profkit import profile, profiled
P = profile(**{options!r})
"""
_OWN_FRAME = re.compile(r'^[ |]+File "[^"]*/profkit/.*\n(^[ |]*    .*\n)*', re.MULTILINE)
_SAME_FRAMES = re.compile(r'((?:^  File ".*\n(?:^    .*\n)*))\1+', re.MULTILINE)
"""Repeated frames of a recursion: its depth at the limit depends on frames in between."""
_REPEATED = re.compile(r"  \[Previous line repeated \d+ more times\]\n")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_SOCKET = re.compile(r"(pipe|socket):\[\d+\]")
LOGGED = (
    "runs unprofiled", "profiling stopped", "profkit failed while", "hides the standard module",
    "despite blocking=True", "could not be checked", "recording calls and wall times without samples",
)  # fmt: skip
"""Parts of warnings that profkit may log for the limitations of a program."""
_PROGRESS = re.compile(
    r"(profkit )?(profkit: measuring |profkit: not measured (because the program has ended|within )|"
    r"\S+ will be run \S+ times or more in other processes |"
    r"\S+ is timed in this process, not isolated: |\S+ is called with more than \d+ kinds of arguments: |"
    r"\S+ was not measured: '.*' is too short to be timed with fresh arguments: )"
)
"""Messages of profkit in programs with measured functions: slow exits, calls too short or not isolated.

A program that logs to stdout may have the logger's name before them.
"""
_UNMEASURED, _PAYLOAD = b"not measured within", "'/memfd:profkit-payload (deleted)', "
"""Message on a call that could not be measured before the program ends, and the file then left open."""
_FORK_WARNING = re.compile(
    r"^.*DeprecationWarning: This process \(pid=\d+\) is multi-threaded, use of fork.*\n(?: .*\n)?",
    re.MULTILINE,
)
"""Warning of CPython since 3.12, for the thread that measures functions."""
_STEP_DOWN = re.compile(
    r"^a signal handler cannot sample this program: .*; sampling with a thread instead\n", re.MULTILINE
)
"""Warning if a program is sampled from inside in another way than usual."""
_TIMEOUT_S, _EXIT_S = 60.0, 40.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Results of a program: `left` is its descriptors and children at the end, if it got there."""

    stdout: str
    stderr: str
    code: int | None
    left: str


def inject(injection: Injection) -> Outcome:
    """Run one program in one mode, and without profkit."""
    name, mode = CASES[injection.number]
    snippet = SNIPPETS[name]
    with sandbox() as plain_box:
        plain = _run(plain_box, snippet, mode, disabled=True)
    with sandbox() as box:
        seen = _run(box, snippet, mode, disabled=False)
        outcome = Outcome()
        for field, wanted, found in _differences(plain, seen, snippet):
            problem = f"{name}, {mode}: {field} {found!r} instead of {wanted!r}"
            outcome = outcome.with_problem(problem, changed=int(not outcome.changed))
        box.await_end()
        box.age()
        listed = box.command("list", "--json")
        if (problem_of_list := listed.problem((0, 6, 7))) is not None:
            outcome = outcome.with_problem(f"{name}, {mode}: {problem_of_list}")
        return box.counted(outcome, damaged=bool(snippet.warnings))


def _differences(plain: Seen, seen: Seen, snippet: Snippet) -> list[tuple[str, object, object]]:
    pairs = [
        ("exit code", plain.code, seen.code),
        ("stdout", _without_warnings(plain.stdout, 0), _without_warnings(seen.stdout, 0)),
        (
            "stderr",
            _without_warnings(plain.stderr, snippet.warnings),
            _without_warnings(seen.stderr, snippet.warnings),
        ),
        ("descriptors and children", plain.left, seen.left),
    ]
    return [(field, wanted, found) for field, wanted, found in pairs if wanted != found]


def _without_warnings(output: str, allowed: int) -> str:
    """Return output without this number of lines of profkit's log, and without its messages on measuring."""
    kept = []
    for line in output.splitlines(keepends=True):
        if _PROGRESS.match(line):
            continue
        if allowed and any(word in line for word in LOGGED):
            allowed -= 1
        else:
            kept.append(line)
    return "".join(kept)


def _run(box: Sandbox, snippet: Snippet, mode: str, *, disabled: bool) -> Seen:
    report = box.own / "report"
    text = _PROLOGUE.format(report=str(report), options=OPTIONS[mode]) + snippet.text + "\n"
    folder = box.work if snippet.launch != "bytes" else Path(os.fsdecode(bytes(box.work) + b"/\xff\xfe"))
    folder.mkdir(exist_ok=True)
    for file, content in snippet.files.items():
        (folder / file).write_text(content, "utf-8")
    argv, stdin = _launched(snippet, text, folder)
    # A call that is not measured in time leaves a file open, and busy machines take long to measure.
    waiting = {"PROFKIT_EXIT_TIMEOUT": str(_EXIT_S)}
    changes = {**waiting, **snippet.environ, "PROFKIT_DISABLE": "1" if disabled else "0"}
    with (box.own / "stdin").open("w+") as given:
        given.write(stdin)
        given.seek(0)
        try:
            done = subprocess.run(
                [sys.executable, *snippet.flags, *argv], cwd=folder, env=box.environ(changes), stdin=given,
                capture_output=True, check=False, timeout=_TIMEOUT_S, start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired as expired:
            return Seen(_clean(expired.stdout, box), _clean(expired.stderr, box), None, "it did not end")
    left = report.read_text("utf-8") if report.exists() else ""
    if _UNMEASURED in done.stderr:
        left = left.replace(_PAYLOAD, "")
    stderr = _clean(done.stderr, box)
    if mode not in SAMPLING:
        stderr = _FORK_WARNING.sub("", stderr)
    if mode == "inside":
        stderr = _STEP_DOWN.sub("", stderr, count=1)
    return Seen(_clean(done.stdout, box), stderr, done.returncode, _clean(left.encode(), box))


def _launched(snippet: Snippet, text: str, folder: Path) -> tuple[list[str], str]:
    """Return the arguments after the interpreter's flags, and the content of stdin."""
    if snippet.launch == "stdin":
        return ["-"], text
    if snippet.launch == "-c":
        return ["-c", text], ""
    if snippet.launch == "zip":
        with zipfile.ZipFile(folder / "program.pyz", "w") as file:
            file.writestr("__main__.py", text)
        return ["program.pyz"], ""
    (folder / "program.py").write_text(text, "utf-8")
    return (["-m", "program"] if snippet.launch == "module" else ["program.py"]), snippet.stdin


def _clean(output: bytes | None, box: Sandbox) -> str:
    """Return output without text that differs from run to run, and without profkit's frames in tracebacks."""
    text = (output or b"").decode("utf-8", "replace").replace(str(box.root), "ROOT")
    text = _SAME_FRAMES.sub(r"\1", _REPEATED.sub("", _OWN_FRAME.sub("", text)))
    text = text.replace("recursion depth exceeded while calling a Python object", "recursion depth exceeded")
    return _SOCKET.sub(r"\1", _ADDRESS.sub("0x", text))
