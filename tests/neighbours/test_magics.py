"""`%profiled` and `%measure` in a Jupyter kernel."""

from __future__ import annotations

import html
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.harness import ROOT, await_samplers_end, profkit, run_program
from tests.neighbours.harness import environ, runs_in
from tests.neighbours.kernels import Kernel, started_kernel

DEFINITIONS = """
import asyncio, threading, time
from colours import green, red, spin

def work():
    red(0.5)
    return "done"

async def task():
    for _ in range(8):
        red(0.03)
        await asyncio.sleep(0.01)
"""
EXACT = "--rate 100"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def kernel(folder: Path) -> Iterator[Kernel]:
    """A kernel with the extension and some functions, for all tests that leave it as it is."""
    with started_kernel(folder) as kernel:
        assert kernel.run("%load_ext profkit").err == ""
        assert kernel.run(DEFINITIONS).error == ""
        yield kernel
    await_samplers_end(folder)


def number_of(kernel: Kernel) -> int:
    """The number of the cell that ran last."""
    return int(kernel.run("get_ipython().execution_count - 1").value) - 1


def test_a_cell_runs_as_any_other_and_its_page_follows(kernel: Kernel) -> None:
    ran = kernel.run(f"%%profiled {EXACT}\nfirst = work()\nprint('out')\nfirst.upper()")
    assert (ran.value, ran.out, ran.err, ran.error) == ("'DONE'", "out\n", "", "")
    number = number_of(kernel)
    (page,) = ran.pages
    assert '<iframe class="profkit-page" sandbox="allow-scripts"' in page
    assert html.escape(f"In [{number}]") in page
    report = ran.report
    assert report.startswith("first = work() ")
    assert re.search(rf"<module> +In \[{number}\]:\d\n", report)
    assert re.search(rf"In \[{number}\]:2 +first = work\(\)\n", report)
    assert "run_code" not in report
    assert kernel.run("first").value == "'done'"
    assert kernel.run("_profkit.info.calls, _profkit.info.state.value").value == "(1, 'SUCCESS')"


@pytest.mark.full
def test_each_execution_is_a_run_of_one_label(kernel: Kernel, folder: Path) -> None:
    cell = f"%%profiled {EXACT}\n# A comment\nimport math\nagain = work()\n"
    kernel.run(cell)
    kernel.run(cell)
    kernel.run(cell.replace("work()", "work(); more = 1"))
    runs = [run for run in runs_in(folder) if run.info.label.startswith("again")]
    assert [run.info.label for run in runs] == ["again = work()"] * 2 + ["again = work(); more = 1"]
    assert [run.info.calls for run in runs] == [1, 1, 1]
    kernel.run("%%profiled -q\napi_token = 'secret'\nwork()")
    assert kernel.run("_profkit.info.label").value == "\"api_token = '***'\""
    assert len({run.info.session for run in runs}) == 3
    assert runs[0].info.region.code == runs[1].info.region.code != runs[2].info.region.code


@pytest.mark.full
def test_a_function_that_is_defined_again_is_shown_as_it_is(kernel: Kernel) -> None:
    kernel.run("def colour():\n    red(0.4)")
    before = kernel.run(f"%profiled {EXACT} colour()")
    kernel.run("def colour():\n    pass\n    green(0.4)")
    after = kernel.run(f"%profiled {EXACT} colour()")
    assert re.search(r"In \[\d+\]:2 +red\(0\.4\)\n", before.report)
    assert re.search(r"In \[\d+\]:3 +green\(0\.4\)\n", after.report)


@pytest.mark.full
def test_a_statement_has_a_value(kernel: Kernel) -> None:
    ran = kernel.run("value = %profiled -q work()\nvalue, %profiled -q 1 + 1")
    assert ran.error != "", "a magic within an expression is no Python"
    ran = kernel.run("value = %profiled -q work()\nvalue")
    assert (ran.value, ran.reports) == ("'done'", [])
    assert kernel.run("%profiled --label named kept = work(); kept * 2").value == "'donedone'"
    assert kernel.run("kept, _profkit.info.label").value == "('done', 'named')"


