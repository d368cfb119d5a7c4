"""Checks of torch and CUDA, with files that stand for torch and for drivers."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from profkit.doctor.container import ContainerFacts
from profkit.doctor.system import SystemFacts
from profkit.doctor.torch_files import TorchFacts, torch_checks, torch_facts
from profkit.model.checkup import Check, Status

TORCH = TorchFacts(Path("/lib/torch"), version="2.13.0", cuda="13.0", driver="580.65.06", devices=2)
NOT_CONTAINED = SystemFacts()


def checked(facts: TorchFacts, system: SystemFacts = NOT_CONTAINED) -> tuple[Check, Check]:
    torch, cuda = torch_checks(facts, system)
    return torch, cuda


def test_torch_and_a_gpu() -> None:
    torch, cuda = checked(TORCH)
    assert (torch.status, torch.found) == (
        Status.OK,
        "2.13.0, built for CUDA 13.0; files found, not imported",
    )
    assert (cuda.status, cuda.found) == (Status.OK, "2 GPUs, driver 580.65.06")


def test_no_torch() -> None:
    torch, cuda = checked(TorchFacts())
    assert (torch.status, torch.found) == (Status.SHORTFALL, "not installed")
    assert torch.fix == "pip install 'profkit[torch]'"
    assert cuda.status is Status.NOT_APPLICABLE


def test_torch_without_cuda_beside_a_gpu() -> None:
    torch, cuda = checked(replace(TORCH, cuda=None, devices=1))
    assert torch.found.startswith("2.13.0, built without CUDA; ")
    assert (cuda.status, cuda.found) == (Status.SHORTFALL, "1 GPU, driver 580.65.06, torch without CUDA")
    assert cuda.fix == "pip install --force-reinstall torch"


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
    cuda = checked(replace(TORCH, devices=0), SystemFacts(ContainerFacts(kind)))[1]
    assert (cuda.status, cuda.fix) == (Status.SHORTFALL, fix)


def test_an_incomplete_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    facts = torch_facts(tmp_path / "nothing")
    assert (facts.folder, facts.version) == (tmp_path / "torch", None)
    check = checked(facts)[0]
    assert (check.status, check.fix) == (Status.SHORTFALL, "pip install --force-reinstall torch")
    assert check.found.startswith(f"files in {tmp_path}/torch without a version")


def test_a_module_of_this_name_without_a_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`find_spec` raises ValueError for it."""
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "version.py").write_text("__version__ = '2.13.0'\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    facts = torch_facts(tmp_path / "nothing")
    assert (facts.folder, facts.version) == (package, "2.13.0")
    monkeypatch.setattr(sys, "path", [])
    assert torch_facts(tmp_path / "nothing").folder is None


def test_facts_of_torch_and_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "version.py").write_text("__version__ = '2.13.0+cu130'\ncuda: Optional[str] = '13.0'\n")
    spec = ModuleSpec("torch", None, origin=str(package / "__init__.py"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    driver = tmp_path / "proc" / "driver" / "nvidia" / "version"
    driver.parent.mkdir(parents=True)
    driver.write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: 12\n"
    )
    dev = tmp_path / "dev"
    dev.mkdir()
    for name in ("nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "null"):
        (dev / name).touch()
    assert torch_facts(tmp_path) == TorchFacts(package, "2.13.0+cu130", "13.0", "580.65.06", 2)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert torch_facts(tmp_path / "nothing") == TorchFacts()


def test_an_older_driver(tmp_path: Path) -> None:
    driver = tmp_path / "proc" / "driver" / "nvidia" / "version"
    driver.parent.mkdir(parents=True)
    driver.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n")
    assert torch_facts(tmp_path).driver == "535.104.05"
