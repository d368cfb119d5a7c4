"""Checks of programs and libraries, with scripts on PATH and files that stand for drivers."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from profkit.doctor.tools import (
    ToolFacts,
    TorchFacts,
    compiler_check,
    compiler_facts,
    machine_check,
    torch_checks,
    torch_facts,
    valgrind_check,
    valgrind_facts,
)
from profkit.model.checkup import Check, Status

TORCH = TorchFacts(version="2.13.0", cuda="13.0", driver="580.65.06", devices=2)


def script(folder: Path, name: str, text: str) -> dict[str, str]:
    """Write a program, and return an environment in which it is the only one."""
    path = folder / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"PATH": str(path.parent)}


def test_valgrind(tmp_path: Path) -> None:
    env = script(tmp_path, "valgrind", "echo valgrind-3.27.1")
    facts = valgrind_facts(tmp_path, env)
    assert facts == ToolFacts(str(tmp_path / "bin" / "valgrind"), "3.27.1")
    check = valgrind_check(facts)
    assert (check.status, check.found) == (Status.OK, f"3.27.1, {facts.path}")


def test_no_valgrind(tmp_path: Path) -> None:
    check = valgrind_check(valgrind_facts(tmp_path, {"PATH": str(tmp_path)}))
    assert (check.status, check.found) == (Status.SHORTFALL, "not on PATH")
    assert check.cost == "no instruction counts (--mode callgrind)"
    assert check.fix == "sudo apt-get install valgrind"


def test_a_valgrind_that_does_not_run(tmp_path: Path) -> None:
    facts = valgrind_facts(tmp_path, script(tmp_path, "valgrind", "echo no tool >&2; exit 3"))
    assert facts.problem == "exit status 3: no tool"
    check = valgrind_check(facts)
    assert (check.status, check.fix) == (Status.SHORTFALL, "sudo apt-get install --reinstall valgrind")
    env = script(tmp_path, "valgrind", "")
    (tmp_path / "bin" / "valgrind").write_text("#!/no/such/interpreter\n")
    assert valgrind_facts(tmp_path, env).problem == "No such file or directory"


def test_compilers(tmp_path: Path) -> None:
    env = script(tmp_path, "c++", "echo 'c++ (GCC) 14.2'; echo Copyright")
    check = compiler_check(compiler_facts(env))
    assert (check.status, check.found) == (Status.OK, f"c++ (GCC) 14.2, {tmp_path}/bin/c++")
    missing = compiler_check(compiler_facts({"PATH": str(tmp_path)}))
    assert (missing.status, missing.fix) == (Status.SHORTFALL, "sudo apt-get install g++")
    silent = compiler_facts(script(tmp_path / "bin", "g++", "exit 1"))
    assert silent.problem == "it does not report its version"
    assert compiler_check(silent).status is Status.SHORTFALL


def test_a_compiler_that_does_not_run(tmp_path: Path) -> None:
    env = script(tmp_path, "g++", "")
    (tmp_path / "bin" / "g++").write_text("#!/no/such/interpreter\n")
    assert compiler_facts(env).problem == "No such file or directory"


def checked(facts: TorchFacts) -> tuple[Check, Check]:
    torch, cuda = torch_checks(facts)
    return torch, cuda


def test_torch_and_a_gpu() -> None:
    torch, cuda = checked(TORCH)
    assert (torch.status, torch.found) == (Status.OK, "2.13.0, built for CUDA 13.0")
    assert (cuda.status, cuda.found) == (Status.OK, "2 GPUs, driver 580.65.06")


def test_no_torch() -> None:
    torch, cuda = checked(TorchFacts())
    assert (torch.status, torch.fix) == (Status.SHORTFALL, "pip install torch")
    assert cuda.status is Status.NOT_APPLICABLE


def test_torch_without_cuda_beside_a_gpu() -> None:
    torch, cuda = checked(replace(TORCH, cuda=None, devices=1))
    assert torch.found == "2.13.0, built without CUDA"
    assert (cuda.status, cuda.found) == (Status.SHORTFALL, "1 GPU, driver 580.65.06, torch without CUDA")
    assert cuda.fix == "pip install --force-reinstall torch"


def test_a_container_without_the_gpu_of_its_host() -> None:
    cuda = checked(replace(TORCH, devices=0))[1]
    assert (cuda.status, cuda.fix) == (Status.SHORTFALL, "docker run --gpus all …")


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
    assert torch_facts(tmp_path) == TorchFacts("2.13.0+cu130", "13.0", "580.65.06", 2)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert torch_facts(tmp_path / "nothing") == TorchFacts()


def test_an_older_driver(tmp_path: Path) -> None:
    driver = tmp_path / "proc" / "driver" / "nvidia" / "version"
    driver.parent.mkdir(parents=True)
    driver.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n")
    assert torch_facts(tmp_path).driver == "535.104.05"


def test_machines() -> None:
    assert machine_check("x86_64").status is Status.OK
    arm = machine_check("aarch64")
    assert (arm.status, arm.found) == (Status.SHORTFALL, "aarch64, not tested")
    assert arm.fix == "in a checkout: python -m pytest -m valgrind"
    other = machine_check("riscv64")
    assert (other.status, other.fix) == (Status.SHORTFALL, "count on x86_64 or aarch64")
