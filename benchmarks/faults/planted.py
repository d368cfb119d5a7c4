"""Modules in the current folder with names of modules that profkit imports: no command executes them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import LABELS, Sandbox, record, sandbox

_COMMANDS = (
    ("list",), ("report",), ("report", "--html", "-o", "page.html"),
    ("export", "--format", "pprof", "-o", "x.pb.gz"),
    ("import", "planted.collapsed"), ("gc", "--keep", "9"), ("history", "first"),
    ("measure", "--quick", "sum(range(9))"), ("compare", "first", "second"), ("gate", "first"),
)  # fmt: skip
COUNT = len(_COMMANDS)
_CODES = (0, 1, 2, 3, 4, 5, 6)
_TIMEOUT_S = 120.0
_PLANT = """\
import os
with open({path!r}, "a") as file:
    file.write(f"{{os.getpid()}} {{__name__}}\\n")
raise ImportError("a planted module")
"""


def inject(injection: Injection) -> Outcome:
    """Plant modules, run one command, and list those that its own process executed."""
    command = injection.variant(_COMMANDS)
    with sandbox() as box:
        record(box)
        (box.work / "planted.collapsed").write_text("main;f 3\n", "ascii")
        executed = _planted(box)
        argv = [str(Path(sys.executable).with_name("profkit")), *command]
        with subprocess.Popen(
            argv, cwd=box.work, env=box.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            _, err = child.communicate(timeout=_TIMEOUT_S)
        outcome = Outcome(taken=len(LABELS))
        lines = executed.read_text("ascii").splitlines() if executed.exists() else []
        own = sorted({line.split()[1] for line in lines if line.startswith(f"{child.pid} ")})
        if own:
            outcome = outcome.with_problem(f"{command[0]} executed {', '.join(own)}.py", changed=1)
        if child.returncode not in _CODES or b"Traceback" in err:
            problem = f"{command} ended with {child.returncode}: {err[-300:].decode('utf-8', 'replace')}"
            outcome = outcome.with_problem(problem)
        listed = box.command("list", "--json")
        found = {str(run["label"]) for run in listed.runs()} & set(LABELS)
        return box.counted(replace(outcome, recovered=len(found)))


def _planted(box: Sandbox) -> Path:
    """Plant a module for each that profkit imports; return the file that they append to if executed."""
    executed = box.own / "executed"
    names = {name.partition(".")[0] for name in sys.stdlib_module_names if not name.startswith("_")} - set(
        sys.builtin_module_names
    )
    others = {"click", "rich", "psutil", "wrapt", "cloudpickle", "psycopg", "numpy", "torch"}
    for name in sorted(names | others | {"sitecustomize", "usercustomize"}):
        (box.work / f"{name}.py").write_text(_PLANT.format(path=str(executed)), "ascii")
    return executed
