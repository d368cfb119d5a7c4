"""Checks of samplers, made from their trials: what is a failure, what it costs, and how to fix it."""

from __future__ import annotations

from collections.abc import Sequence

from profkit.doctor.permissions import fix_of_denial
from profkit.doctor.system import SystemFacts
from profkit.doctor.trials import Candidate, Trial
from profkit.model.checkup import Check, Group, Status
from profkit.render.formatting import count
from profkit.samplers import cpython, pyspy_plan
from profkit.samplers.attach_facts import AttachFacts
from profkit.samplers.inprocess import sampler as inprocess
from profkit.samplers.inprocess.ways import Kind
from profkit.units import format_duration

_RATES_HZ = {
    "cpython": cpython.DEFAULT_RATE_HZ,
    "pyspy": pyspy_plan.DEFAULT_RATE_HZ,
    "inprocess": inprocess.DEFAULT_RATE_HZ,
}
_BLOCKING, _NONBLOCKING = Candidate("pyspy", True), Candidate("pyspy", False)
_PYSPY = (_BLOCKING, _NONBLOCKING)
_DRAWBACKS = {
    _BLOCKING: "the program stops for each sample",
    _NONBLOCKING: "callers of short functions may be wrong, as stacks are read while they change",
    Candidate("inprocess"): "neither native stacks nor child processes are sampled",
}
"""Disadvantages of samplers that `auto` takes instead of others."""
_INSIDE = {Kind.INTERPRETER: "subinterpreter", Kind.TIMER: "timer", Kind.THREAD: "thread"}
_BIASES = {
    Kind.TIMER: "threads other than the main one are seen mostly where they release the GIL",
    Kind.THREAD: "threads are seen mostly where they release the GIL",
}
_NO_SAMPLER = "no program can be sampled here"
_INSTALL = {"pyspy": "python -m pip install py-spy"}
"""Commands that install the program of a sampler; the others come with Python, or are not public."""
_LOG = "run it again; if it fails again, look for what kills processes, and for free memory"


def sampling_checks(
    trials: Sequence[Trial],
    facts: AttachFacts,
    system: SystemFacts,
    order: Sequence[Candidate],
) -> tuple[Check, ...]:
    """Return a check for each trial: a failed trial is a failed check if no trial worked.

    `order` is that of `auto`, best first.
    """
    return tuple(_check(trial, trials, facts, system, order) for trial in trials)


def _check(
    trial: Trial,
    trials: Sequence[Trial],
    facts: AttachFacts,
    system: SystemFacts,
    order: Sequence[Candidate],
) -> Check:
    name = trial.candidate.name
    if trial.worked:
        return Check(Group.SAMPLERS, name, Status.OK, _found(trial), took_s=trial.took_s)
    if trial.unsupported:
        return Check(Group.SAMPLERS, name, Status.NOT_APPLICABLE, trial.unsupported)
    if trial.missing is not None and trial.candidate.sampler not in _INSTALL:
        return Check(Group.SAMPLERS, name, Status.NOT_APPLICABLE, f"needs {trial.missing.program}")
    works = any(other.worked for other in trials)
    status = Status.SHORTFALL if works else Status.FAILED
    cost = _cost(trial.candidate, trials, order) if works else _NO_SAMPLER
    if trial.missing is not None:
        found, fix = f"{trial.missing.program} is not on PATH", _INSTALL[trial.candidate.sampler]
        return Check(Group.SAMPLERS, name, status, found, cost, fix)
    if trial.error is None:
        found, fix = f"{_found(trial)}; the trial has no samples", _LOG
    else:
        found, fix = trial.error.message, trial.error.fix
        if trial.error.cause is not None:
            fix = fix_of_denial(trial.error.cause, facts, system, fix)
    return Check(Group.SAMPLERS, name, status, found, cost, fix or _LOG, trial.took_s)


def _cost(candidate: Candidate, trials: Sequence[Trial], order: Sequence[Candidate]) -> str:
    """Return what does not work, or works worse, because a candidate does not, beside others that work."""
    working = [trial for place in order for trial in trials if trial.candidate == place and trial.worked]
    if not working:
        return "`auto` records calls and wall times without samples"
    taken, later = working[0], _after(candidate, working, order)
    if later is taken:
        native = "; native=True cannot be used" if (candidate, taken.candidate) == _PYSPY else ""
        return f"`auto` takes {_instead(candidate, taken)}{native}"
    if (taken.candidate, candidate) == _PYSPY:
        sampled = "are not sampled" if later is None else f"are sampled by {_words(later.candidate)}"
        return f"programs that must not be stopped, such as those with socket timeouts, {sampled}"
    return f"`auto` takes {_words(taken.candidate)} in any case, but {_use(candidate)} cannot be used"


def _after(candidate: Candidate, working: Sequence[Trial], order: Sequence[Candidate]) -> Trial | None:
    """Return the best of the working ones that `auto` would take after a candidate; None if there is none."""
    places = {place: number for number, place in enumerate(order)}
    own = places.get(candidate, len(order))
    return next((trial for trial in working if places[trial.candidate] > own), None)


def _instead(candidate: Candidate, trial: Trial) -> str:
    """Return the sampler that replaces a candidate, and what is worse with it."""
    rate_hz, best_hz = (_RATES_HZ.get(one.sampler, 0.0) for one in (trial.candidate, candidate))
    slower = f" ({rate_hz:,.0f} Hz, not {best_hz:,.0f} Hz)" if 0 < rate_hz < best_hz else ""
    drawbacks = (_DRAWBACKS.get(trial.candidate, ""), *(_BIASES.get(kind, "") for kind in trial.inside))
    worse = "; ".join(drawback for drawback in drawbacks if drawback)
    return f"{_words(trial.candidate)} instead{slower}{': ' if worse else ''}{worse}"


def _words(candidate: Candidate) -> str:
    stops = {None: "", True: "blocking ", False: "nonblocking "}
    return f"{stops[candidate.blocking]}{candidate.sampler}"


def _use(candidate: Candidate) -> str:
    if candidate == _BLOCKING:
        return "blocking=True and native=True"
    blocking = "" if candidate.blocking is None else f", blocking={candidate.blocking}"
    return f"sampler={candidate.sampler!r}{blocking}"


def _found(trial: Trial) -> str:
    """Return what a trial found, such as "0.4.3 · RUNNING after 85 ms · 11 samples"."""
    parts = [] if trial.version is None else [trial.version]
    parts += [_INSIDE[kind] for kind in trial.inside]
    if trial.running_s is not None:
        parts.append(f"RUNNING after {format_duration(trial.running_s)}")
    parts.append(count(trial.links, "link") if trial.links else count(trial.samples, "sample"))
    parts += ["at the second attempt"] if trial.repeated else []
    return " · ".join(parts)
