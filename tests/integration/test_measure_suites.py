"""`profkit measure` with files of definitions: as we write them, and as PyTorch's benchmarks do."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from profkit import expand, measure_all
from tests.integration.harness import NO_SUPERUSER, ROOT, environment, profkit, run_program

SUITE = """
from profkit import Variants, work_order
SETUP = {
    "python": "import torch\\nx = torch.ones(4)\\ny = torch.ones(4)",
    "c++": "auto x = at::ones({4}); auto y = at::ones({4});",
}
ORDERS = {
    ("Pointwise", "Math"): {
        "add_": Variants(
            python=\"\"\"
                x += y
            \"\"\",
            cpp="x += y;", setup=SETUP, signature="f(x, y) -> None", script=True,
        ),
        "bad": Variants(python="x += y", script=True),
    },
    "broken": "1 +",
    "no TorchScript": Variants(
        python="import os", cpp="1;", setup=SETUP, signature="f(x) -> None", script=True
    ),
    "order": work_order("sum([1, 2])", mode="callgrind"),
    "unknown option": work_order("1", nonsense=1),
    "gradients": Variants(
        cpp="auto z = x * whole;",
        setup={"c++": SETUP["c++"] + "auto whole = at::ones({4}, at::kInt); int n = 1;"},
        signature="f(x, whole, n) -> z", autograd=True,
    ),
}
"""
STAND_IN = {
    "worker/__init__.py": "",
    "worker/main.py": """
import dataclasses, enum
class Tongue(enum.Enum):
    PYTHON = 0
    CPP = 1
@dataclasses.dataclass(frozen=True)
class WorkerTimerArgs:
    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    num_threads: int = 1
    language: Tongue = Tongue.PYTHON
""",
    "core/__init__.py": "",
    "core/api.py": """
import dataclasses
from worker.main import Tongue, WorkerTimerArgs as TimerArgs
@dataclasses.dataclass(frozen=True)
class GroupedSetup:
    py_setup: str = ""
    cpp_setup: str = ""
    global_setup: str = ""
@dataclasses.dataclass(frozen=True)
class GroupedBenchmark:
    py_fwd_stmt: object
    cpp_fwd_stmt: object
    setup: GroupedSetup = GroupedSetup()
    signature_args: object = None
    signature_output: object = None
    py_model_setup: object = None
    cpp_model_setup: object = None
    inferred_model_setup: bool = True
    torchscript: bool = False
    autograd: bool = False
    num_threads: tuple = (1,)
""",
    "definitions/__init__.py": "",
    "definitions/setups.py": """
from core.api import GroupedSetup
ONES = GroupedSetup("x = torch.ones(4)", "int x = 1;")
""",
    "definitions/standard.py": """
