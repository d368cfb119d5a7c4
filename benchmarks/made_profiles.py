"""Large generated profiles, the same on every machine, of programs of any size without running one.

The call graph has 2,000 functions in 200 files (the program's own, four packages, the standard library,
shared objects), each with a few lines that call others, some of them itself. A walk through it yields
stacks: each shares its first frames with the one before, two thirds of them on average, and continues with
others. Samples pass through these stacks repeatedly, as a program's loops do. A round of samples has one
of each thread: the main thread, which has its own stacks, and three threads of a pool, which share theirs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from profkit.model.histogram import histogram_of
from profkit.model.profile import Frame, Profile, Sample, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run, RunInfo
from profkit.model.session import ProcessInfo, SamplerPlan, SessionState
from profkit.version import VERSION

CWD = "/srv/shop"
PID = 4242
THREADS = ("MainThread", "worker-0", "worker-1", "worker-2")
PERIOD_NS = 1e7
_STARTED_NS = 1_763_725_743_000_000_000
_SITE = "/opt/venv/lib/python3.11/site-packages"
_FILES = (
    *(f"{CWD}/shop/module_{n}.py" for n in range(60)),
    *(f"{_SITE}/{package}/part_{n}.py" for package in ("web", "orm", "pages", "sums") for n in range(20)),
    *(f"/usr/lib/python3.11/library/module_{n}.py" for n in range(40)),
    *(f"{_SITE}/sums/extension_{n}.so" for n in range(20)),
)
_PER_FILE = 10
"""Functions per file."""
_MANY_FUNCTIONS = 20_000
"""Functions of a profile with many lines."""
_MAIN_PART = 0.4
"""Part of all stacks that belongs to the main thread."""
_PASSES = 10
"""Number of passes of a thread through its stacks."""
_NEAR, _RECURSIVE = 0.6, 0.03
"""Parts of all calls: to functions nearby, and to the calling function itself."""


@dataclass(frozen=True, slots=True)
class _Graph:
    """Frames, and for each the frames that may be directly above it: the lines of its callees."""

    frames: tuple[Frame, ...]
    above: tuple[Sequence[int], ...]


def made_profile(samples: int, stacks: int, depth: int = 60, seed: int = 1) -> Profile:
    """Return a profile with these numbers of samples of weight 1, distinct stacks, and frames in each.

    Raises ValueError if there are fewer samples than stacks.
    """
    random = Random(seed)
    graph = _graph(random)
    main = round(stacks * _MAIN_PART)
    first, second = random.sample(range(len(graph.frames)), 2)
    walks = (_walk(graph, start, depth, random) for start in (first, second))
    found = [stack for walk, size in zip(walks, (main, stacks - main), strict=True)
             for stack in islice(walk, size)]  # fmt: skip
    of_main = len(range(0, samples, len(THREADS)))
    turns = (
        iter(_turns(range(main), of_main, random)),
        iter(_turns(range(main, stacks), samples - of_main, random)),
    )
    threads = [number % len(THREADS) for number in range(samples)]
    return _of_threads(graph.frames, found, (Sample(next(turns[thread > 0]), thread) for thread in threads))


def _graph(random: Random) -> _Graph:
    frames: list[Frame] = []
    lines: list[range] = []
    functions = len(_FILES) * _PER_FILE
    for number in range(functions):
        file, place = _FILES[number // _PER_FILE], number % _PER_FILE
        own = [20 * place + 3 + line for line in range(random.randint(2, 6))]
        lines.append(range(len(frames), len(frames) + len(own)))
        frames += [Frame(f"Class{place % 3}.method_{number}", file, line) for line in own]
    above = []
    for number, own_lines in enumerate(lines):
        for _ in own_lines:
            called = [_callee(number, functions, random) for _ in range(random.randint(1, 4))]
            above.append([frame for function in called for frame in lines[function]])
    return _Graph(tuple(frames), tuple(above))


def _callee(caller: int, functions: int, random: Random) -> int:
    """Return a random callee of a function."""
    chance = random.random()
    if chance < _RECURSIVE:
        return caller
    if chance < _NEAR:
        return (caller + random.randint(-30, 60)) % functions
    return random.randrange(functions)


def _walk(graph: _Graph, start: int, depth: int, random: Random) -> Iterator[tuple[int, ...]]:
    """Yield distinct stacks without end, each `depth` frames deep; the first frame never changes."""
    seen: set[tuple[int, ...]] = set()
    stack = [start]
    while True:
        while len(stack) < depth:
            above = graph.above[stack[-1]]
            # Calls listed first are the most frequent ones.
            stack.append(above[int(len(above) * random.random() ** 2)])
        found = tuple(stack)
        if found not in seen:
            seen.add(found)
            yield found
        # More often near the leaf than near the root.
        del stack[depth - 1 - int((depth - 1) * random.random() ** 2) :]


def made_profile_of_lines(samples: int, stacks: int, depth: int = 40, seed: int = 1) -> Profile:
    """Return a profile as `made_profile` does, whose stacks have half their depth in lines of their own.

    A stack continues a random part of the one before with lines that no other has, of 20,000 functions:
    100,000 stacks of 40 frames have two million distinct lines.
    """
    random = Random(seed)
    names = [f"Class{number % 3}.method_{number}" for number in range(_MANY_FUNCTIONS)]
    files = [f"{_FILES[number % len(_FILES)]}/part_{number // 1000}.py" for number in range(_MANY_FUNCTIONS)]
    following = [0] * _MANY_FUNCTIONS
    frames: list[Frame] = []
    found: list[tuple[int, ...]] = []
    stack: list[int] = []
    for _ in range(stacks):
        del stack[random.randrange(depth) if stack else 0 :]
        for _ in range(depth - len(stack)):
            function = random.randrange(_MANY_FUNCTIONS)
            following[function] += 1
            stack.append(len(frames))
            frames.append(Frame(names[function], files[function], following[function]))
        found.append(tuple(stack))
    turns = _turns(range(stacks), samples, random)
    return _of_threads(frames, found, (Sample(turn, n % len(THREADS)) for n, turn in enumerate(turns)))


def _of_threads(
    frames: Sequence[Frame], stacks: Sequence[tuple[int, ...]], samples: Iterable[Sample]
) -> Profile:
    return Profile(
        period_ns=PERIOD_NS,
        frames=tuple(frames),
        stacks=tuple(stacks),
        threads=tuple(Thread(PID, PID + number, name) for number, name in enumerate(THREADS)),
        samples=tuple(samples),
    )


def _turns(stacks: range, samples: int, random: Random) -> list[int]:
    """Return samples in passes; each stack occurs, some far more often than others."""
    if samples < len(stacks):
        raise ValueError(f"{samples} samples cannot show {len(stacks)} stacks")
    often = [stacks[int(len(stacks) * random.random() ** 3)] for _ in range(samples - len(stacks))]
    passes = [(random.randrange(_PASSES), stack) for stack in (*stacks, *often)]
    return [stack for _, stack in sorted(passes)]


def made_run(samples: int, stacks: int, depth: int = 60) -> Run:
    """Return a run with such a profile, labelled with its size: `10000-samples`."""
    return run_of(made_profile(samples, stacks, depth), f"{samples}-samples")


def run_of(profile: Profile, label: str) -> Run:
    """Return a run with a generated profile; its id depends on the label only."""
    samples = profile.total_weight
    covered_s = samples / len(THREADS) * PERIOD_NS / 1e9
    return Run(
        RunInfo(
            id=hashlib.blake2b(label.encode(), digest_size=5).hexdigest(),
            session=label,
            region=Region(
                RegionKey("shop", "main", 3, label), RegionKind.FUNCTION, f"{CWD}/shop/module_0.py"
            ),
            state=SessionState.SUCCESS,
            started_ns=_STARTED_NS,
            process=ProcessInfo(PID, 1, "made", CWD, ("shop",), "3.11.0", None, VERSION, None),
            plan=SamplerPlan("pyspy", 1e9 / PERIOD_NS, True, True, False, False, "call", covered_s),
            durations=histogram_of([round(covered_s * 1e9)]),
            achieved_hz=1e9 / PERIOD_NS,
            session_s=covered_s,
            samples=samples,
        ),
        profile,
    )
