"""`profkit top`: the screen on a real process, in a real terminal, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from textual.pilot import Pilot

from profkit.cli.commands.top import showing_of
from profkit.cli.top.app import Actions, TopApp
from profkit.cli.top.flame import FlameView
from profkit.cli.top.functions import FunctionTable
from profkit.cli.top.status import KEYS
from profkit.live.samples import Batch, LiveSamples
from profkit.live.source import LiveSource, State
from profkit.model.run import Run
from profkit.program.target import find_target
from profkit.render.options import Activity
from profkit.samplers.options import SamplerOptions
from tests.integration.harness import HELPER, environment
from tests.integration.targets import running_target
from tests.integration.terminal import ALTERNATE, Terminal
from tests.support.waiting import LIMIT_S, until

pytestmark = pytest.mark.sampler

PROGRAM = """
import threading, time
def crunch(number):
    return sum(one * one for one in range(number))
def busy():
    while True:
        crunch(2000)
def sleepy():
    while True:
        time.sleep(3600)
threading.Thread(target=sleepy, name="sleepy one", daemon=True).start()
print("ready", flush=True)
busy()
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with running_target(PROGRAM, tmp_path / "app.py") as started:
        yield started


@pytest.fixture
def source(tmp_path: Path, program: subprocess.Popen[str]) -> Iterator[LiveSource]:
    """The program, being sampled."""
    folder = tmp_path / "samples"
    folder.mkdir()
    found = LiveSource(find_target(program.pid), SamplerOptions(rate_hz=50), folder, lambda text: None)
    found.begin()
    found.start_thread()
    try:
        yield found
    finally:
        found.close()
    await_no_samplers(program.pid)
    assert list(folder.iterdir()) == []


def samplers_of(pid: int) -> list[int]:
    """Processes that sample another one."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        by_helper = f"--pid={pid}" in words and any(word.endswith(HELPER) for word in words)
        by_py_spy = "record" in words and str(pid) in words
        if by_helper or by_py_spy:
            found.append(process.pid)
    return found


def await_no_samplers(pid: int) -> None:
    """Wait until none is left; a watchdog ends just after its sampler."""
    until(lambda: not samplers_of(pid), lambda: f"samplers are left: {samplers_of(pid)}")


def is_free(process: subprocess.Popen[str]) -> bool:
    """Whether a process runs, and is neither stopped nor traced."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return "TracerPid:\t0" in status and re.search(r"^State:\s+[RSD]", status, re.MULTILINE) is not None


def await_batches(source: LiveSource, enough: Callable[[list[Batch]], bool]) -> list[Batch]:
    found: list[Batch] = []

    def take() -> bool:
        found.extend(source.take())
        return enough(found)

    until(take, lambda: source.status)
    return found


def app_of(source: LiveSource, keep: Callable[[Run], None] = lambda run: None) -> TopApp:
    return TopApp(source, showing_of(source, Activity.ALL), Actions(keep, lambda: False))


async def await_true(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, text_of(pilot.app)
        await pilot.pause(0.05)


def text_of(app: object) -> str:
    """The text on the screen."""
    assert isinstance(app, TopApp)
    lines = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in lines)


def on_screen(
    source: LiveSource, steps: Callable[[Pilot[None], TopApp], Awaitable[None]],
    size: tuple[int, int] = (100, 30), keep: Callable[[Run], None] = lambda run: None,
) -> None:  # fmt: skip
    async def run() -> None:
        app = app_of(source, keep)
        async with app.run_test(size=size) as pilot:
            await await_true(pilot, lambda: app.showing.samples.overall.samples > 0)
            await steps(pilot, app)

    asyncio.run(run())


