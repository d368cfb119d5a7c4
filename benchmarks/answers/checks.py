"""Whether a report is right: the place that it names, what it says about it, and its threads' states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.answers.cases import Answer, Case, State
from benchmarks.answers.reading import Claim, ThreadState, claims_of
from benchmarks.answers.truths import Expected, ProcessTruth, compared_threads, expected_of, lines_of

_POINTS = 0.05
"""Maximum difference between a thread's working share and its processor time, with waits for a processor."""
_ACCEPTED = {
    State.WORKS: {State.WORKS},
    State.WAITS: {State.WAITS},
    State.SUSPENDED: {State.SUSPENDED, State.WAITS},
    State.CHILDREN: {State.CHILDREN, State.WAITS},
    State.EITHER: {State.WORKS, State.WAITS},
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of one run of a program: None where a check does not apply."""

    named: bool = False
    """Whether the summary names the line; without an answer, whether it names none."""
    state: bool | None = None
    share: bool | None = None
    threads: bool | None = None
    problems: tuple[str, ...] = ()
    summary: str = ""
    expected: Mapping[str, Expected | None] = field(default_factory=dict)
    """What the program measured, by marker."""

    @property
    def passed(self) -> bool:
        """Return whether no check failed."""
        return self.named and False not in (self.state, self.share, self.threads)


def check(
    case: Case,
    sentences: Sequence[str],
    top_of_text: str,
    states: Mapping[int, ThreadState],
    truths: Sequence[ProcessTruth],
    plain: Sequence[ProcessTruth],
) -> Verdict:
    """Check all claims of a report, by what the program measured with and without a profiler."""
    thread_problems = _thread_problems(case, states, truths, plain)
    threads = None if not (states and truths) else not thread_problems
    claims = [claim for claim in claims_of(sentences) if claim.file == case.path.name]
    summary = " ".join(sentences)
    if not case.answers:
        # That it waits for clients, jobs or its own threads accuses no line.
        culprits = [claim for claim in claims if State.WORKS in claim.states]
        problems = [f"names {claim.file}:{claim.lines.start}" for claim in culprits]
        return Verdict(
            not culprits, threads=threads, problems=(*problems, *thread_problems), summary=summary
        )  # fmt: skip
    expected = {answer.marker: expected_of(answer, truths) for answer in case.answers}
    found = [
        _answered(_meant(claim, lines_of(case.path, answer.marker)), answer, expected[answer.marker])
        for answer in case.answers
        for claim in claims
        if _overlaps(claim.lines, lines_of(case.path, answer.marker))
    ]
    named = bool(found) and any(
        f"{claim.file}:{claim.lines.start}" in top_of_text for claim in claims
    )  # fmt: skip
    best = max(found, key=lambda each: (each[0], each[1])) if found else (None, None, _not_named(case))
    return Verdict(named, best[0], best[1], threads, (*best[2], *thread_problems), summary, expected)


def _answered(
    claim: Claim, answer: Answer, expected: Expected | None
) -> tuple[bool, bool, tuple[str, ...]]:  # fmt: skip
    """Return whether a claim has the right state and share, and what is wrong."""
    right_state = bool(claim.states & _ACCEPTED[answer.state])
    measured = expected is not None or answer.child  # a DataLoader's workers end before they can write
    right_share = measured and (
        expected is None or claim.share is None or _meets(claim.share, expected.share)
    )
    problems = [] if measured else ["the program measured nothing"]
    if not right_state:
        said = ", ".join(sorted(state.value for state in claim.states)) or "nothing"
        problems.append(f"says {said} of line {claim.lines.start}, which {answer.state.value}")
    if not right_share and expected is not None and claim.share is not None:
        problems.append(f"says {_percent(claim.share)}, measured {_percent(expected.share)}")
    return right_state, right_share, tuple(problems)


def _meant(claim: Claim, lines: range) -> Claim:
    """Return the claim with the share that it states of these lines."""
    is_line = len(lines) == 1 and claim.share_of_line is not None
    return replace(claim, share=claim.share_of_line) if is_line else claim


def _not_named(case: Case) -> tuple[str, ...]:
    places = [lines_of(case.path, answer.marker) for answer in case.answers]
    return (f"does not name {case.path.name}:{' or '.join(str(lines.start) for lines in places)}",)


def _thread_problems(
    case: Case,
    states: Mapping[int, ThreadState],
    truths: Sequence[ProcessTruth],
    plain: Sequence[ProcessTruth],
) -> list[str]:
    """Compare threads by both measurements: a profiler stops threads, and those that waited then queue.

    What waits for the GIL wakes every 5 ms and then wants a processor: of contended threads, that may be
    working or not.
    """
    problems = []
    for child in (False, True):
        alone = compared_threads(plain, child=child)
        for thread in compared_threads(truths, child=child):
            both = [thread, *(each for each in alone if each.name == thread.name)]
            low = min(each.cpu_share if case.contended else each.share for each in both)
            high = max(each.share for each in both)
            state = states.get(thread.tid)
            if state is not None and not low - _POINTS <= state.working <= high + _POINTS:
                problems.append(
                    f"thread {thread.name}: {100 * state.working:.0f} % working, "
                    f"{_percent((low, high))} by the clock"
                )
    return problems


def _overlaps(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _meets(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _percent(ends: tuple[float, float]) -> str:
    return f"{100 * ends[0]:.0f}–{100 * ends[1]:.0f} %"
