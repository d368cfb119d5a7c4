"""Waits for the GIL, by the address of the futex."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.samplers.helper import proc_files
from profkit.samplers.helper.proc_files import Gil, system_call
from tests.unit.samplers.helper.made_processes import MAPS, VARIABLES, MadeProcess, futex


@pytest.mark.parametrize(
    ("maps", "is_awaited"),
    [
        (MAPS, True),
        (MAPS.replace("python3.11", "libpython3.11.so.1.0"), True),
        (MAPS.replace("python3.11", "uwsgi"), False),
        (MAPS[: MAPS.index("00008000")], True),
        (MAPS[: MAPS.index("00005000-") + 5], False),
        ("", False),
    ],
    ids=["program", "library", "another program", "no heap", "cut", "unreadable"],
)
def test_the_gil_is_a_variable_of_the_interpreter(
    maps: str, is_awaited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proc_files, "PROC", str(tmp_path))
    made = MadeProcess(tmp_path)
    (made.folder / "maps").write_text(maps)
    made.thread(1, "S", futex(VARIABLES + 8))
    assert Gil(made.pid).is_awaited(system_call(f"{tmp_path}/{made.pid}/task/1")) is is_awaited


@pytest.mark.parametrize("call", ["running", "-1 0x7f00 0x1", f"0 {VARIABLES:#x} 0x1", ""])
def test_other_calls_do_not_wait_for_it(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proc_files, "PROC", str(tmp_path))
    assert not Gil(MadeProcess(tmp_path).pid).is_awaited([word.encode() for word in call.split()])