@pytest.mark.full
def test_views_of_a_process(source: LiveSource) -> None:
    kept: list[Run] = []

    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        await await_true(pilot, lambda: "busy" in text_of(app))
        shown = text_of(app)
        await await_true(pilot, lambda: f"app.py · pid {source.target.process.pid}" in text_of(app))
        await await_true(pilot, lambda: "crunch" in text_of(app))
        assert re.search(r"(py-spy|cpython).* Hz · [\d,]+ samples? · \d+ errors?", shown)
        await pilot.press("2")
        await await_true(pilot, lambda: "total 100 %" in text_of(app))
        await pilot.press("down", "down", "enter")
        await await_true(pilot, lambda: "zoomed" in text_of(app))
        await pilot.press("backspace", "backspace")
        await await_true(pilot, lambda: "zoomed" not in text_of(app))
        await pilot.press("3")
        await await_true(pilot, lambda: "all 2 threads" in text_of(app))
        await pilot.press("down", "enter")
        await await_true(pilot, lambda: re.search(r"thread\s+(MainThread|python)", text_of(app)) is not None)
        assert app.showing.chosen.thread is not None
        await pilot.press("a", "k")
        await await_true(pilot, lambda: len(app.kept) == 1)
        await pilot.press("q")

    on_screen(source, steps, keep=kept.append)
    assert kept[0].info.samples > 0
    assert kept[0].info.label == "app.py"


@pytest.mark.full
def test_selections(source: LiveSource) -> None:
    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        table = app.query_one(FunctionTable)
        await await_true(pilot, lambda: {"sleepy", "crunch"} <= set(re.findall(r"\w+", text_of(app))))
        await pilot.press("w")
        assert app.showing.chosen.activity is Activity.WORKING
        await await_true(pilot, lambda: "sleepy" not in text_of(app))
        await pilot.press("w")
        await await_true(pilot, lambda: "sleepy" in text_of(app))
        await await_true(pilot, lambda: "crunch" not in text_of(app))
        await pilot.press("w", "slash", *"sleep", "enter")
        await await_true(pilot, lambda: "'sleep'" in text_of(app))
        assert table.found == 1
        await pilot.press("escape")
        assert table.found > 1
        for key, order in zip("stSTn", ("RECENT_SELF", "RECENT_TOTAL", "SELF", "TOTAL", "NAME"), strict=True):
            await pilot.press(key)
            assert app.showing.order.name == order
            await await_true(pilot, lambda: "▼" in text_of(app))
        await pilot.press("minus")
        await await_true(pilot, lambda: "last 2 s" in text_of(app))
        await pilot.press("plus", "plus", "o", "2")
        assert app.showing.window_s == 10
        await await_true(pilot, lambda: "since the start" in text_of(app))

    on_screen(source, steps)


@pytest.mark.full
def test_source_lines(source: LiveSource) -> None:
    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        await await_true(pilot, lambda: "crunch" in text_of(app))
        await pilot.press("slash", *"sleepy", "enter", "enter")
        await await_true(pilot, lambda: "time.sleep(3600)" in text_of(app))
        line = next(line for line in text_of(app).splitlines() if "time.sleep(3600)" in line)
        assert re.match(r"\s+\d[\d.]* +\d[\d.]* +10 ", line)

    on_screen(source, steps)


@pytest.mark.full
def test_pause_continue_and_reset(source: LiveSource, program: subprocess.Popen[str]) -> None:
    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        await pilot.press("p")
        await await_true(pilot, lambda: source.status.state is State.PAUSED)
        await await_true(pilot, lambda: "paused" in text_of(app))
        await_no_samplers(program.pid)
        samples = app.showing.samples.overall.samples
        await pilot.pause(1)
        assert app.showing.samples.overall.samples == samples
        await pilot.press("p")
        await await_true(pilot, lambda: app.showing.samples.overall.samples > samples)
        reset_s = time.monotonic()
        await pilot.press("r")
        assert (app.showing.samples.history.began_s or reset_s) >= reset_s
        await await_true(pilot, lambda: app.showing.samples.overall.samples > 0)
        assert (app.showing.samples.history.began_s or 0) >= reset_s

    on_screen(source, steps)


