"""Unpatched functions, also in programs that replaced them before profkit was imported."""

from __future__ import annotations

import _thread
import subprocess
import sys
import time
from pathlib import Path

import pytest

from profkit.originals import REAL, unpatched

PRINT_REAL = """
from profkit.originals import REAL
print(*sorted({type(getattr(REAL, name)).__name__ for name in REAL.__slots__}), REAL.time_ns() > 1.7e18)
"""
PATCHES = {
    "nothing": "",
    "gevent": "from gevent import monkey; monkey.patch_all()",
    "eventlet": "import eventlet; eventlet.monkey_patch()",
    "freezegun": "import freezegun; freezegun.freeze_time('2001-01-01').start()",
}


@pytest.mark.parametrize("patch", PATCHES)
def test_functions_are_those_of_c_whoever_patched_them(patch: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PATCHES[patch] + PRINT_REAL)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", program], capture_output=True, text=True, timeout=60
    )
    assert ended.stdout == "builtin_function_or_method type True\n", ended.stderr


def test_a_module_that_nobody_patched_is_taken_as_it_is() -> None:
    assert unpatched(time, ("sleep",)) is time
    assert REAL.rlock is _thread.RLock


def test_a_second_instance_leaves_the_patched_module_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def asleep(_seconds: float) -> None: ...

    monkeypatch.setattr(time, "sleep", asleep)
    fresh = unpatched(time, ("sleep",))
    assert fresh is not time
    assert fresh.sleep is not asleep
    assert sys.modules["time"] is time
    assert time.sleep is asleep
