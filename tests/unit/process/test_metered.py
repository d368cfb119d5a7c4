"""Programs that are run and measured one after the other: real ones."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from profkit.process.foreground import CommandNotStarted
from profkit.process.metered import Files, Meter, metering

MIB = 1 << 20


@pytest.fixture(scope="module")
def meter() -> Iterator[Meter]:
    with metering() as started:
        yield started


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def inherited() -> set[int]:
    """Return the descriptors that programs inherit from this process."""
    numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    return {0, 1, 2} | {n for n in numbers if os.path.exists(f"/dev/fd/{n}") and os.get_inheritable(n)}


def test_the_times_are_those_of_the_program_and_its_children(meter: Meter) -> None:
    burn = "import time\nwhile time.process_time() < 0.1: pass"
    code = f"import os\nif os.fork():\n    os.wait()\nelse:\n    {burn.replace(chr(10), chr(10) + '    ')}\n"
    found = meter.run(python(code), os.environ, Files())
    assert found.exit_code == 0
    assert found.user_s + found.system_s >= 0.09
    assert found.wall_s >= 0.09


def test_the_peak_memory_is_that_of_the_program_alone(meter: Meter) -> None:
    ballast = bytearray(64 * MIB)  # of this process, which is larger than the program
    small = meter.run(python("pass"), os.environ, Files())
    large = meter.run(python(f"bytearray({32 * MIB})"), os.environ, Files())
    assert small.peak_bytes < 32 * MIB < len(ballast)
    assert 31 * MIB < large.peak_bytes - small.peak_bytes < 36 * MIB


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 11)", -signal.SIGSEGV)],
)
def test_the_exit_code_is_returned(meter: Meter, code: str, exit_code: int) -> None:
    assert meter.run(python(code), os.environ, Files()).exit_code == exit_code


def test_a_program_gets_its_environment_signals_and_files(meter: Meter, tmp_path: Path) -> None:
    seen = (
        "import os, signal, sys; assert sys.stdin.read() == 'in'; assert os.environ['A'] == '1';"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler;"
        f"assert {inherited()} == {{*map(int, os.listdir('/proc/self/fd'))}} - {{3}};"
        "assert signal.pthread_sigmask(0, []) == set()"
    )
    (tmp_path / "in.txt").write_text("in")
    files = Files(stdin=str(tmp_path / "in.txt"), stderr=2)
    for _ in range(2):  # each reads the file from its beginning
        assert meter.run(python(seen), {**os.environ, "A": "1"}, files).exit_code == 0


def test_a_program_that_does_not_exist_is_an_error_and_the_next_one_runs(meter: Meter) -> None:
    with pytest.raises(CommandNotStarted, match="No such file"):
        meter.run(["/no/such/program"], {}, Files())
    assert meter.run(python("pass"), os.environ, Files()).exit_code == 0


def runs(process: psutil.Process, code: str) -> bool:
    try:
        return code in process.cmdline()
    except psutil.NoSuchProcess:  # also if its parent has not read its exit code yet
        return False


def test_a_program_that_takes_too_long_is_ended_with_its_children() -> None:
    code = "import os, time; os.fork(); time.sleep(1000)"
    with metering() as started:
        with pytest.raises(TimeoutError):
            started.run(python(code), os.environ, Files(), timeout_s=0.3)
        assert not [one for one in psutil.Process().children(recursive=True) if runs(one, code)]


def test_closing_leaves_no_process() -> None:
    before = set(psutil.Process().children())
    with metering() as started:
        started.run(python("pass"), os.environ, Files())
        assert set(psutil.Process().children()) - before
    assert set(psutil.Process().children()) - before == set()
