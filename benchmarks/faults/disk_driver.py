"""One disk fault, within a mount namespace: `disk_driver.py SPEC`; prints an outcome as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

from benchmarks.faults.injections import Outcome
from benchmarks.faults.programs.hooked import repair_disk
from benchmarks.faults.sandbox import PROGRAMS, CommandResult, Sandbox, sandbox

_SIZE = "size=2m,nr_inodes=300"
_CODES = (0, 2, 3, 6, 7)
_WARNINGS = 6
_ENDS_WITHIN_S = 120.0
_HOOKED = str(PROGRAMS / "hooked.py")


def main(text: str) -> Outcome:
    """Break the disk as SPEC says, repair it, and count the remaining runs."""
    spec = json.loads(text)
    with sandbox() as box:
        subprocess.run(["mount", "-t", "tmpfs", "-o", _SIZE, "faults", str(box.work)], check=True)
        try:
            outcome = _broken(box, **spec)
            box.await_end()
            repair_disk(box.work)
            box.age()
            outcome = _recovered(box, outcome, spec)
            return box.counted(outcome, damaged=True)
        finally:
            box.end_all()
            subprocess.run(["umount", "--lazy", str(box.work)], check=True)


def _broken(box: Sandbox, writer: str, variant: str, write: int, pages: int) -> Outcome:
    hook = {"disk": str(box.work), "variant": variant, "write": write, "log": str(box.log), "pages": pages}
    where = f"{variant} at write {write} of the {writer}"
    programs = {
        "program": [str(PROGRAMS / "phases.py"), str(box.log)],
        "measuring": [str(PROGRAMS / "orders.py"), str(box.log), "measured", "timer"],
    }
    argv = programs.get(writer, programs["program"])
    outcome = Outcome()
    hooked = argv if writer == "command" else [_HOOKED, json.dumps(hook), *argv]
    with box.started(hooked) as program:
        status = program.wait(_ENDS_WITHIN_S)
    if status or box.output("stdout").split()[-1:] not in (["calls"], ["done"]):
        problem = f"{where}: exit status {status}: {box.output()[-300:]}"
        outcome = outcome.with_problem(problem, changed=1)
    outcome = box.said(outcome, where, _WARNINGS)
    if writer == "command":
        box.await_end()
        outcome = _with_command(box, outcome, hook, where)
    return outcome


def _with_command(box: Sandbox, outcome: Outcome, hook: dict[str, object], where: str) -> Outcome:
    """Run the command that keeps the program's runs, on a disk that breaks at one of its writes."""
    argv = [sys.executable, _HOOKED, json.dumps(hook), "-m", "profkit", "list", "--json"]
    done = subprocess.run(
        argv, cwd=box.work, env=box.environ(), capture_output=True, text=True, check=False,
        timeout=_ENDS_WITHIN_S,
    )  # fmt: skip
    ended = CommandResult(("list", "--json"), done.returncode, done.stdout, done.stderr)
    problem = ended.problem(_CODES)
    return outcome if problem is None else outcome.with_problem(f"{where}: {problem}")


def _recovered(box: Sandbox, outcome: Outcome, spec: dict[str, object]) -> Outcome:
    """Count runs that ended before the fault, and those of them that are listed after the repair."""
    *lines, _cut = box.log.read_text("utf-8").split("\n")
    words = [line.split() for line in lines]
    struck = next((number for number, line in enumerate(words) if line[0] == "fault"), None)
    outcome = replace(outcome, injected=int(struck is not None))
    command = spec["writer"] == "command"
    before = words if command or struck is None else words[:struck]
    safe = {line[1] for line in before if line[0] in ("over", "kept")}
    listed = box.command("list", "--json")
    problem = listed.problem((0,) if safe and spec["variant"] != "removed" else _CODES)
    if problem is not None:
        outcome = outcome.with_problem(problem)
    if spec["variant"] == "removed" and struck is not None:
        return outcome
    found = {str(run[field]) for run in listed.runs() for field in ("id", "label")}
    for name in sorted(safe - found):
        outcome = outcome.with_problem(f"{spec}: {name} was over before the fault, and is lost")
    return replace(outcome, taken=len(safe), recovered=len(safe & found))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1]).to_object()))
