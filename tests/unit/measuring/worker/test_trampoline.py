from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from profkit.measuring.worker.trampoline import stubs_in

MAP = """\
7f00a0 b py::work:/home/u/app.py
7f00b0 b py::Model.fit.<locals>.<lambda>:/home/u/a: b.py
7f00c0 b native code
nonsense
7f00d0 b py::<module>:<made here>
"""
PROGRAM = """
import gc, json, os, sys
from profkit.measuring.worker import trampoline

def outer():
    def inner():
        return 1
    return inner()

gc.freeze()
descriptor = trampoline.activate()
path = f"/tmp/perf-{os.getpid()}.map"
left = [os.path.exists(path)]
outer()
pid = os.fork()
if pid == 0:
    outer()
    os._exit(os.path.exists(f"/tmp/perf-{os.getpid()}.map"))
left.append(os.waitpid(pid, 0)[1] != 0)
print(json.dumps([left, [stub[1:] for stub in trampoline.stubs_in(descriptor)]]))
"""


def test_a_map(tmp_path: Path) -> None:
    path = tmp_path / "map"
    path.write_text(MAP)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert stubs_in(descriptor) == [
            (0x7F00A0, "work", "/home/u/app.py", 0),
            (0x7F00B0, "Model.fit.<locals>.<lambda>", "/home/u/a: b.py", 0),
            (0x7F00D0, "<module>", "<made here>", 0),
        ]
    finally:
        os.close(descriptor)


def test_functions_are_named_and_no_file_is_left() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    if sys.version_info < (3, 12):
        assert "has no perf trampoline; 3.12 and later have one" in done.stderr
        return
    assert done.stderr == ""
    left, stubs = json.loads(done.stdout)
    assert left == [False, False]
    assert ["outer", "<string>", 5] in stubs
    assert ["outer.<locals>.inner", "<string>", 6] in stubs
