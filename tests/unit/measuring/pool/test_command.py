"""Command lines of zygotes, and how processes ended, in words."""

from __future__ import annotations

import ast
import json
import os
import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from profkit.measuring.pool import command as outputs
from profkit.measuring.pool.client import OLDEST_PYTHON
from profkit.measuring.pool.command import (
    KEPT_BYTES,
    PROGRAM,
    Output,
    ZygoteKind,
    changes_of,
    dump_prefix,
    new_folder,
    supervisor_message,
)
from profkit.measuring.pool.jobs import how_ended, is_own_end
from profkit.measuring.worker import __main__ as program
from profkit.model.measurement import Preload, Tool
from profkit.model.workorder import Simulation


def kind(tool: Tool = Tool.NONE, preload: Preload = Preload.NOTHING, **changes) -> ZygoteKind:
    return ZygoteKind(("env", "A=1", "python3"), tool, preload, (("LANG", "C"),), **changes)


def test_words_come_before_the_interpreter():
    message = supervisor_message(kind(), None)
    *argv, config = message["argv"]
    assert argv == ["env", "A=1", "python3", str(PROGRAM), "zygote"]
    assert json.loads(config)["imports"] == []
    assert message["folder"] is None


def test_the_environment_is_the_kinds_and_profkit_is_off():
    env = supervisor_message(kind(), None)["env"]
    assert env["LANG"] == "C"
    assert env["PROFKIT_DISABLE"] == "1"
    assert not {"PATH", "HOME"} & set(env)


def test_valgrind_is_between_words_and_interpreter(monkeypatch, tmp_path):
    valgrind = tmp_path / "valgrind"
    valgrind.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = new_folder(kind(Tool.VALGRIND))
    simulating = kind(Tool.VALGRIND, simulate=(Simulation.CACHE, Simulation.BRANCH))
    argv = supervisor_message(simulating, folder)["argv"]
    assert argv[:3] == ["env", "A=1", str(valgrind)]
    assert argv[argv.index("python3") + 1] == str(PROGRAM)
    options = argv[3 : argv.index("python3")]
    assert f"--callgrind-out-file={dump_prefix(folder)}.%p" in options
    assert {"--cache-sim=yes", "--branch-sim=yes", "--instr-atstart=no", "--vgdb=no"} <= set(options)


def test_names_that_differ_stay_out_of_the_zygotes_memory(monkeypatch, tmp_path):
    (tmp_path / "valgrind").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    kinds = [kind(Tool.VALGRIND, draw=name) for name in "ab"]
    folders = [new_folder(each) for each in kinds]
    assert folders[0] != folders[1]
    messages = [supervisor_message(*each) for each in zip(kinds, folders, strict=True)]
    own = [message["argv"][message["argv"].index("python3") :] for message in messages]
    assert own[0] == own[1]
    assert messages[0]["env"] == messages[1]["env"]


def test_folders_are_made_by_nobody_yet():
    folder = new_folder(kind(Tool.VALGRIND))
    assert folder is not None
    assert folder.parent == Path(tempfile.gettempdir())
    assert not folder.exists()
    assert new_folder(kind()) is None


@pytest.mark.parametrize(
    ("code", "how"),
    [
        ("import os; os._exit(3)", "exited with status 3"),
        ("import os; os.kill(os.getpid(), 11)", "was ended by SIGSEGV"),
        ("import os; os.kill(os.getpid(), 40)", "was ended by signal 40"),
        (
            "import os; os.kill(os.getpid(), 9)",
            "was ended by SIGKILL, as the system does when memory runs out",
        ),
    ],
)
def test_how_a_process_ended(code, how):
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # pytest's faulthandler
        exec(code)
    _, status = os.waitpid(pid, 0)
    assert how_ended(status) == how
    assert is_own_end(status) == ("SIGKILL" in how)


def test_a_job_changes_what_differs_in_its_zygotes_environment_and_never_switches_profkit_on():
    zygote = replace(kind(), env=(("LANG", "C"), ("OLD", "1")))
    wanted = {"LANG": "de", "NEW": "2", "PROFKIT_DISABLE": "0"}
    changes = changes_of(zygote, wanted)
    assert changes.pop("PYTORCH_NVML_BASED_CUDA_CHECK") is None
    assert changes == {"LANG": "de", "NEW": "2", "OLD": None, "LC_CTYPE": None}
    assert changes_of(zygote, {}) == {}


@pytest.fixture
def output():
    made = Output()
    yield made
    made.close()


def test_all_of_little(output):
    os.write(output.descriptor, "a line\nzwölf".encode())
    assert output.text() == "a line\nzwölf"


def test_the_end_of_much_in_whole_lines(output):
    line = b"0123456789\n"
    os.write(output.descriptor, line * KEPT_BYTES)
    text = output.text()
    assert KEPT_BYTES - len(line) < len(text) <= KEPT_BYTES
    assert set(text.splitlines()) == {"0123456789"}


def test_one_endless_line_is_cut_anywhere(output):
    os.write(output.descriptor, b"x" * (2 * KEPT_BYTES))
    assert output.text() == "x" * KEPT_BYTES


def test_bytes_that_are_no_text(output):
    os.write(output.descriptor, b"\xff\n")
    assert output.text() == "\N{REPLACEMENT CHARACTER}\n"


def test_what_has_grown_large_shrinks_and_goes_on(output, monkeypatch):
    monkeypatch.setattr(outputs, "_GROWN_BYTES", 2 * KEPT_BYTES)
    writer = os.dup(output.descriptor)
    os.write(writer, b"early\n" * KEPT_BYTES)
    output.shrink()
    assert os.fstat(output.descriptor).st_size == KEPT_BYTES
    os.write(writer, b"late\n")
    os.close(writer)
    assert output.text().endswith("early\nlate\n")
    output.shrink()
    assert os.fstat(output.descriptor).st_size == KEPT_BYTES + len("late\n")


def test_tracebacks_of_workers_have_no_frames_of_the_worker_and_count_repeated_ones():
    own = f'  File "{outputs.PROGRAM.parent}/child.py", line 3 in work\n'
    frame = '  File "mine.py", line 4 in recur\n'
    other = '  File "b.py", line 1 in f\n'
    dump = "printed\nThread 0x1 (most recent call first):\n" + frame * 9 + other + own * 2
    assert outputs.without_own_frames(dump) == (
        "printed\nThread 0x1 (most recent call first):\n"
        + frame * 3
        + "  [Previous line repeated 6 more times]\n"
        + other
    )
    assert outputs.without_own_frames("flood\n" * 9) == "flood\n" * 9


def test_every_python_3_can_read_the_program() -> None:
    tree = ast.parse(PROGRAM.read_text("utf-8"), feature_version=(3, 4))
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    assert not futures, "Python 3.6 does not know them all"
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)], "nor formatted strings"


def test_driver_and_program_agree_on_the_oldest_python() -> None:
    assert program._OLDEST == OLDEST_PYTHON
