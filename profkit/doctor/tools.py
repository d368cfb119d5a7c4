"""Checks of what measuring uses: Valgrind, a C++ compiler, torch, CUDA, machine code."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from profkit.doctor.places import text_of
from profkit.errors import ToolMissing
from profkit.measuring.cpp.toolchain import toolchain
from profkit.model.checkup import Check, Group, Status
from profkit.process.child import run_child

_GROUP = Group.MEASURING
_TIMEOUT_S = 5.0
_TESTED, _WRITTEN = ("x86_64",), ("x86_64", "aarch64")
"""Machines on which the requests to Callgrind are tested, and for which they are written."""
_NO_COUNTS = "no instruction counts (--mode callgrind)"
_VERSION = re.compile(r"^__version__ = '(.+)'", re.MULTILINE)
_CUDA = re.compile(r"^cuda(?:: [^=]+)? = '(.+)'", re.MULTILINE)
_DRIVER = re.compile(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)")
_DEVICE = re.compile(r"nvidia\d+")


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """Facts about a program: where it is, and its version."""

    path: str | None = None
    """None if it is not on PATH."""
    version: str = ""
    problem: str = ""
    """Why it did not report its version."""


@dataclass(frozen=True, slots=True)
class TorchFacts:
    """Facts about torch and CUDA, found without importing torch, which takes seconds."""

    version: str | None = None
    """None if torch is not installed."""
    cuda: str | None = None
    """Version of CUDA for which torch is built; None for a build without CUDA."""
    driver: str | None = None
    """Version of NVIDIA's driver in the kernel; None if there is none."""
    devices: int = 0
    """Number of GPUs in /dev."""


def valgrind_facts(folder: Path, environ: Mapping[str, str] = os.environ) -> ToolFacts:
    """Return the facts of Valgrind, which is run; its output goes to a file in the folder."""
    path = shutil.which("valgrind", path=environ.get("PATH"))
    if path is None:
        return ToolFacts()
    output = folder / "valgrind.log"
    try:
        ended = run_child((os.path.abspath(path), "--version"), output, _TIMEOUT_S)
    except OSError as error:  # TimeoutError is one
        return ToolFacts(path, problem=error.strerror or str(error))
    text = output.read_text("utf-8", "replace").strip()
    problem = f"exit status {ended.code}: {text[-200:]}" if ended.code else ""
    return ToolFacts(path, text.removeprefix("valgrind-"), problem)


def compiler_facts(environ: Mapping[str, str] = os.environ) -> ToolFacts:
    """Return the facts of the C++ compiler that $CXX names, else of g++ or c++."""
    try:
        found = toolchain(environ, None)
    except ToolMissing:
        return ToolFacts()
    except OSError as error:  # such as a script without an interpreter
        return ToolFacts(environ.get("CXX", "g++"), problem=error.strerror or str(error))
    first, *_ = [*found.version.splitlines(), ""]
    return ToolFacts(found.compiler[0], first, "" if first else "it does not report its version")


def torch_facts(root: Path = Path("/")) -> TorchFacts:
    """Return the facts from the files of torch and of NVIDIA's driver."""
    spec = importlib.util.find_spec("torch")
    text = "" if spec is None or not spec.origin else text_of(Path(spec.origin).with_name("version.py"))
    version, cuda = _VERSION.search(text), _CUDA.search(text)
    driver = _DRIVER.search(text_of(root / "proc/driver/nvidia/version"))
    dev = root / "dev"
    return TorchFacts(
        version=version[1] if version else None,
        cuda=cuda[1] if cuda else None,
        driver=driver[1] if driver else None,
        devices=sum(bool(_DEVICE.fullmatch(name)) for name in os.listdir(dev)) if dev.is_dir() else 0,
    )


def valgrind_check(facts: ToolFacts) -> Check:
    """Return the check of Valgrind."""
    if facts.path is None:
        fix = "sudo apt-get install valgrind"
        return Check(_GROUP, "valgrind", Status.SHORTFALL, "not on PATH", _NO_COUNTS, fix)
    if facts.problem:
        fix = "sudo apt-get install --reinstall valgrind"
        return Check(_GROUP, "valgrind", Status.SHORTFALL, f"{facts.path}: {facts.problem}", _NO_COUNTS, fix)
    return Check(_GROUP, "valgrind", Status.OK, f"{facts.version}, {facts.path}")


def compiler_check(facts: ToolFacts) -> Check:
    """Return the check of the C++ compiler."""
    cost = "no C++ statements (--language c++)"
    if facts.path is None:
        fix = "sudo apt-get install g++"
        return Check(_GROUP, "compiler", Status.SHORTFALL, "neither $CXX, g++ nor c++ on PATH", cost, fix)
    if facts.problem:
        fix = "sudo apt-get install --reinstall g++"
        return Check(_GROUP, "compiler", Status.SHORTFALL, f"{facts.path}: {facts.problem}", cost, fix)
    return Check(_GROUP, "compiler", Status.OK, f"{facts.version}, {facts.path}")


def torch_checks(facts: TorchFacts) -> tuple[Check, ...]:
    """Return the checks of torch and of CUDA."""
    if facts.version is None:
        cost = "no statements that use torch"
        torch = Check(_GROUP, "torch", Status.SHORTFALL, "not installed", cost, "pip install torch")
    else:
        build = "without CUDA" if facts.cuda is None else f"for CUDA {facts.cuda}"
        torch = Check(_GROUP, "torch", Status.OK, f"{facts.version}, built {build}")
    return torch, _cuda_check(facts)


def machine_check(machine: str | None = None) -> Check:
    """Return the check of the machine code with which Callgrind is controlled."""
    name = machine or platform.machine()
    if name in _TESTED:
        return Check(_GROUP, "machine code", Status.OK, f"{name}, tested")
    if name in _WRITTEN:
        cost = "instruction counts may be wrong; sampling and timing have no machine code"
        fix = "in a checkout: python -m pytest -m valgrind"
        return Check(_GROUP, "machine code", Status.SHORTFALL, f"{name}, not tested", cost, fix)
    fix = f"count on {' or '.join(_WRITTEN)}"
    return Check(_GROUP, "machine code", Status.SHORTFALL, f"{name}, not supported", _NO_COUNTS, fix)


def _cuda_check(facts: TorchFacts) -> Check:
    if not facts.devices and facts.driver is None:
        return Check(_GROUP, "CUDA", Status.NOT_APPLICABLE, "no NVIDIA driver, no GPU")
    gpus = f"{facts.devices} GPU{'' if facts.devices == 1 else 's'}"
    found = f"{gpus}, driver {facts.driver or 'unknown'}"
    cost = "torch does not use the GPU"
    if not facts.devices:
        found = f"no GPU in /dev, driver {facts.driver}"
        return Check(_GROUP, "CUDA", Status.SHORTFALL, found, cost, "docker run --gpus all …")
    if facts.version is not None and facts.cuda is None:
        fix = "pip install --force-reinstall torch"
        return Check(_GROUP, "CUDA", Status.SHORTFALL, f"{found}, torch without CUDA", cost, fix)
    return Check(_GROUP, "CUDA", Status.OK, found)
