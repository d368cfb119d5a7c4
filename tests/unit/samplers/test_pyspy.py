"""What `read` makes of a segment's files, written here as py-spy writes them, and of its child processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profkit.errors import DamagedFile
from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.session import SamplerPlan, Segment
from profkit.process import background
from profkit.render.formatting import place
from profkit.samplers.base import LiveStacks, Recording
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler, with_child_processes
from profkit.transforms.origin import package_of
from profkit.transforms.simplify import child_frame
from tests.support.spool_folders import open_folder

SAMPLER = PySpySampler()
OWN = 'Thread 8 ""'
"""A thread of profkit's own, which has no name."""
PLAN = SAMPLER.plan(SamplerOptions(), LiveStacks(1, 1))
DONE = "\npy-spy> Wrote speedscope file to 'a'. Samples: 12 Errors: {errors}\n"


OWN_FILE = background.__file__
ELSEWHERE = f"/env/lib/python3.12/site-packages/{OWN_FILE[OWN_FILE.rindex('profkit/') :]}"


def write(
    folder: Path, counts: dict[str, int], log: str = DONE.format(errors=0), own_file: str = OWN_FILE
) -> None:
    profiles = [
        {
            "type": "sampled", "name": name, "unit": "seconds", "weights": [0.01] * count,
            "samples": [[1] if name == OWN else [0]] * count,
        }
        for name, count in counts.items()
    ]  # fmt: skip
    frames = [
        {"name": "f", "file": "/a.py", "line": 1, "col": None},
        {"name": "_run", "file": own_file, "line": 1, "col": None},
    ]
    document = {"profiles": profiles, "shared": {"frames": frames}, "exporter": "py-spy@0.4.3"}
    (folder / "segment-002.speedscope.json").write_text(json.dumps(document))
    (folder / "segment-002.log").write_text(log)


def read(folder: Path, plan: SamplerPlan = PLAN) -> Recording:
    with open_folder(folder) as opened:
        return SAMPLER.read(opened, Segment(2, 0), plan)


@pytest.mark.parametrize("own_file", [OWN_FILE, ELSEWHERE])
def test_profkits_own_thread_is_left_out(tmp_path: Path, own_file: str):
    write(tmp_path, {'Thread 7 "MainThread"': 5, OWN: 7}, own_file=own_file)
    recording = read(tmp_path)
    assert [thread.name for thread in recording.profile.threads] == ["MainThread"]
    assert recording.profile.total_weight == 5
    assert recording.profile.period_ns == pytest.approx(1e7)


@pytest.mark.parametrize(
    ("counts", "idle", "rounds", "starts"),
    [
        ({}, True, 0, ()),
        ({'Thread 7 "MainThread"': 5, OWN: 7, 'Thread 9 "late"': 2}, True, 7, ()),
        ({'Thread 7 "MainThread"': 400, 'Thread 9 "pool"': 397}, True, 400, (0, 3)),
        ({'Thread 7 "MainThread"': 400, 'Thread 9 "late"': 390}, True, 400, ()),
        ({'Thread 7 "MainThread"': 400, 'Thread 9 "pool"': 397}, False, None, ()),
    ],
    ids=["nothing was seen", "profkit's own thread was seen most", "nearly all rounds", "late", "CPU time"],
)
def test_rounds_are_those_of_the_thread_that_was_seen_most(
    counts: dict[str, int], idle: bool, rounds: int | None, starts: tuple[int, ...], tmp_path: Path
) -> None:
    write(tmp_path, counts)
    recording = read(tmp_path, SAMPLER.plan(SamplerOptions(idle=idle), LiveStacks(1, 1)))
    assert (recording.rounds, recording.profile.starts, recording.notes) == (rounds, starts, ())
    assert len(recording.profile.samples) == len(counts.keys() - {OWN})


def test_errors_and_lateness(tmp_path: Path):
    late = "py-spy> 3.25s behind in sampling, results may be inaccurate.\n"
    write(tmp_path, {'Thread 7 "MainThread"': 1}, late + DONE.format(errors=4))
    recording = read(tmp_path)
    assert recording.errors == 4
    assert recording.notes == (Note.of(NoteCode.SAMPLER_LATE, behind_s=3.25),)


def test_samples_without_a_log(tmp_path: Path):
    write(tmp_path, {'Thread 7 "MainThread"': 1})
    (tmp_path / "segment-002.log").unlink()
    assert read(tmp_path).errors == 0


def test_no_samples_is_damage(tmp_path: Path):
    with pytest.raises(DamagedFile, match=r"segment-002\.speedscope\.json"):
        read(tmp_path)


WORK = Frame("work", "/home/ann/worker.py", 3)


def pyspy_frame(pid: int, command: str) -> Frame:
    return Frame(f'process {pid}:"{command}"', "")


def recorded(*stacks: tuple[Frame, ...]) -> Profile:
    builder = ProfileBuilder()
    for stack in stacks:
        builder.add(stack, Thread(1, 1, "MainThread"))
    return builder.build(period_ns=1e7)


def frames_of(profile: Profile) -> list[tuple[Frame, ...]]:
    return [tuple(profile.frames[n] for n in profile.stacks[sample.stack]) for sample in profile.samples]


def test_the_given_process_has_no_frame_and_children_have_short_ones() -> None:
    commands = ["python app.py", "/usr/bin/python3.11 /srv/worker.py 1 2", "python -m tool --deep"]
    one, two, three = (pyspy_frame(pid, command) for pid, command in enumerate(commands, 1))
    shown = with_child_processes(recorded((one, WORK), (one, two, WORK), (one, two, three, WORK)))
    child, grandchild = child_frame(2, commands[1]), child_frame(3, commands[2])
    assert frames_of(shown) == [(WORK,), (child, WORK), (child, grandchild, WORK)]
    assert (child.name, grandchild.name) == ("python3.11 worker.py [pid 2]", "python -m tool [pid 3]")
    assert shown.period_ns == 1e7


def test_functions_that_are_called_process_stay() -> None:
    profile = recorded((Frame("process 1", "app.py", 3), Frame("process", "", 0)))
    assert with_child_processes(profile) is profile


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/venv/bin/python worker.py", "python worker.py"),
        (
            "python -B -c from multiprocessing.spawn import spawn_main; spawn_main(4)",
            "multiprocessing worker",
        ),
        ("python -c from multiprocessing.resource_tracker import main", "multiprocessing resource tracker"),
        ("python -c import time", "python -c …"),
        ("python -m http.server 80", "python -m http.server"),
        ("python -u", "python"),
        ("", "process"),
        ("python " + "x" * 500, "python " + "x" * 32 + "…"),
    ],
)
def test_names_of_processes_are_short(command: str, name: str) -> None:
    frame = child_frame(12, command)
    assert frame.name == f"{name} [pid 12]"
    assert len(frame.name) < 60
    assert command in frame.file


def test_commands_are_details() -> None:
    file = child_frame(12, "python worker.py --deep").file
    assert (place(file, 0, ""), package_of(file)) == ("", "process")


def test_secrets_in_commands_are_hidden() -> None:
    child = pyspy_frame(2, "python worker.py --password hunter2 --token=hunter3")
    ((frame, _),) = frames_of(with_child_processes(recorded((pyspy_frame(1, "p"), child, WORK))))
    assert "hunter" not in frame.file