@pytest.mark.full
def test_help_has_all_keys(source: LiveSource) -> None:
    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        await pilot.press("question_mark")
        shown = text_of(app)
        assert all(effect[:20] in shown for _, effect in KEYS)
        named = {key for keys, _ in KEYS for key in keys.split()}
        for binding in (*TopApp.BINDINGS, *FlameView.BINDINGS):
            assert not isinstance(binding, tuple)
            first = binding.key.split(",")[0]
            if len(first) == 1:
                assert first in named
        await pilot.pause(1)  # a refresh below the help
        await pilot.press("escape")
        await await_true(pilot, lambda: "Keys" not in text_of(app))

    on_screen(source, steps, size=(100, 40))


@pytest.mark.full
@pytest.mark.parametrize("width", [40, 60, 90])
@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light", "textual-dark", "textual-light"])
def test_widths_and_colors(source: LiveSource, width: int, theme: str) -> None:
    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        app.theme = theme
        await await_true(pilot, lambda: "busy" in text_of(app))
        for view in "1234":
            await pilot.press(view)
            await pilot.pause()
            assert all(len(line) <= width for line in text_of(app).splitlines())
        await pilot.press("1")
        await await_true(pilot, lambda: "self %" in text_of(app))
        assert ("total s" in text_of(app)) == (width >= 60)
        assert ("place" in text_of(app)) == (width >= 90)

    on_screen(source, steps, size=(width, 24))


