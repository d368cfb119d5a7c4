"""Checks of a worker, programs and the cache of C++, with scripts on PATH and folders of all kinds."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from profkit.clock import ManualClock
from profkit.doctor.system import ContainerFacts, Manager, SystemFacts
from profkit.doctor.tools import (
    cache_check,
    compiler_check,
    cuda_check,
    machine_check,
    timed_statement,
    torch_check,
    torch_checks,
    torch_folder,
    valgrind_check,
    worker_check,
)
from profkit.errors import ToolMissing, UsageError, WorkerTimeout
from profkit.model.checkup import Check, Status
from profkit.process.child import capture
from tests.support.folders import write_files

DEBIAN = SystemFacts(manager=Manager.APT)
REINSTALL = "sudo apt-get install --reinstall"


def script(folder: Path, name: str, text: str) -> dict[str, str]:
    """Write a program, and return an environment in which it is the only one."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"PATH": str(path.parent)}


def test_a_worker_that_works() -> None:
    clock = ManualClock()
    check = worker_check(lambda: clock.advance(0.75), clock)
    assert (check.status, check.took_s) == (Status.OK, 0.75)
    assert check.found == "timed a statement; it started and ended within 750 ms"


@pytest.mark.parametrize(
    ("error", "found", "fix"),
    [
        (
            ToolMissing("python", "measuring", "set sys.executable"),
            *("measuring needs 'python', which is not on PATH", "set sys.executable"),
        ),
        (WorkerTimeout("pass", 20, 1, "output"), "'pass' did not finish within 20 s", "raise timeout_s"),
        (FileNotFoundError(2, "No such file"), "[Errno 2] No such file", "profkit measure pass"),
    ],
)
def test_a_worker_that_fails(error: Exception, found: str, fix: str) -> None:
    def fail() -> None:
        raise error

    check = worker_check(fail, ManualClock())
    assert (check.status, check.found, check.fix) == (Status.FAILED, found, fix)
    assert check.cost == "nothing can be timed or counted"


def test_a_real_worker() -> None:
    assert timed_statement().timing is not None


@pytest.mark.parametrize(
    ("name", "text", "status", "found", "fix"),
    [
        ("valgrind", "echo valgrind-3.27.1", Status.OK, "3.27.1, {}", ""),
        ("valgrind", "echo none >&2; exit 3", Status.SHORTFALL, "{}: exit status 3: none", REINSTALL),
        ("c++", "echo 'c++ (GCC) 14.2'; echo Copyright", Status.OK, "c++ (GCC) 14.2, {}", ""),
        ("g++", "exit 0", Status.SHORTFALL, "{}: it does not report its version", REINSTALL),
        # A toolchain ignores the status.
        ("g++", "echo 12; echo broken >&2; exit 1", Status.SHORTFALL, "{}: exit status 1: broken", REINSTALL),
    ],
)
def test_programs(name: str, text: str, status: Status, found: str, fix: str, tmp_path: Path) -> None:
    of = valgrind_check if name == "valgrind" else compiler_check
    check = of(DEBIAN, script(tmp_path, name, text))
    assert (check.status, check.found) == (status, found.format(tmp_path / "bin" / name))
    assert check.fix == (f"{fix} {name}" if fix else "")


@pytest.mark.parametrize(("of", "name"), [(valgrind_check, "valgrind"), (compiler_check, "g++")])
def test_programs_that_are_missing_or_do_not_run(of: Callable[..., Check], name: str, tmp_path: Path) -> None:
    check = of(DEBIAN, {"PATH": str(tmp_path)})
    assert (check.status, check.fix) == (Status.SHORTFALL, f"sudo apt-get install {name}")
    assert check.found.endswith("on PATH")
    assert check.cost.startswith("no ")
    env = script(tmp_path, name, "")
    (tmp_path / "bin" / name).write_text("#!/no/such/interpreter\n")
    assert of(DEBIAN, env).found.endswith(": No such file or directory")


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("CXX", '"g++', "no closing quotation"),
        ("CXXFLAGS", "-DX='1", "no closing quotation"),
        ("CXX", "g++ -x", "exit status 4"),
    ],
)
def test_variables_that_name_no_compiler(variable: str, value: str, problem: str, tmp_path: Path) -> None:
    env = script(tmp_path, "g++", '[ "$1" = --version ] || exit 4; echo g++ 12')
    assert compiler_check(DEBIAN, env).status is Status.OK
    check = compiler_check(DEBIAN, {**env, variable: value})
    assert (check.status, check.fix) == (Status.SHORTFALL, f"unset {variable}")
    assert check.found.endswith(f": {problem}")


