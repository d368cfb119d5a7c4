from __future__ import annotations

import gc
import subprocess
import sys
import threading
from types import FrameType

import pytest

from profkit.process.background import current_frames


def test_the_frame_of_each_thread() -> None:
    frames = current_frames()
    assert frames[threading.get_ident()].f_back is sys._getframe()


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_meanwhile_where_that_could_hang(
    enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, states = sys._current_frames, []

    def frames() -> dict[int, FrameType]:
        states.append(gc.isenabled())
        return real()

    monkeypatch.setattr(sys, "_current_frames", frames)
    was_enabled = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        current_frames()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
    assert states == [enabled and sys.version_info >= (3, 11, 9)]


LIMITED = """
import resource
from profkit.process.background import BackgroundThread
def outcome():
    try:
        BackgroundThread(int).start()
    except RuntimeError as error:
        return "since it could not be ended" in str(error)
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
limited = outcome()
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
print(limited, outcome())
"""


def test_no_thread_is_started_that_would_abort_the_process_when_it_ends() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True)
    needs_library = sys.version_info < (3, 14)
    assert done.stdout.split() == [str(True if needs_library else None), "None"]


LITTLE_MEMORY = """
import resource
from profkit.process import background
background._load_unwinder()
limits = resource.getrlimit(resource.RLIMIT_AS)
stack = resource.getrlimit(resource.RLIMIT_STACK)[0]
for kib in range(-64, 513, 4):
    thread = background.BackgroundThread(int)
    size = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (size + stack + 1024 * kib, limits[1]))
    try:
        thread.start()
    except RuntimeError:
        outcome = "not started"
    else:
        outcome = "ended" if thread.await_end(60) else "not ended"
    resource.setrlimit(resource.RLIMIT_AS, limits)
    print(outcome)
"""


def test_a_thread_that_starts_has_memory_for_its_first_frame() -> None:
    argv = ["sh", "-c", 'ulimit -s 8192 && exec "$@"', "sh", sys.executable, "-c", LITTLE_MEMORY]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert (set(done.stdout.splitlines()), done.stderr) == ({"not started", "ended"}, "")


def test_a_thread_without_memory_for_its_first_frame_is_not_alive() -> None:
    unreserved = LITTLE_MEMORY.replace("\nlimits", "\nbackground._reserve_memory = int\nlimits", 1)
    done = subprocess.run([sys.executable, "-c", unreserved], capture_output=True, text=True, check=True)
    assert "not ended" not in done.stdout