from core.api import GroupedBenchmark, TimerArgs, Tongue
from definitions.setups import ONES
BENCHMARKS = {
    ("Pointwise", "double"): GroupedBenchmark("y = x * 2", "profkit::keep(x * 2);", ONES),
    ("Modules", "ReLU"): GroupedBenchmark(
        "y = model(x)", None, ONES, ("x",), "y", "model = torch.nn.ReLU()",
        inferred_model_setup=False, torchscript=True,
    ),
    ("Training", "simple"): GroupedBenchmark(
        "y = (x * x.detach()).sum()", None, ONES.__class__("x = torch.ones(4, requires_grad=True)"),
        ("x",), "y", autograd=True, num_threads=(1, 2),
    ),
    ("As it is",): TimerArgs("torch.ones(2)"),
    ("As it is", "C++"): TimerArgs("profkit::keep(1);", language=Tongue.CPP),
}
""",
}  # fmt: skip


def orders_in(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, ...], dict[str, Any]]:
    orders = json.loads(done.stdout)["orders"]
    return {(order["label"], *order["labels"].values(), str(order["num_threads"])): order for order in orders}


@pytest.mark.torch
@pytest.mark.full
def test_a_suite_is_measured_but_for_its_wrong_entries(tmp_path: Path) -> None:
    (tmp_path / "suite.py").write_text(SUITE)
    done = profkit(tmp_path, "measure", "suite.py", "--quick", "--mode", "timer", "--json", code=3)
    found = orders_in(done)
    add = ("Pointwise / Math / add_",)
    for runtime in ("eager", "script"):
        for language in ("python", "c++"):
            order = found[(*add, runtime, "forward", language, "1")]
            assert order["error"] is None, order
            assert order["median_s"] > 0
    assert "has no signature" in found["Pointwise / Math / bad", "1"]["error"]
    assert "broken" in found["broken", "1"]["error"]
    scripted = [found["no TorchScript", "script", "forward", language, "1"] for language in ("python", "c++")]
    assert all(
        "raised" in one["error"] or "cannot be compiled to TorchScript" in one["error"] for one in scripted
    )
    assert "no option 'nonsense'" in found["unknown option", "1"]["error"]
    assert found["gradients", "eager", "forward + backward", "c++", "1"]["error"] is None
    assert found["order", "1"]["mode"] == "timer"
    assert found["order", "1"]["error"] is None


@pytest.mark.full
@pytest.mark.torch
def test_a_copy_of_pytorchs_definitions_runs_by_its_path(tmp_path: Path) -> None:
    for name, text in STAND_IN.items():
        file = tmp_path / "benchmarks" / "instruction_counts" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    path = "benchmarks/instruction_counts/definitions/standard.py"
    done = profkit(tmp_path, "measure", path, "--quick", "--json")
    assert Counter(label for label, *_ in orders_in(done)) == {
        "Pointwise / double": 2,
        "Modules / ReLU": 2,
        "Training / simple": 4,
        "As it is": 1,
        "As it is / C++": 1,
    }


@pytest.mark.torch
@pytest.mark.valgrind
@pytest.mark.full
@pytest.mark.parametrize("measured", ["add / tensor", "Modules / LSTM"])
def test_the_operator_suite_has_the_structure_of_pytorchs(
    measured: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    from operator_suite import ORDERS  # type: ignore[import-not-found]

    orders = expand(ORDERS, mode="timer+callgrind", quick=True)
    assert 170 <= sum(order.num_threads == 1 for order in orders) <= 200
    groups = Counter(order.label.split(" / ")[0] for order in orders)
    assert {"Creation", "Pointwise", "Reduction", "Indexing", "Modules", "Training"} <= groups.keys()
    seen = {tuple(dict(order.labels).values()) for order in orders if order.label == "Training / one layer"}
    assert len(seen) == 8
    assert {order.mode.value for order in orders if order.num_threads == 2} == {"timer"}
    chosen = [order for order in orders if order.label.endswith(measured)]
    python = [order for order in chosen if order.language.value == "python"]
    assert all(run.info.error is None for run in measure_all(python, keep=False))


@pytest.mark.valgrind
@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.gil
@pytest.mark.slow
def test_counts_are_repeated_over_processes(tmp_path: Path, processes: int) -> None:
    done = profkit(
        tmp_path, "measure", "sorted([3, 1])", "--mode", "callgrind", "--processes", str(processes), "--json"
    )
    (order,) = orders_in(done).values()
    assert len(order["instructions"]["raw"]) == 2 * processes
    assert len(set(order["instructions"]["raw"])) == 1
    assert order["instructions"]["functions"] is None


def on_a_full_disk(
    folder: Path, *arguments: str, variable: str, free_kib: int
) -> subprocess.CompletedProcess[str]:
    """Measure with a folder that has little room left."""
    (folder / "disk").mkdir()
    disk = shlex.quote(str(folder / "disk"))
    lines = [
        f"mount -t tmpfs -o size=64k small {disk}",
        f"head -c {(64 - free_kib) * 1024} /dev/zero > {disk}/filled",
        shlex.join([sys.executable, "-m", "profkit", "measure", "--quick", *arguments]),
    ]
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec", "\n".join(lines)],
        cwd=folder, env=environment(**{variable: str(folder / "disk")}), capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip


def test_a_run_that_cannot_be_kept_is_shown_and_an_error(tmp_path: Path) -> None:
    done = on_a_full_disk(tmp_path, "1 + 1", variable="PROFKIT_SPOOL", free_kib=0)
    assert done.returncode == 7
    assert "median" in done.stdout
    assert "1 of 1 runs were not kept: No space left on device; free space" in done.stderr


@pytest.mark.parametrize("free_kib", [0, 4, 24])
def test_a_full_cache_is_no_fault_of_the_statement(tmp_path: Path, free_kib: int) -> None:
    done = on_a_full_disk(
        tmp_path, "--language", "c++", "profkit::keep(1);", variable="XDG_CACHE_HOME", free_kib=free_kib
    )
    assert done.returncode == 3
    assert "No space left on device; free some space there, or set XDG_CACHE_HOME" in done.stdout
    assert "does not compile" not in done.stdout


def test_a_cache_without_permission_to_write_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "profkit" / "cpp"
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    done = run_program(
        tmp_path, ["-m", "profkit", "measure", "--language", "c++", "1;"],
        launcher=NO_SUPERUSER, environ=environment(XDG_CACHE_HOME=str(tmp_path)),
    )  # fmt: skip
    assert done.returncode == 2
    assert f"{folder} for compiled statements is not writable; set XDG_CACHE_HOME" in done.stderr


@pytest.mark.valgrind
@pytest.mark.parametrize("free_kib", [4, 16])
@pytest.mark.slow
def test_a_full_folder_for_temporary_files_is_no_fault_of_the_interpreter(
    tmp_path: Path, free_kib: int
) -> None:
    done = on_a_full_disk(tmp_path, "--mode", "callgrind", "1 + 1", variable="TMPDIR", free_kib=free_kib)
    assert done.returncode == 3
    assert "No space left on device; free some space there, or set TMPDIR" in done.stdout