def test_await_at_top_level(kernel: Kernel) -> None:
    ran = kernel.run(f"%%profiled {EXACT}\nprint(await asyncio.gather(task(), task()))")
    assert (ran.out, ran.error) == ("[None, None]\n", "")
    report = ran.report
    assert "task" in report
    assert "red" in report
    assert "run_forever" not in report, "the frames of the kernel are left out"
    assert re.search(r"\d m?s not sampled", report) is None


@pytest.mark.full
def test_magics_and_commands_within_a_cell(kernel: Kernel) -> None:
    ran = kernel.run("%%profiled -q\n!echo from a shell\n%time 1 + 1")
    assert "from a shell" in ran.out
    assert "Wall time" in ran.out
    for cell in ("%%profiled -q\n%%time\nwork()", "%%time\n%%profiled -q\nwork()"):
        ran = kernel.run(cell)
        assert (ran.value, ran.error) == ("'done'", "")
        assert "Wall time" in ran.out
        assert kernel.run("_profkit.info.label").value == "'work()'"


@pytest.mark.full
def test_all_threads(kernel: Kernel) -> None:
    cell = (
        "thread = threading.Thread(target=green, args=(0.4,), name='painter')\nthread.start()\nthread.join()"
    )
    alone = kernel.run(f"%%profiled {EXACT}\n{cell}").report
    both = kernel.run(f"%%profiled {EXACT} --threads\n{cell}").report
    assert "painter" not in alone
    assert "painter" in both


def test_an_error_is_shown_as_usual_and_the_profile_is_kept(kernel: Kernel) -> None:
    bare = kernel.run("pass\nwork()\n1 / 0")
    ran = kernel.run("%%profiled\nwork()\n1 / 0")
    assert ran.error.count("\n") == bare.error.count("\n")
    assert "profkit" not in ran.error
    assert "1 raised" in ran.report
    line = kernel.run("%profiled 1 / 0")
    assert "/profkit/" not in line.error
    assert "ZeroDivisionError" in line.error


STEPS = "for _ in range(600):\n    await asyncio.sleep(0.1)"
"""Not one long wait: without profkit, too, an idle event loop notices an interrupt only at its end."""


@pytest.mark.full
@pytest.mark.parametrize("waiting", ["spin(60)", "time.sleep(60)", STEPS])
def test_an_interrupt_keeps_the_profile(kernel: Kernel, waiting: str) -> None:
    cell = f"%%profiled {EXACT}\nwork()\nprint('working', flush=True)\n{waiting}"
    ran = kernel.run(cell, on_output=kernel.manager.interrupt_kernel)
    assert "KeyboardInterrupt" in ran.error or "CancelledError" in ran.error
    assert "work" in ran.report
    assert kernel.run("%profiled -q work()").value == "'done'"


def test_what_was_asked_wrongly_is_one_line(kernel: Kernel) -> None:
    for cell, said in {
        "%%profiled --rat\nran = 1": "No such option '--rat'",
        "%%profiled --rate -1\nran = 1": "rate=-1.0",
        "%%profiled --mode timer\nran = 1": "'timer' is not one of 'samples', 'memory'",
        "%%profiled --mode memory --rate 9\nran = 1": "rate cannot be combined with --mode memory",
        "%%profiled --python-allocators\nran = 1": "add --mode memory",
        "%%profiled ran = 1\nran = 1": "put 'ran = 1' on the next line",
        "%%profiled -o nowhere/x.html\nran = 1": "there is no folder nowhere",
        "%%profiled -o -\nran = 1": "-o needs a file",
        "%%profiled --label 'open\nran = 1": "No closing quotation",
        "%%profiled\n": "there is nothing to run",
        "%profiled": "there is nothing to run",
        "%profiled -x": "put -- before a statement",
        "%profiled await task()": "needs a cell",
        "%profiled 1 +": "1 + is not valid Python: invalid syntax",
        "%measure": "there is nothing to measure",
        "%%measure\n!ls": "!commands",
        "%measure nowhere()": "NameError",
        "%measure 1 +": "not valid Python",
    }.items():
        ran = kernel.run(cell)
        assert ran.err.startswith("UsageError: "), (cell, ran)
        assert said in ran.err
        assert ran.error == ""
    assert "NameError" in kernel.run("ran").error
    assert kernel.run("%profiled -q -- -1").value == "-1"


