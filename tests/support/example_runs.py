"""Runs made by hand, the same in every test: a training loop with a slow input pipeline, and others."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from profkit.model.histogram import histogram_of
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.region import Region, RegionKey, RegionKind
from profkit.model.run import Run, RunInfo
from profkit.model.session import ProcessInfo, ResourcePoint, SamplerPlan, SessionState
from profkit.process.manifest import key_file, sealed

CWD = "/home/ada/vision"
APP = f"{CWD}/train.py"
DATA = f"{CWD}/vision/data.py"
TORCH = "/opt/venv/lib/python3.11/site-packages/torch"
STARTED_NS = 1_763_725_743_000_000_000
MAIN = Thread(4242, 4242, "MainThread")
LOADER = Thread(4242, 4250, "loader-0")

PROCESS = ProcessInfo(
    pid=4242,
    start_ticks=123,
    host="node-07",
    cwd=CWD,
    argv=("python", "train.py", "--epochs", "3"),
    python="3.11.2",
    torch="2.13.0+cpu",
    profkit="0.1.0",
    git_commit="0123456789abcdef0123456789abcdef01234567",
)
PLAN = SamplerPlan(
    sampler="pyspy",
    rate_hz=100.0,
    blocking=True,
    idle=True,
    native=False,
    subprocesses=False,
    scope="call",
    max_duration_s=600.0,
)
REGION = Region(
    key=RegionKey("__main__", "train_step", 42, "train_step"),
    kind=RegionKind.FUNCTION,
    file=APP,
    expected=("train_step", APP),
)
INFO = RunInfo(
    id="3f2a91c0de",
    session="20251121T114903-4242-9c1f",
    region=REGION,
    state=SessionState.SUCCESS,
    started_ns=STARTED_NS,
    process=PROCESS,
    plan=PLAN,
    sampler_version="0.4.3",
    durations=histogram_of([61_000_000 + 400_000 * n for n in range(36)] + [118_000_000] * 3 + [171_000_000]),
    achieved_hz=97.4,
    session_s=12.31,
    samples=291,
    torn=2,
)
RESOURCES = (
    ResourcePoint(STARTED_NS, 1.0, 300 * 2**20, 6),
    ResourcePoint(STARTED_NS + 10**9, 1.9, 512 * 2**20, 8),
    ResourcePoint(STARTED_NS + 2 * 10**9, 2.9, 480 * 2**20, 8),
)

STEP, LOAD = Frame("train_step", APP, 45), Frame("load_batch", DATA, 30)
AUGMENT, JITTER = Frame("augment", DATA, 18), Frame("jitter.<locals>.pixel", DATA, 9)
CALL = Frame("Module._wrapped_call_impl", f"{TORCH}/nn/modules/module.py", 1775)
LINEAR = Frame("Linear.forward", f"{TORCH}/nn/modules/linear.py", 125)
FORWARD = Frame("Net.forward", APP, 21)
BACKWARD = Frame("Tensor.backward", f"{TORCH}/_tensor.py", 630)
ENGINE = Frame("_engine_run_backward", f"{TORCH}/autograd/graph.py", 865)
STACKS = (
    ((STEP, LOAD, AUGMENT, JITTER), 118),
    ((STEP, LOAD, AUGMENT), 31),
    ((STEP, LOAD, Frame("collate", DATA, 40)), 4),
    ((STEP._replace(line=47), CALL, FORWARD, CALL, LINEAR), 66),
    ((STEP._replace(line=47), CALL, FORWARD), 1),
    ((STEP._replace(line=49), BACKWARD, ENGINE), 52),
    ((STEP._replace(line=49), BACKWARD), 1),
    ((STEP._replace(line=50),), 1),
    ((STEP._replace(line=51), Frame("log", APP, 60)), 1),
    ((STEP._replace(line=51), Frame("flush", APP, 70)), 1),
)


SOURCES = {
    "train.py": {
        21: "return self.layers(batch)",
        45: "images, target = load_batch(paths, rng)",
        47: "loss = criterion(net(images), target)",
        49: "loss.backward()",
        50: "optimiser.step()",
        51: "log(step, loss.item())",
        60: 'flush(f"{step} {value:.3f}\\n")',
        70: "stream.write(line)",
    },
    "vision/data.py": {
        9: "return min(255, max(0, value + rng.gauss(0, 8)))",
        18: "rows = [[pixel(value) for value in row] for row in image]",
        30: "images = [augment(read(path), rng) for path in paths]",
        40: "return torch.stack(images)",
    },
}
"""Lines of the program, by file and number."""


def made_profile(period_ns: float = 1e9 / 97.4) -> Profile:
    """291 samples, 15 of them in a loader's thread."""
    builder = ProfileBuilder()
    for stack, weight in STACKS:
        builder.add(stack, MAIN, weight)
    builder.add((STEP, LOAD), LOADER, 15)
    return builder.build(period_ns=period_ns)


