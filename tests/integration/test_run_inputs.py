"""Scripts that can be read once, and closed standard streams, under `profkit run`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.integration.harness import environment, listed

pytestmark = pytest.mark.sampler

SCRIPT = "print(6 * 7)\nraise SystemExit(3)\n"
CLOSE = (
    "import os, sys\nos.close(int(sys.argv[1]))\nos.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
)


def run(
    folder: Path, *arguments: str, stdin: int | None = None, pass_fds: Sequence[int] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment(), stdin=stdin, pass_fds=pass_fds,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def pipe_with(text: str) -> int:
    """The read end of a pipe with a text."""
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    return read


def test_a_script_from_a_pipe_of_the_shell(tmp_path: Path) -> None:
    """As of `profkit run <(command)`."""
    read = pipe_with(SCRIPT)
    done = run(tmp_path, "-m", "profkit", "run", "-q", f"/dev/fd/{read}", pass_fds=[read])
    os.close(read)
    assert (done.stdout, done.returncode, done.stderr) == ("42\n", 3, "")


def test_a_script_from_stdin_by_its_name(tmp_path: Path) -> None:
    read = pipe_with(SCRIPT)
    done = run(tmp_path, "-m", "profkit", "run", "-q", "/dev/stdin", stdin=read)
    os.close(read)
    assert (done.stdout, done.returncode, done.stderr) == ("42\n", 3, "")


def test_a_script_from_a_named_pipe(tmp_path: Path) -> None:
    """Opening it for its digest would end its writer."""
    os.mkfifo(tmp_path / "script.py")
    writer = threading.Thread(target=(tmp_path / "script.py").write_text, args=[SCRIPT])
    writer.start()
    done = run(tmp_path, "-m", "profkit", "run", "-q", "script.py")
    writer.join()
    assert (done.stdout, done.returncode, done.stderr) == ("42\n", 3, "")


def test_a_script_that_can_be_read_once_is_not_executed_repeatedly(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "script.py")
    done = run(tmp_path, "-m", "profkit", "run", "--mode", "timer", "script.py")
    assert done.returncode == 2
    assert "script.py can be read only once" in done.stderr


@pytest.mark.parametrize("mode", ["timer", "callgrind"])
def test_a_script_on_stdin_is_executed_repeatedly_if_it_is_copied(tmp_path: Path, mode: str) -> None:
    """Without a copy, an empty program was measured."""
    script = "import sys\nopen('executed', 'a').write(sys.stdin.read() or '.')\n"
    options = ["-m", "profkit", "run", "-q", "--mode", mode]
    if mode == "timer":
        options += ["--runs", "3", "--warmups", "0"]
    read = pipe_with(script)
    done = run(tmp_path, *options, "-", stdin=read)
    os.close(read)
    assert done.returncode == 2
    assert f"stdin can be read only once, and --mode {mode} executes the program repeatedly" in done.stderr
    assert "add --input -" in done.stderr
    assert not (tmp_path / "executed").exists()
    read = pipe_with(script)
    done = run(tmp_path, *options, "--input", "-", "-", stdin=read)
    os.close(read)
    assert done.returncode == 0, done.stderr
    assert set((tmp_path / "executed").read_text()) == {"."}


@pytest.mark.parametrize("closed", [0, 1, 2])
@pytest.mark.parametrize("options", [[], ["-q"], ["-o", "report.txt"]], ids=["stderr", "quiet", "file"])
def test_closed_streams_change_nothing(tmp_path: Path, closed: int, options: list[str]) -> None:
    (tmp_path / "script.py").write_text("import os, sys\nprint(6 * 7) if sys.stdout else 0\nsys.exit(3)\n")
    plain = run(tmp_path, "-c", CLOSE, str(closed), "script.py")
    done = run(tmp_path, "-c", CLOSE, str(closed), "-m", "profkit", "run", *options, "script.py")
    assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode) == ("42\n" * (closed != 1), 3)
    assert [one["label"] for one in listed(tmp_path)] == ["script.py"]


def test_programs_see_the_streams_that_are_closed(tmp_path: Path) -> None:
    code = "import os\nprint(*(n for n in range(3) if not os.path.lexists(f'/proc/self/fd/{n}')))\n"
    (tmp_path / "script.py").write_text(code)
    done = run(tmp_path, "-c", CLOSE, "2", "-m", "profkit", "run", "-q", "script.py")
    assert (done.stdout, done.returncode) == ("2\n", 0)


def test_what_goes_wrong_after_the_program_does_not_change_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import shutil, sys\nfrom pathlib import Path\n"
        "Path('.profkit/runs.db').write_bytes(b'no database' * 1000)\nsys.exit(3)\n"
    )
    done = run(tmp_path, "-m", "profkit", "run", "script.py")
    assert done.returncode == 3
    assert "profkit: error: " in done.stderr


def test_memory_without_memray_fails_before_the_program_starts(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('started')\n")
    hide = "import sys\nsys.modules['memray'] = None\nfrom profkit.cli.main import main\nsys.exit(main())\n"
    done = run(tmp_path, "-c", hide, "run", "--mode", "memory", "script.py")
    assert (done.stdout, done.returncode) == ("", 3)
    assert "needs memray" in done.stderr
