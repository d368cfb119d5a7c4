"""Each public use of profkit, repeated: what is alive afterwards does not depend on how often."""

from __future__ import annotations

from benchmarks.faults.injections import Injection, Outcome
from benchmarks.faults.sandbox import PROGRAMS, await_status, odd_lines, sandbox

_QUICK = (
    "function", "raising", "method", "generator", "unfinished generator", "coroutine", "async generator",
    "block", "new label", "decorating", "thread", "timer",
)  # fmt: skip
_TIMES = dict.fromkeys(_QUICK, 10_000) | dict.fromkeys(
    ("reading", "sessions", "process", "fork", "memory"), 300
)
"""How often each use is repeated; those that start a sampler or a process each time less often."""
COUNT = len(_TIMES)
_SHORTER = 10
"""The short form repeats so many times less what starts a sampler or a process."""
_NAMES = ("objects", "small blocks of memory", "threads", "descriptors", "bytes of large blocks")
_MOST_MORE = (1_000, 10_000, 0, 0, 2 << 20)
"""What may be added from a tenth to the whole: dictionaries grow in steps, and some results are kept."""
_SAID = {
    "new label": "blocks have more than 1000 different labels or options: further ones are kept as 'other "
    "labels'; give labels that name code, and no data\n",
    "timer": "profkit: measuring 1 of 1: timed() …\n",
}
"""What is logged once, or printed at the end."""
_TIMEOUT_S = 480.0


def inject(injection: Injection) -> Outcome:
    """Repeat one use, and compare what is alive after a tenth of the times and after all."""
    use, times = injection.variant(tuple(_TIMES.items()))
    if injection.short and times < max(_TIMES.values()):
        times //= _SHORTER
    with sandbox() as box:
        argv = [str(PROGRAMS / "repeated.py"), str(box.log), use, str(times)]
        with box.started(argv) as target:
            status = await_status(target, _TIMEOUT_S)
        outcome = Outcome(injected=times)
        if status != 0:
            outcome = outcome.with_problem(f"{use}: exit status {status}: {box.output()[-600:]}", changed=1)
        for line in odd_lines(box.output().removeprefix(_SAID.get(use, ""))):
            outcome = outcome.with_problem(f"{use}: stderr: {line}", changed=1)
        for problem in _growth(box.log.read_text("utf-8").splitlines()):
            outcome = outcome.with_problem(f"{use}, {times} times: {problem}")
        outcome, _ = box.listed(outcome)
        return box.counted(outcome)


def _growth(lines: list[str]) -> list[str]:
    """Return what grew beyond its bound."""
    figures = [[int(word) for word in line.split()[1:]] for line in lines]
    if len(figures) != 2:
        return ["too little was seen of the program"]
    return [
        f"{name} grew from {early:,} to {late:,}"
        for name, most, early, late in zip(_NAMES, _MOST_MORE, *figures, strict=True)
        if late - early > most
    ]
