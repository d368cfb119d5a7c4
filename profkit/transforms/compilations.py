"""Compilations, from runs of their phases: frames, stages of the compiler by folder, hottest passes.

The compiler consists of stages, each with a folder of its own. What they call outside of it, such as
`torch.fx`, fake tensors and sympy, is used by all of them, and belongs to the function that calls it. So do
modules that it imports: they are often most of a program's first compilation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from profkit.model.compilations import Compilations, CompiledFrame, Pass, Phase, Stage
from profkit.model.profile import Frame, Profile
from profkit.model.region import Compilation
from profkit.model.run import Run, RunInfo
from profkit.transforms.combine import merge_profiles

_FOLDER = re.compile(r"(?:^|/)torch/(_dynamo|_functorch|_inductor|_export|export)/")
_STAGES = {
    "_dynamo": "dynamo",
    "_functorch": "aot",
    "_inductor": "inductor",
    "_export": "export",
    "export": "export",
}
IMPORTS, OTHER = "imports", "other"
"""Stages of samples in which a module was imported, and of those without a function of the compiler."""
_IMPORT = ("_find_and_load", "<frozen importlib._bootstrap>")
"""Name and file of the frame of an import."""


def sum_up(runs: Sequence[Run]) -> Compilations:
    """Return the compilations whose phases were recorded in these runs of one process.

    Raises ValueError if there are no runs, or if one is not of a compilation.
    """
    if not runs:
        raise ValueError("there are no compilations")
    labels = frozenset(run.info.label for run in runs)
    profile = merge_profiles(run.profile for run in runs if run.profile and not _is_inside(run.info, labels))
    stages, passes = _passes(profile)
    infos = sorted((run.info for run in runs), key=lambda info: (info.started_ns, info.id))
    return Compilations(
        process=infos[0].process,
        frames=_frames(infos, labels),
        stages=stages,
        passes=passes,
        weight=profile.total_weight,
        sample_s=profile.period_ns / 1e9,
        total_s=sum(info.wall_s for info in infos if not _is_inside(info, labels)),
    )


def stage_of(file: str) -> str | None:
    """Return the compiler's stage that a file belongs to; None for files outside of the compiler."""
    found = _FOLDER.search(file)
    return None if found is None else _STAGES[found[1]]


def _compilation(info: RunInfo) -> Compilation:
    if info.region.compilation is None:
        raise ValueError(f"run {info.id} is not of a compilation")
    return info.region.compilation


def _is_inside(info: RunInfo, labels: frozenset[str]) -> bool:
    return _compilation(info).inside in labels


def _frames(infos: Sequence[RunInfo], labels: frozenset[str]) -> tuple[CompiledFrame, ...]:
    groups: dict[tuple[str, str, int, str], list[RunInfo]] = {}
    for info in infos:
        key = info.region.key
        groups.setdefault((_compilation(info).frame, key.qualname, key.line, info.region.file), []).append(
            info
        )
    return tuple(_frame(group, labels) for group in groups.values())


def _frame(infos: Sequence[RunInfo], labels: frozenset[str]) -> CompiledFrame:
    first, own = infos[0], frozenset(info.label for info in infos)
    counted = [info for info in infos if not _is_inside(info, own)]
    return CompiledFrame(
        id=_compilation(first).frame,
        function=first.region.key.qualname,
        file=first.region.file,
        line=first.region.key.line,
        phases=tuple(Phase(info, _compilation(info).phase, _is_inside(info, labels)) for info in infos),
        total_s=sum(info.wall_s for info in counted),
        samples=sum(info.samples for info in counted),
    )


def _passes(profile: Profile) -> tuple[tuple[Stage, ...], tuple[Pass, ...]]:
    stages = [stage_of(frame.file) for frame in profile.frames]
    by_stage: Counter[str] = Counter()
    own: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    lines: Counter[Frame] = Counter()
    importing = [frame[:2] == _IMPORT for frame in profile.frames]
    for number, weight in profile.weights_by_stack.items():
        stack = profile.stacks[number]
        before = tuple(takewhile(lambda frame: not importing[frame], stack))
        inside = [frame for frame in before if stages[frame] is not None]
        stage = (stages[inside[-1]] if inside else None) or OTHER
        by_stage[stage if before == stack else IMPORTS] += weight
        for key in {profile.frames[frame][:2] for frame in inside}:
            total[key] += weight
        if inside:
            own[profile.frames[inside[-1]][:2]] += weight
        for frame in set(inside):
            lines[profile.frames[frame]] += weight
    ranked = sorted(by_stage.items(), key=lambda stage: (-stage[1], stage[0]))
    return tuple(Stage(*stage) for stage in ranked), _sorted_passes(own, total, lines)


def _sorted_passes(
    own: Counter[tuple[str, str]], total: Counter[tuple[str, str]], lines: Counter[Frame]
) -> tuple[Pass, ...]:
    # The heaviest line comes last and is kept; of ties, the first line.
    ranked = sorted(lines, key=lambda frame: (lines[frame], -frame.line))
    line_of = {(frame.name, frame.file): frame.line for frame in ranked}
    rows = [
        Pass(stage_of(file) or OTHER, name, file, line_of[name, file], own[name, file], weight)
        for (name, file), weight in total.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.own, -row.total, row.name, row.file)))
