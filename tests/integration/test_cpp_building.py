"""C++ orders compiled by the real compiler, and run as workers run them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from profkit.errors import CompileFailed, ToolMissing
from profkit.measuring.cpp.building import HeaderCompilation, ObjectCompilation, libraries_for
from profkit.measuring.cpp.cache import open_cache
from profkit.measuring.cpp.compiling import run_compilations
from profkit.measuring.cpp.source import Source, source_of
from profkit.measuring.cpp.toolchain import toolchain
from profkit.measuring.errors import ScriptFailed
from profkit.model.workorder import Language, WorkOrder
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
RUN_LIBRARY = Path(__file__).parent / "programs" / "run_library.py"
COUNTING_COMPILER = '#!/bin/sh\necho "$@" >> {log}\nexec g++ "$@"\n'
ENDLESS_COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo endless 1.0; exit; fi
sleep 600 &
echo $$ $! > {log}
wait
"""
BROKEN_COMPILER = """#!/bin/sh
echo broken 1.0
rm -f "$0"
"""
PAIR = """
import sys
from pathlib import Path
from profkit.measuring.cpp.building import libraries_for
from profkit.model.workorder import Language, WorkOrder
order = WorkOrder("both", stmt="profkit::keep(std::sqrt(2.0));", language=Language.CPP)
sys.stdin.readline()
print(libraries_for([order], progress=lambda *step: None, cache=Path(sys.argv[1]))[0])
"""


def order(stmt: str, setup: str = "", global_setup: str = "", **others) -> WorkOrder:
    return WorkOrder(stmt, stmt=stmt, setup=setup, global_setup=global_setup, language=Language.CPP, **others)


def silent(done: int, total: int, label: str) -> None:
    pass


def built(one: WorkOrder, cache: Path) -> Path:
    library = libraries_for([one], progress=silent, cache=cache)[0]
    assert isinstance(library, Path), library
    return library


