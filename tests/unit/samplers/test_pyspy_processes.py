from __future__ import annotations

import pytest

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.render.formatting import place
from profkit.samplers.pyspy import with_child_processes
from profkit.transforms.origin import package_of
from profkit.transforms.simplify import child_frame

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
        (
            "python -c from multiprocessing.resource_tracker import main;main(13)",
            "multiprocessing resource tracker",
        ),
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
