"""numba, Cython and callables of C: calls and times always, samples, and advice that is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import run_program
from tests.neighbours.harness import Seen, assert_same, both, environ, program, runs_in, seen


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with the Cython modules, compiled."""
    folder = tmp_path_factory.mktemp("compiled")
    built = run_program(folder, program("compiled.py", "build"), environ=environ(PROFKIT_DISABLE="1"))
    assert built.returncode == 0, built.stdout + built.stderr
    return str(folder)


def ran(tmp_path: Path, scene: str, modules: str = "") -> tuple[Path, dict[str, Seen]]:
    pair = both(tmp_path, program("compiled.py", scene), COMPILED=modules)
    assert_same(pair)
    return pair.folder, seen(pair.folder)


def check_busy(entry: Seen, calls: int) -> None:
    """All calls with their time; their samples count, though no Python frame stands under the marker."""
    assert entry.calls == calls
    assert entry.wall_s > 0
    assert entry.torn == 0, entry
    assert entry.samples > 0.3 * entry.wall_s * 100, entry
    assert not {"torn", "nonblocking-cost"} & set(entry.notes), entry.notes


def test_numba(tmp_path: Path) -> None:
    _, found = ran(tmp_path, "numba_functions")
    check_busy(found["decorated njit"], 20)
    check_busy(found["calls njit"], 20)
    assert (
        found["calls njit"].share("outer") > 0.9
        or found["calls njit"].share("numba_functions.<locals>.outer") > 0.9
    )
    assert found["nested njit"].calls == found["njit outside"].calls == 1


def test_numba_compiles_what_is_decorated(tmp_path: Path) -> None:
    ran(tmp_path, "numba_of_decorated")


def test_cython(tmp_path: Path, modules: str) -> None:
    _, found = ran(tmp_path, "cython_functions", modules)
    check_busy(found["total binding=True"], 20)
    check_busy(found["total binding=False"], 20)
    for label in ("items", "answer", "up", "Counter.up", "called back"):
        assert found[label].calls == 2, (label, found[label])


def test_callables_of_c(tmp_path: Path) -> None:
    _, found = ran(tmp_path, "c_callables")
    check_busy(found["sorted"], 20)
    for label in ("len", "partial", "itemgetter"):
        assert found[label].calls == 1, (label, found[label])


@pytest.mark.full
def test_native_frames_of_cython(tmp_path: Path, modules: str) -> None:
    folder, found = ran(tmp_path, "native", modules)
    check_busy(found["native"], 30)
    (run,) = runs_in(folder)
    assert run.profile is not None
    assert [frame for frame in run.profile.frames if "total" in frame.name], run.profile.frames
