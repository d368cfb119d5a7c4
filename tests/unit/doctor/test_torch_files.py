"""Checks of torch and CUDA, with files that stand for torch and for drivers."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from profkit.doctor.system import ContainerFacts, SystemFacts
from profkit.doctor.torch_files import cuda_check, torch_check, torch_checks, torch_folder
from profkit.model.checkup import Status
from tests.support.folders import write_files

NOT_CONTAINED = SystemFacts()
DRIVER = "proc/driver/nvidia/version"
NO_GPU = cuda_check(None, 0, NOT_CONTAINED, lacks_cuda=False)
REINSTALL = "pip install --force-reinstall torch"


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
            *("files in /lib/torch without a version: the installation is incomplete", REINSTALL),
        ),
        (None, None, None, Status.SHORTFALL, "not installed", "pip install torch"),
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
        ("580.65", 1, True, Status.SHORTFALL, "1 GPU, driver 580.65, torch without CUDA", REINSTALL),
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