def test_a_variable_with_a_program_that_is_missing(tmp_path: Path) -> None:
    env = script(tmp_path, "g++", "echo g++ 12")
    check = compiler_check(DEBIAN, {**env, "CXX": "missing"})
    assert (check.status, check.found, check.fix) == (Status.SHORTFALL, "$CXX is not on PATH", "unset CXX")


def test_programs_that_do_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profkit.doctor.tools.capture", lambda command: capture(command, timeout_s=0.2))
    env = script(tmp_path, "g++", "exec /bin/sleep 60")
    check = compiler_check(DEBIAN, env)
    assert check.found == f"{tmp_path}/bin/g++: it did not end within 0.2 s"
    assert check.fix == f"make sure that `{tmp_path}/bin/g++ --version` works"


def test_a_system_that_starts_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("profkit.doctor.tools.capture", fail)
    check = valgrind_check(DEBIAN, script(tmp_path, "valgrind", ""))
    assert check.found.endswith(": Cannot allocate memory")
    assert "reinstall" not in check.fix


def test_a_cache_that_can_be_used(tmp_path: Path) -> None:
    folder = tmp_path / "profkit" / "cpp"
    missing = cache_check(lambda: folder)
    assert (missing.status, missing.found) == (Status.OK, f"{folder} does not exist, and can be created")
    assert list(tmp_path.iterdir()) == [], "nothing is created"
    folder.mkdir(parents=True, mode=0o700)
    assert cache_check(lambda: folder).found == f"{folder}, writable"
    assert list(folder.iterdir()) == []


def test_caches_that_cannot_be_used(tmp_path: Path) -> None:
    public, file = tmp_path / "public", tmp_path / "file"
    public.mkdir()
    public.chmod(0o777)
    file.touch()
    for folder, words in (
        (public, "is writable by other users"),
        (file, "cannot be used"),
        (file / "cpp", "Not a directory"),
        (Path("/proc/cpp"), "No such file or directory"),
    ):
        check = cache_check(lambda folder=folder: folder)
        assert check.status is Status.SHORTFALL
        assert words in check.found
        assert check.cost == "no C++ statements (--language c++)"
        assert check.fix == "set XDG_CACHE_HOME to a folder that only you can write to"


def test_a_user_without_a_home_folder() -> None:
    def fail() -> Path:
        raise UsageError("HOME is not set", "set XDG_CACHE_HOME")

    check = cache_check(fail)
    assert (check.status, check.found, check.fix) == (
        Status.SHORTFALL,
        "HOME is not set",
        "set XDG_CACHE_HOME",
    )


def test_machines() -> None:
    assert machine_check("x86_64").status is Status.OK
    arm = machine_check("aarch64")
    assert (arm.status, arm.found) == (Status.SHORTFALL, "aarch64, not tested")
    assert arm.fix == "in a checkout: python -m pytest -m valgrind"
    other = machine_check("riscv64")
    assert (other.status, other.fix) == (Status.SHORTFALL, "count on x86_64 or aarch64")


NOT_CONTAINED = SystemFacts()
DRIVER = "proc/driver/nvidia/version"
NO_GPU = cuda_check(None, 0, NOT_CONTAINED, lacks_cuda=False)
REINSTALL_TORCH = "pip install --force-reinstall torch"