@pytest.mark.parametrize("code", ["%%profiled --mode memory\n{}", "%profiled --mode memory {}"])
def test_memory_of_a_cell_or_statement(kernel: Kernel, code: str) -> None:
    ran = kernel.run(code.format("kept = [bytes(1000) for _ in range(5000)]"))
    assert (ran.err, ran.error) == ("", "")
    assert re.search(r"\n +peak +[45]\.\d+ MiB\n", ran.report)
    assert kernel.run("4.9e6 < _profkit.info.memory.peaks_bytes[0] < 6e6").value == "True"
    assert kernel.run("del kept").error == ""


@pytest.mark.full
def test_files(kernel: Kernel, folder: Path) -> None:
    ran = kernel.run("%%profiled -q -o cell.html\nwork()")
    assert (ran.reports, ran.err) == ([], "")
    assert "<!doctype html>" in (folder / "cell.html").read_text("utf-8")
    ran = kernel.run("%profiled -q -o line.json work()")
    assert json.loads((folder / "line.json").read_text("utf-8"))["run"]["label"] == "work()"


@pytest.mark.full
def test_help_lists_the_options_of_the_command_line(kernel: Kernel) -> None:
    shown = kernel.run("print(get_ipython().find_line_magic('profiled').__doc__)").out
    assert "%%profiled [OPTIONS]" in shown
    assert {"--rate", "--threads", "--native", "--label", "--output", "--quiet"} <= set(shown.split())


@pytest.mark.full
def test_runs_show_themselves(kernel: Kernel) -> None:
    kernel.run(
        "from profkit import profile, profiled\n@profile\ndef decorated():\n    return work()\ndecorated()"
    )
    for value in ("decorated.last_run", "_profkit"):
        (page,) = kernel.run(value).pages
        assert "profkit-page" in page
    kernel.run("with profiled('block', rate=100) as block:\n    work()")
    ran = kernel.run("block")
    assert "profkit-page" in ran.pages[0]
    (path,) = re.findall(r"In \[\d+\]:\d", kernel.run("print(block.report())").out)[:1]
    assert path


@pytest.mark.full
def test_a_silent_cell_runs_without_a_report(kernel: Kernel) -> None:
    assert kernel.run("%%profiled\nsilently = 1", silent=True).reports == []
    assert kernel.run("silently").value == "1"


def test_measuring_uses_copies_of_the_notebooks_names(kernel: Kernel) -> None:
    kernel.run("class Scale:\n    by = 3\nscale, items = Scale(), [3, 1, 2] * 20\n"
               "def scaled(n):\n    return [k * scale.by for k in range(n)]")  # fmt: skip
    ran = kernel.run("%measure --quick --label scaled scaled(50)")
    assert (ran.err, ran.error) == ("", "")
    assert "median" in ran.report
    assert "statement  scaled(50)" in ran.report
    assert len(ran.pages) == 1
    assert kernel.run("_profkit.info.label").value == "'scaled'"
    ran = kernel.run("%%measure --quick --setup 'import math'\nroot = math.sqrt(scale.by)\nitems.sort()")
    assert "median" in ran.report
    assert kernel.run("items[:3], 'root' in globals()").value == "([3, 1, 2], False)"


@pytest.mark.full
def test_what_cannot_be_copied_is_timed_in_the_kernel(kernel: Kernel) -> None:
    kernel.run("lock = threading.Lock(); file = open('/dev/null')")
    ran = kernel.run("%measure file.fileno()")
    assert ran.err.startswith("profkit: note: timed in this process, because file (TextIOWrapper) cannot be")
    assert "not isolated" in ran.report
    ran = kernel.run("%measure --mode callgrind file.fileno()")
    assert ran.err.startswith("UsageError: file (TextIOWrapper) cannot be copied to another process: ")