@pytest.mark.full
def test_without_colors(source: LiveSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(pilot: Pilot[None], app: TopApp) -> None:
        for view in "1234":
            await pilot.press(view)
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            styles = [segment.style for strip in strips for segment in strip if segment.style is not None]
            colors = {
                color for style in styles for color in (style.color, style.bgcolor) if color is not None
            }
            assert all(color.is_default for color in colors)

    on_screen(source, steps)


def test_the_screen_in_a_terminal(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    with Terminal([sys.executable, "-m", "profkit", "top", str(program.pid)], tmp_path) as terminal:
        terminal.read_until("busy")
        assert samplers_of(program.pid)
        terminal.write("q")
        assert terminal.wait() == 0
        assert terminal.is_restored()
        assert ALTERNATE.ended in terminal.output
    await_no_samplers(program.pid)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert is_free(program)
    assert not (tmp_path / ".profkit").exists()


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it(tmp_path: Path, program: subprocess.Popen[str], number: signal.Signals) -> None:
    with Terminal([sys.executable, "-m", "profkit", "top", str(program.pid)], tmp_path) as terminal:
        terminal.read_until("busy")
        terminal.send(number)
        assert terminal.wait() == (0 if number == signal.SIGINT else -number)
        assert terminal.is_restored()
        assert ALTERNATE.ended in terminal.output
    await_no_samplers(program.pid)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert is_free(program)


@pytest.mark.full
def test_ctrl_c_and_ctrl_z(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    with Terminal([sys.executable, "-m", "profkit", "top", str(program.pid)], tmp_path) as terminal:
        terminal.read_until("busy")
        terminal.write("\x1a")
        terminal.await_state("T")
        assert terminal.is_restored()
        assert is_free(program)
        terminal.send(signal.SIGCONT)
        terminal.output = ""
        terminal.read_until("busy")
        terminal.send(signal.SIGSTOP)
        terminal.await_state("T")
        terminal.send(signal.SIGCONT)
        terminal.output = ""
        terminal.read_until("samples")
        terminal.write("\x03")
        assert terminal.wait() == 0
        assert terminal.is_restored()
    await_no_samplers(program.pid)


@pytest.mark.full
def test_a_terminal_that_is_closed(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    for _ in range(3):
        with Terminal([sys.executable, "-m", "profkit", "top", str(program.pid)], tmp_path) as terminal:
            terminal.read_until("busy")
            terminal.close()
            assert terminal.wait() in (129, -signal.SIGHUP)
        await_no_samplers(program.pid)
        assert list((tmp_path / "tmp").iterdir()) == []
        assert is_free(program)


@pytest.mark.full
def test_samplers_of_a_killed_screen_end_by_themselves(
    tmp_path: Path, program: subprocess.Popen[str]
) -> None:
    with Terminal([sys.executable, "-m", "profkit", "top", str(program.pid)], tmp_path) as terminal:
        terminal.read_until("busy")
        terminal.send(signal.SIGKILL)
        terminal.wait()
    await_no_samplers(program.pid)
    assert is_free(program)


@pytest.mark.full
def test_the_processs_end_and_a_run_of_it(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    command = [sys.executable, "-m", "profkit", "top", str(program.pid), "--label", "mine"]
    with Terminal(command, tmp_path) as terminal:
        terminal.read_until("busy")
        program.kill()
        terminal.read_until("the process has ended")
        terminal.write("k")
        terminal.read_until("Kept")
        terminal.write("q")
        assert terminal.wait() == 0
    await_no_samplers(program.pid)
    kept = re.search(r"profkit: note: kept run (\w+);", terminal.output)
    assert kept is not None
    done = subprocess.run(
        [sys.executable, "-m", "profkit", "report", kept[1], "--json"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["run"]["label"] == "mine"
    assert report["run"]["samples"] > 0
    assert {"busy", "sleepy"} <= {row["name"] for row in report["functions"]}


def refused(folder: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    with Terminal([sys.executable, "-m", "profkit", "top", *arguments], folder, **variables) as terminal:
        code = terminal.wait()
    assert ALTERNATE.began not in terminal.output
    assert len(terminal.output.splitlines()) == 1
    return code, terminal.output


def test_without_textual(tmp_path: Path) -> None:
    (tmp_path / "textual.py").write_text("raise ImportError(\"No module named 'textual'\")\n")
    path = f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}"
    code, said = refused(tmp_path, "1", PYTHONPATH=path)
    assert code == 2
    assert "pip install 'profkit[tui]'" in said


def test_without_a_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "profkit", "top", "1"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "profkit dump PID" in done.stderr
    assert "profkit attach PID" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.full
def test_processes_that_cannot_be_sampled(tmp_path: Path, program: subprocess.Popen[str]) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        code, said = refused(tmp_path, str(other.pid))
        assert (code, f"process {other.pid} (sleep) runs no Python" in said) == (2, True)
        other.kill()
    assert "there is no process" in refused(tmp_path, str(2**22 - 1))[1]
    assert "cannot sample another process" in refused(tmp_path, str(program.pid), "--sampler", "inprocess")[1]
    assert "rate" in refused(tmp_path, str(program.pid), "--rate", "-3")[1]
    assert "TERM is dumb" in refused(tmp_path, str(program.pid), TERM="dumb")[1]
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.full
def test_all_time_is_sampled(source: LiveSource) -> None:
    began_s = time.monotonic()
    batches = await_batches(source, lambda found: sum(one.ended_s - one.began_s for one in found) > 8)
    live = LiveSamples()
    for batch in batches:
        live.add(batch)
    assert all(later.began_s <= earlier.ended_s for earlier, later in pairwise(batches))
    assert live.overall.sampled_s >= 8
    assert batches[0].began_s <= began_s + LIMIT_S
    assert live.overall.errors <= 0.2 * live.overall.rounds
    assert live.overall.achieved_hz is not None


@pytest.mark.full
def test_a_killed_sampler_is_replaced(source: LiveSource, program: subprocess.Popen[str]) -> None:
    await_batches(source, bool)
    for pid in samplers_of(program.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    source.take()
    await_batches(source, lambda found: len(found) > 2)
    assert source.status.state is State.SAMPLING


@pytest.mark.full
def test_the_processs_end(source: LiveSource, program: subprocess.Popen[str]) -> None:
    await_batches(source, bool)
    program.kill()
    program.wait()
    until(lambda: source.status.state is not State.SAMPLING)
    assert source.status.state is State.ENDED
    await_no_samplers(program.pid)