def made_run(**changes: object) -> Run:
    """The run, with fields of its `RunInfo` changed."""
    return Run(replace(INFO, **changes), made_profile(), RESOURCES)  # type: ignore[arg-type]


def labelled(run_id: str, label: str, age_s: float = 0.0, **changes: object) -> Run:
    """The run under another id and label, begun so much earlier."""
    region = replace(REGION, key=replace(REGION.key, label=label))
    return made_run(id=run_id, region=region, started_ns=STARTED_NS - round(age_s * 1e9), **changes)


def with_sources(run: Run, folder: Path) -> Run:
    """The run as if its program had lain in a folder, where its two files now do, older than the run."""
    assert run.profile is not None
    frames = tuple(frame._replace(file=frame.file.replace(CWD, str(folder))) for frame in run.profile.frames)
    for name, lines in SOURCES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("".join(f"    {lines.get(n, '')}\n" for n in range(1, 80)), "utf-8")
        os.utime(path, ns=(STARTED_NS - 10**9, STARTED_NS - 10**9))
    info = replace(
        run.info,
        process=replace(run.info.process, cwd=str(folder)),
        region=replace(run.info.region, file=str(folder / "train.py")),
    )
    return replace(run, info=info, profile=replace(run.profile, frames=frames))


def own(run: Run) -> Run:
    """The run as if this user had recorded it on this machine; set XDG_STATE_HOME before."""
    here = replace(run.info.process, host=os.uname().nodename)
    return replace(run, info=replace(run.info, process=sealed(here, key_file())))


HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "[bold]markup[/bold]",
    "\u202egnp.exe",
    "two\nlines\r\tand a tab",
    "\x9b2Jwiped",
    "lone \udc80 surrogate",
    "zero\u200bwidth",
    "link\x1b]8;;http://evil\x07",
)


HOSTILE_NOTES = tuple(Note.of(NoteCode.SEGMENT_FAILED, segment=0, detail=text) for text in HOSTILE)


def hostile_run() -> Run:
    """A run every name of which tries to do something to the terminal."""
    builder = ProfileBuilder()
    for number, name in enumerate(HOSTILE):
        thread = Thread(1, number, name)
        builder.add((Frame(name, f"/tmp/{name}.py", 3), Frame(f"{name}!", f"{name}.so", 1)), thread, 5)
    text = " ".join(HOSTILE)
    region = replace(REGION, key=RegionKey(text, text, 1, text), file=text, tags=HOSTILE, user=text)
    process = replace(PROCESS, host=text, cwd=text, argv=HOSTILE, python=text, torch=text, git_commit=text)
    info = replace(
        INFO,
        region=replace(region, env=((text, text),)),
        process=process,
        plan=replace(PLAN, sampler=text),
        session=text,
        notes=HOSTILE_NOTES,
        links=((text, text),),
        error=text,
        samples=5 * len(HOSTILE),
    )
    return Run(info, builder.build(period_ns=1e7), RESOURCES)
