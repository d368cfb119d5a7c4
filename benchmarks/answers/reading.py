"""What reports say: the sentences of their summaries, and the states of threads.

Only this module knows the form of `profkit report`, as text and as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.answers.cases import State

Report = Mapping[str, Any]
Ask = Callable[[int], Report]
"""Return the report of one thread, by its thread id."""

_PLACE = re.compile(r"([\w.-]+\.py):(\d+)(?:[-–](\d+))?")
_NAMES = re.compile(rf"[\w.<>]+ \({_PLACE.pattern}\)|{_PLACE.pattern}|“.*?”")
"""Places with their functions, and names of threads: they can contain any word."""
_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%(?: ?([±+−-]) ?(\d+(?:\.\d+)?))?")
_AT = re.compile(rf"{_SHARE.pattern} at (?:[^ ]*/)?$")
_WORDS = {
    State.SUSPENDED: r"suspen\w+|await\w*",
    State.CHILDREN: r"child\w*|subprocess\w*",
    State.WAITS: r"wait\w*|sleep\w*|blocked|idle",
    State.WORKS: r"tak(es?|ing)|work(s|ed|ing)?|comput(es?|ed|ing)|busy|uses?|imports?|processor|CPU",
}
"""Words by which a sentence states what a thread does, most specific first."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What one sentence says about a place in a program."""

    sentence: str
    file: str
    lines: range
    states: frozenset[State]
    """States that the sentence mentions."""
    share: tuple[float, float] | None
    """Range of the share of the time; None if the sentence has no share."""
    share_of_line: tuple[float, float] | None = None
    """The same of the line alone, if the sentence states it, too: `f takes 90 %, 73 % at app.py:7`."""


@dataclass(frozen=True, slots=True)
class ThreadState:
    """How much of a thread's time was working, by samples."""

    working: float
    samples: int


def summary_text(report: Report) -> tuple[str, ...]:
    """Return the sentences of the summary."""
    return tuple(report.get("summary") or ())


def summary_of_text(text: str) -> str:
    """Return the paragraph at the top of a text report."""
    lines = text.splitlines()
    rule = next((number for number, line in enumerate(lines) if line.startswith("──")), len(lines))
    paragraph: list[str] = []
    for line in lines[rule + 1 :]:
        if not line.strip():
            break
        paragraph.append(line.strip())
    return " ".join(paragraph)


def claims_of(sentences: Sequence[str]) -> Iterator[Claim]:
    """Yield what the sentences say about each place that they name."""
    for sentence in sentences:
        states = frozenset(state for state, words in _WORDS.items() if _has(sentence, words))
        for found in _PLACE.finditer(sentence):
            first, last = int(found[2]), int(found[3] or found[2])
            share = _share(sentence)
            if share is not None and "mostly in" in sentence[: found.start()]:
                share = share[0] / 2, share[1]  # of a thread; more than half of it is here
            at = _AT.search(sentence[: found.start()])
            of_line = None if at is None else _share(at[0])
            yield Claim(sentence, found[1], range(first, last + 1), states, share, of_line)


def thread_states(report: Report, ask: Ask) -> dict[int, ThreadState]:
    """Return the states of all threads, by thread id."""
    states: dict[int, ThreadState] = {}
    for thread in report.get("threads") or ():
        activity = ask(thread["tid"]).get("activity")
        if activity and (samples := activity["working"] + activity["waiting"]):
            states[thread["tid"]] = ThreadState(activity["working"] / samples, samples)
    return states


def _has(sentence: str, words: str) -> bool:
    return re.search(rf"\b({words})\b", _NAMES.sub("", sentence), re.IGNORECASE) is not None


def _share(sentence: str) -> tuple[float, float] | None:
    """Return the first share with its interval: 48 % ±5, 100 % −2 or 0 % +3."""
    found = _SHARE.search(sentence)
    if found is None:
        return None
    share, sign, error = float(found[1]), found[2], float(found[3] or 0)
    low = share - (error if sign in {"±", "−", "-"} else 0)
    high = share + (error if sign in {"±", "+"} else 0)
    return low / 100, high / 100