def run(library: Path, numbers: Sequence[int] = (1,), function: str = "profkit_measure") -> dict:
    argv = [sys.executable, "-I", "-S", str(RUN_LIBRARY), str(library), function, *map(str, numbers)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def compiler(folder: Path, text: str) -> tuple[Path, Path]:
    """A program that is called as a compiler, and the log that it writes."""
    program, log = folder / "compiler", folder / "log"
    program.write_text(text.format(log=log))
    program.chmod(0o755)
    return program, log


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache") / "cpp"


def test_the_setup_runs_once_and_the_statement_as_often_as_asked(cache: Path):
    stmt = "if (++calls == 1004) throw std::runtime_error(std::to_string(calls));"
    ran = run(built(order(stmt, "int calls = 0;"), cache), (3, 0, 1000, 1))
    assert ran["thrown"] == [None, None, None, "std::runtime_error: 1004"]
    assert ran["said"] is None


def test_a_guard_of_the_setup_is_in_force_during_blocks_and_gone_after(cache: Path):
    guard = "thread_local int depth; struct Guard { Guard() { ++depth; } ~Guard() { --depth; } };"
    one = order("if (depth != 1) throw std::logic_error(std::to_string(depth));", "Guard guard;", guard)
    for _ in range(2):
        assert run(built(one, cache), (5, 5))["thrown"] == [None, None]


def test_neither_loop_nor_load_is_optimised_away(cache: Path):
    library = built(order("int y = x[0] * 2; profkit::keep(y);", "std::vector<int> x(1);"), cache)
    for function in ("profkit_measure", "profkit_measure_empty"):
        *few, many = run(library, (*[1_000] * 10, 1_000_000), function)["spent_ns"]
        assert many > 50 * min(few)


@pytest.mark.parametrize(
    ("stmt", "setup", "thrown", "said"),
    [
        ("throw 42;", "", ["int: no std::exception"] * 2, None),
        ("break;", "", ["std::logic_error: the statement leaves its loop"] * 2, None),
        ("return;", "", ["std::logic_error: the statement leaves its loop"] * 2, None),
        ("if (i++ % 2) continue;", "int i = 0;", [None] * 2, None),
        ("", "throw std::out_of_range(std::string(3, 'x'));", [], "std::out_of_range: xxx"),
        ("", "if (true) return;", [], "std::logic_error: the setup returns"),
        ("throw std::runtime_error(std::string(100000, 'x'));", "", ["std::runtime_error: xxx"] * 2, None),
    ],
)  # fmt: skip
def test_ways_to_end(stmt: str, setup: str, thrown: list, said: str | None, cache: Path):
    ran = run(built(order(stmt, setup), cache), (2, 2))
    for found, wanted in zip([*ran["thrown"], ran["said"]], [*thrown, said], strict=True):
        assert found == wanted if wanted is None else found.startswith(wanted)


def test_what_a_statement_may_look_like(cache: Path):
    one = order(
        "for (auto [a, b] : pairs) { sum += a * b * two; } // no newline, no semicolon",
        "auto [two, three] = std::pair(2, 3);\nint pairs_made = 2 /* of */;\n"
        "std::pair<int, int> pairs[] = {{1, 2}, {3, 4}};\nint sum = 0",
        "#include <utility>\n#define PROFKIT_TRUE true\nusing namespace std;",
    )
    assert run(built(one, cache), (10,))["thrown"] == [None]


def test_errors_name_the_users_lines_and_spare_other_orders(cache: Path):
    good, bad, odd = (
        order("int x = 1;"),
        order("int y = x + ;", "int x = 1;\nint z = zork;"),
        order("if (1) {"),
    )
    found = libraries_for([bad, WorkOrder("python", stmt="1"), good, bad, odd], progress=silent, cache=cache)
    assert sorted(found) == [0, 2, 3, 4]
    assert isinstance(found[2], Path)
    for place in (0, 3):
        failed = found[place]
        assert isinstance(failed, CompileFailed)
        assert failed.label == bad.label
        lines = failed.output.split("\n")
        assert lines[0].startswith("<setup>:2:9: error: ")
        assert lines[1:3] == ["    int z = zork;", "            ^"]
        assert lines[3].startswith("<stmt>:1:13: error: ")
        assert lines[4:] == ["    int y = x + ;", "                ^"]
    assert "unbalanced" in str(found[4])


def test_a_function_that_is_nowhere_is_found_while_compiling(cache: Path):
    found = libraries_for([order("nowhere();", global_setup="void nowhere();")], progress=silent, cache=cache)
    assert isinstance(found[0], CompileFailed)
    assert found[0].output.startswith("<stmt>:1: undefined reference to `nowhere()'")


def test_equal_statements_are_compiled_once_and_then_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program, log = compiler(tmp_path, COUNTING_COMPILER)
    monkeypatch.setenv("CXX", str(program))
    orders = [order("int x = 5;"), WorkOrder("other", stmt="int x = 5;", language=Language.CPP)]
    steps: list[tuple[int, int]] = []
    for _ in range(2):
        found = libraries_for(orders, progress=lambda done, total, label: steps.append((done, total)),
                              cache=tmp_path / "cpp")  # fmt: skip
        assert found[0] == found[1]
    assert log.read_text().count("-shared") == 1
    assert steps[0] == (0, 1)
    assert steps[-1] == (1, 1)


def test_of_two_processes_one_compiles(tmp_path: Path):
    program, log = compiler(tmp_path, COUNTING_COMPILER)
    environ = {**os.environ, "CXX": str(program), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-c", PAIR, str(tmp_path / "cpp")]
    pipe = subprocess.PIPE
    both = [subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True, env=environ) for _ in range(2)]
    for one in both:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    said = {one.communicate(timeout=60)[0].strip() for one in both}
    assert len(said) == 1
    assert run(Path(said.pop()))["thrown"] == [None]
    assert log.read_text().count("-shared") == 1


def test_an_interrupt_ends_the_compilers_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program, log = compiler(tmp_path, ENDLESS_COMPILER)
    monkeypatch.setenv("CXX", str(program))

    def interrupt_when_started(done: int, total: int, label: str) -> None:
        if log.exists() and len(log.read_text().split()) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        libraries_for([order("1;")], progress=interrupt_when_started, cache=tmp_path / "cpp")
    for pid in map(int, log.read_text().split()):
        with contextlib.suppress(psutil.NoSuchProcess):  # a process that was killed ends when it next runs
            killed = psutil.Process(pid)
            assert killed.status() == psutil.STATUS_ZOMBIE or killed.wait(10) is None
    assert [path.suffix for path in (tmp_path / "cpp").iterdir()] == [".lock"]


def test_a_killed_program_leaves_no_compilers_behind(tmp_path: Path):
    program, log = compiler(tmp_path, ENDLESS_COMPILER)
    command = [sys.executable, "-c", PAIR, str(tmp_path / "cpp")]
    environ = {**os.environ, "CXX": str(program)}
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environ, cwd=ROOT)
    until(lambda: log.exists() and len(log.read_text().split()) == 2)
    compilers = [psutil.Process(int(pid)) for pid in log.read_text().split()]
    started.kill()
    started.wait()
    psutil.wait_procs(compilers, timeout=20)
    assert not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in compilers)
    until(lambda: [path.suffix for path in (tmp_path / "cpp").iterdir()] == [".lock"])