@pytest.mark.full
@pytest.mark.valgrind
def test_instructions_by_function(kernel: Kernel) -> None:
    kernel.run("def counted(n):\n    return sum(range(n))")
    report = kernel.run("%measure --quick --mode callgrind counted(100)").report
    assert "Instructions  per execution" in report


@pytest.mark.full
def test_what_the_command_line_shows_later(kernel: Kernel, folder: Path) -> None:
    kernel.run("%profiled --label 'shown later' work()")
    shown = profkit(folder, "report", "shown later").stdout
    assert re.search(r"<module> +In \[\d+\]:1\n", shown)


CELL = re.compile(r"^```ipython\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["notebooks.md", "guides/notebook.md"])
def test_the_pages_on_notebooks(page: str, tmp_path: Path) -> None:
    cells = CELL.findall((ROOT / "docs" / page).read_text("utf-8"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with started_kernel(tmp_path, PATH=path) as kernel:
        for cell in cells:
            ran = kernel.run(cell)
            assert ran.error == "", cell
            assert ran.err == "" or (" -o " in cell and "\nwrote " in ran.err), cell
            quiet = "--quiet" in cell or not cell.startswith(
                ("%%profiled", "%profiled", "%%measure", "%measure")
            )
            assert len(ran.reports) == (not quiet), cell
            assert "No such" not in ran.out
    assert (tmp_path / "parsing.html").exists() == (page == "notebooks.md")


@pytest.mark.full
def test_the_terminal(tmp_path: Path) -> None:
    code = "%load_ext profkit\nfrom colours import red\n%profiled red(0.3)\n%measure --quick 1 + 1\n"
    (tmp_path / "session.ipy").write_text(code, "utf-8")
    variables = environ(IPYTHONDIR=str(tmp_path / "ipython"), COLUMNS="100")
    done = run_program(tmp_path, ["-m", "IPython", "--no-banner", "session.ipy"], environ=variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Hottest functions" in done.stdout
    assert "median" in done.stdout
    assert "iframe" not in done.stdout
    line = "get_ipython().run_line_magic('load_ext', 'profkit')"
    done = run_program(tmp_path, ["-m", "IPython", "-c", f"{line}\n%profiled 1 / 0"], environ=variables)
    assert "ZeroDivisionError" in done.stderr + done.stdout
    assert "/profkit/" not in done.stderr + done.stdout


@pytest.mark.full
def test_without_the_extension(tmp_path: Path) -> None:
    with started_kernel(tmp_path) as kernel:
        kernel.run("%load_ext profkit")
        kernel.run("%unload_ext profkit")
        assert "not found" in kernel.run("%%profiled\n1").err
        assert "not found" in kernel.run("%measure 1").err
        assert kernel.run("get_ipython().input_transformers_cleanup[4:]").value == "[]"
        kernel.run("%load_ext profkit")
        assert kernel.run("%profiled -q 1 + 1").value == "2"


@pytest.mark.full
def test_disabled(tmp_path: Path) -> None:
    with started_kernel(tmp_path, PROFKIT_DISABLE="1") as kernel:
        kernel.run("%load_ext profkit")
        ran = kernel.run("%%profiled\n1 + 1")
        assert (ran.value, ran.reports) == ("2", [])
        assert ran.err == "profkit: note: '1 + 1' is not profiled: PROFKIT_DISABLE is set\n"


def test_a_restart_leaves_nothing_running(tmp_path: Path) -> None:
    with started_kernel(tmp_path) as kernel:
        kernel.run("%load_ext profkit")
        kernel.run("%measure --quick 1 + 1")
        kernel.start("%%profiled --rate 100\nimport time\nprint('working', flush=True)\ntime.sleep(60)")
        before = processes_of(tmp_path)
        assert len(before) > 1
        kernel.restart()
        gone, left = psutil.wait_procs(before, timeout=30)
        assert (len(gone), left) == (len(before), [])
        assert kernel.run("1 + 1").value == "2"
    await_samplers_end(tmp_path)


def processes_of(folder: Path) -> list[psutil.Process]:
    """All processes that have a kernel's environment, its sampler and workers included."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("JUPYTER_RUNTIME_DIR", "").startswith(str(folder)):
                found.append(process)
    return found