@pytest.mark.parametrize(
    ("folder", "version", "cuda", "status", "found", "fix"),
    [
        (
            *(Path("/lib/torch"), "2.13.0", "13.0", Status.OK),
            *("2.13.0, built for CUDA 13.0; files found, not imported", ""),
        ),
        (
            *(Path("/lib/torch"), "2.13.0", None, Status.OK),
            *("2.13.0, built without CUDA; files found, not imported", ""),
        ),
        (
            *(Path("/lib/torch"), None, None, Status.SHORTFALL),
            *("files in /lib/torch without a version: the installation is incomplete", REINSTALL_TORCH),
        ),
        (None, None, None, Status.SHORTFALL, "not installed", "pip install 'profkit[torch]'"),
    ],
)
def test_torch(
    folder: Path | None, version: str | None, cuda: str | None, status: Status, found: str, fix: str
) -> None:
    check = torch_check(folder, version, cuda)
    assert (check.status, check.found, check.fix) == (status, found, fix)


@pytest.mark.parametrize(
    ("driver", "devices", "lacks_cuda", "status", "found", "fix"),
    [
        ("580.65", 2, False, Status.OK, "2 GPUs, driver 580.65", ""),
        ("580.65", 1, True, Status.SHORTFALL, "1 GPU, driver 580.65, torch without CUDA", REINSTALL_TORCH),
        (None, 0, False, Status.NOT_APPLICABLE, "no NVIDIA driver, no GPU", ""),
        (None, 1, False, Status.OK, "1 GPU, driver unknown", ""),
    ],
)
def test_cuda(
    driver: str | None, devices: int, lacks_cuda: bool, status: Status, found: str, fix: str
) -> None:  # fmt: skip
    check = cuda_check(driver, devices, NOT_CONTAINED, lacks_cuda=lacks_cuda)
    assert (check.status, check.found, check.fix) == (status, found, fix)


@pytest.mark.parametrize(
    ("kind", "fix"),
    [
        ("docker", "docker run --gpus all …"),
        ("podman", "podman run --device nvidia.com/gpu=all …"),
        ("kubernetes", "set resources: {limits: {nvidia.com/gpu: 1}} in the pod"),
        ("lxc", "give the container the devices /dev/nvidia* of its host"),
        (None, "sudo nvidia-modprobe -c 0 -u"),
    ],
)
def test_a_driver_without_devices(kind: str | None, fix: str) -> None:
    check = cuda_check("580.65", 0, SystemFacts(ContainerFacts(kind)), lacks_cuda=False)
    assert (check.status, check.fix) == (Status.SHORTFALL, fix)


def test_folders_of_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert torch_folder() == tmp_path / "torch", "also one without __init__.py"
    # `find_spec` raises ValueError for a module of this name without a spec.
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    write_files(tmp_path, {"torch/__init__.py": ""})
    assert torch_folder() == tmp_path / "torch"
    monkeypatch.setattr(sys, "path", [])
    assert torch_folder() is None


def test_files_of_torch_and_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = "__version__ = '2.13.0+cu130'\ncuda: Optional[str] = '13.0'\n"
    driver = (
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: 12\n"
    )
    names = ("nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "null")
    write_files(
        tmp_path, {"torch/version.py": version, DRIVER: driver, **{f"dev/{name}": "" for name in names}}
    )
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "torch/__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    torch, cuda = torch_checks(NOT_CONTAINED, tmp_path)
    assert torch.found.startswith("2.13.0+cu130, built for CUDA 13.0; ")
    assert cuda.found == "2 GPUs, driver 580.65.06"
    older = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n"
    write_files(tmp_path, {DRIVER: older, "torch/version.py": "__version__ = '2.13.0'\n"})
    assert torch_checks(NOT_CONTAINED, tmp_path)[1].found == "2 GPUs, driver 535.104.05, torch without CUDA"
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert torch_checks(NOT_CONTAINED, tmp_path / "nothing") == (torch_check(None, None, None), NO_GPU)