def test_a_compiler_that_cannot_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program, _ = compiler(tmp_path, BROKEN_COMPILER)
    monkeypatch.setenv("CXX", str(program))
    (error,) = libraries_for([order("1;")], progress=silent, cache=tmp_path / "cpp").values()
    assert isinstance(error, CompileFailed)
    assert f"cannot run {program}: No such file or directory" in str(error)


def test_without_an_interpreter_there_is_a_fix(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "")
    (error,) = libraries_for([order("2;")], progress=silent, cache=cache).values()
    assert isinstance(error, ToolMissing)
    assert "set sys.executable to an interpreter" in str(error)


@pytest.mark.parametrize("name", ["plain", "a b\\c$d#e:f\\ g%h"])
def test_a_changed_header_is_compiled_again(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.chdir(folder)
    one, header = order("throw f();", global_setup='#include "the answer.h"'), folder / "the answer.h"
    for word in ("const char *", "int"):
        header.write_text(f"inline auto f() {{ return ({word})0; }}")
        first = built(one, folder / "cpp")
        assert built(one, folder / "cpp") == first
        assert run(first)["thrown"][0].startswith(
            word.replace(" *", "*").replace("const char*", "char const*")
        )


@pytest.mark.full
@pytest.mark.torch
@pytest.mark.parametrize("additions", [(2,), (2, 3)])
def test_torchscript_is_part_of_the_object_and_made_again_if_its_own_files_change(
    additions: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    cache, helper = tmp_path / 'odd "é' / "cpp", tmp_path / "helper.py"
    stmt = "throw std::runtime_error(std::to_string(scripted.forward({x}).toTensor().item<int>()));"
    setup = "auto scripted = profkit::scripted(); auto x = at::ones({1});"
    one = order(stmt, setup, script="from helper import model")
    for added in additions:
        helper.write_text(f"def model(x):\n    return x + {added}\n")
        library = built(one, cache)
        assert built(one, cache) == library
        kept = {path.suffix for path in cache.iterdir()}
        assert kept <= {".so", ".pt", ".json", ".lock", ".pch"}
        for script in cache.glob("*.pt"):
            script.unlink()  # the object holds all of it
        assert str(added + 1) in run(library)["thrown"][0]


@pytest.mark.torch
def test_what_is_no_torchscript_is_named(tmp_path: Path):
    one = order("1;", script="import os\ndef model(x):\n    return os.getcwd()\n")
    error = libraries_for([one], progress=silent, cache=tmp_path / "cpp")[0]
    assert isinstance(error, ScriptFailed)
    assert "os.getcwd" in str(error)
    assert not list((tmp_path / "cpp").glob("*.so"))


def test_headers_are_precompiled_and_used(tmp_path: Path):
    cache, tools = open_cache(tmp_path), toolchain(os.environ, None)
    header = HeaderCompilation(("vector", "map"), tools, os.environ)
    made = [result for _, result in run_compilations([header], cache, 1, lambda label: None)]
    precompiled = header.find(cache)
    assert made == [precompiled]
    assert precompiled is not None
    precompiled.write_text("#error not precompiled\n")
    one = order("std::map<int, int> m;")
    unit = ObjectCompilation(one, Source(header.headers, source_of(one).text), tools, tmp_path, precompiled)
    [(_, library)] = run_compilations([unit], cache, 1, lambda label: None)
    assert library == unit.find(cache)
    failed = ObjectCompilation(one, Source((), unit.source.text), tools, tmp_path)
    [(_, error)] = run_compilations([failed], cache, 1, lambda label: None)
    assert "‘map’ is not a member of ‘std’" in str(error)


def test_without_a_compiler_there_is_a_fix(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CXX", raising=False)
    other = replace(order("2;"), env=(("CXX", "nothing-like-this"),))
    found = libraries_for([order("2;"), other], progress=silent, cache=cache)
    assert isinstance(found[0], Path)
    assert isinstance(found[1], ToolMissing)
    assert "'nothing-like-this'" in str(found[1])
    assert "apt-get install g++" in str(found[1])
    monkeypatch.setenv("PATH", str(cache))
    [missing] = libraries_for([order("2;")], progress=silent, cache=cache).values()
    assert "needs 'g++'" in str(missing)


@pytest.mark.full
@pytest.mark.torch
def test_statements_about_tensors(cache: Path):
    one = order(
        'auto z = x + y; if (at::GradMode::is_enabled() || z.numel() != 64) throw std::logic_error("no");',
        "at::NoGradGuard guard; auto x = at::ones({64}), y = at::ones({64});",
    )
    ran = run(built(one, cache), (1, 10))
    assert ran["thrown"] == [None, None]
