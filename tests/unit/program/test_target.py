"""What is known of another process from its command line, and which samplers may read it."""

from __future__ import annotations

import os
import subprocess

import pytest

from profkit.errors import SamplerMissing, UsageError
from profkit.model.session import ProcessInfo
from profkit.process import procfs
from profkit.program.environment import program_of
from profkit.program.target import Target, fallbacks_for, find_target
from profkit.samplers.options import SamplerOptions
from profkit.samplers.pyspy import PySpySampler

INFO = ProcessInfo(1, 1, "host", "/srv", ("python", "app.py"), "3.15.2", None, "1", None)


@pytest.mark.parametrize(
    ("words", "script", "name"),
    [
        (["python", "app.py", "-m"], "/srv/app.py", "app.py"),
        (["python", "-X", "dev", "-W", "ignore", "/opt/x/app.py"], "/opt/x/app.py", "app.py"),
        (["python", "-m", "http.server", "80"], "", "http.server"),
        (["python", "-mhttp.server"], "", "http.server"),
        (["python", "-c", "pass"], "", "-c"),
        (["/usr/bin/python3", "-u"], "", "python3"),
        (["python", "-"], "", "-"),
        ([], "", "?"),
    ],
)
def test_the_program_of_a_command_line(words: list[str], script: str, name: str) -> None:
    assert program_of(words, "/srv") == (script, name)


def test_this_process() -> None:
    target = find_target(os.getpid())
    assert target.process.pid == os.getpid()
    assert target.process.recorder[0] == os.getpid()
    assert target.process.cwd == os.getcwd()


def test_no_process_and_no_python() -> None:
    with pytest.raises(UsageError, match="there is no process"):
        find_target(2**22 - 1)
    with subprocess.Popen(["sleep", "60"]) as other:
        while not procfs.command_line(other.pid):  # it is in exec
            pass
        with pytest.raises(UsageError, match=r"\(sleep\) runs no Python"):
            find_target(other.pid)
        other.kill()


def test_the_processs_own_python_reads_it_if_it_can() -> None:
    target = Target(INFO, "", "app", "/usr/bin/python3.15")
    names = [
        (fallback.sampler.name, fallback.options.blocking)
        for fallback in fallbacks_for(target, SamplerOptions())
    ]
    assert names == [("cpython", "auto"), ("pyspy", "auto"), ("pyspy", False)]
    reading = fallbacks_for(target, SamplerOptions())[0].sampler
    assert (reading.find(), reading.version()) == ("/usr/bin/python3.15", "3.15.2")


def test_a_reader_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(sampler: object) -> str:
        raise SamplerMissing("pyspy", "py-spy", "install it")

    monkeypatch.setattr(PySpySampler, "find", missing)
    found = fallbacks_for(Target(INFO, "", "app", "/usr/bin/python3.15"), SamplerOptions())
    assert [(fallback.sampler.name, fallback.missing is None) for fallback in found] == [
        ("cpython", True),
        ("pyspy", False),
    ]


def test_other_processes_are_read_by_pyspy() -> None:
    target = Target(INFO, "", "app", None)
    assert {fallback.sampler.name for fallback in fallbacks_for(target, SamplerOptions())} == {"pyspy"}
    with pytest.raises(SamplerMissing):
        fallbacks_for(target, SamplerOptions(sampler="cpython"))


@pytest.mark.parametrize("name", ["inprocess", "none", "strobeclient"])
def test_samplers_for_this_process_only(name: str) -> None:
    with pytest.raises(UsageError, match="cannot sample another process"):
        fallbacks_for(Target(INFO, "", "app", None), SamplerOptions(sampler=name))
