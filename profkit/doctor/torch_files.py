"""Checks of torch and CUDA, from files: importing torch takes seconds."""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from profkit.doctor.places import text_of
from profkit.doctor.system import SystemFacts
from profkit.model.checkup import Check, Group, Status

_GROUP = Group.MEASURING
_VERSION = re.compile(r"^__version__ = '(.+)'", re.MULTILINE)
_CUDA = re.compile(r"^cuda(?:: [^=]+)? = '(.+)'", re.MULTILINE)
_DRIVER = re.compile(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)")
_DEVICE = re.compile(r"nvidia\d+")
_REINSTALL = "pip install --force-reinstall torch"


@dataclass(frozen=True, slots=True)
class TorchFacts:
    """Facts about torch and CUDA, found without importing torch."""

    folder: Path | None = None
    """Folder of torch's files; None if it is not installed."""
    version: str | None = None
    """None if its files do not show it."""
    cuda: str | None = None
    """Version of CUDA for which torch is built; None for a build without CUDA."""
    driver: str | None = None
    """Version of NVIDIA's driver in the kernel; None if there is none."""
    devices: int = 0
    """Number of GPUs in /dev."""


def torch_facts(root: Path = Path("/")) -> TorchFacts:
    """Return the facts from the files of torch and of NVIDIA's driver."""
    folder = _torch_folder()
    text = "" if folder is None else text_of(folder / "version.py")
    version, cuda = _VERSION.search(text), _CUDA.search(text)
    driver = _DRIVER.search(text_of(root / "proc/driver/nvidia/version"))
    return TorchFacts(
        folder=folder,
        version=version[1] if version else None,
        cuda=cuda[1] if cuda else None,
        driver=driver[1] if driver else None,
        devices=sum(bool(_DEVICE.fullmatch(name)) for name in _names_in(root / "dev")),
    )


def torch_checks(facts: TorchFacts, system: SystemFacts) -> tuple[Check, ...]:
    """Return the checks of torch and of CUDA."""
    return _torch_check(facts), _cuda_check(facts, system)


def _torch_folder() -> Path | None:
    """Return the folder from which torch would be imported, None if there is none."""
    try:
        spec = importlib.util.find_spec("torch")
    except ValueError:  # there is a module of this name in sys.modules that was not imported from a file
        spec = PathFinder.find_spec("torch")
    if spec is None:
        return None
    folders = list(spec.submodule_search_locations or ())
    if spec.origin:  # a folder without __init__.py has none
        folders.insert(0, os.path.dirname(spec.origin))
    return Path(folders[0]) if folders else None


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _torch_check(facts: TorchFacts) -> Check:
    cost = "no statements that use torch"
    if facts.folder is None:
        return Check(_GROUP, "torch", Status.SHORTFALL, "not installed", cost, "pip install 'profkit[torch]'")
    if facts.version is None:
        found = f"files in {facts.folder} without a version: the installation is incomplete"
        return Check(_GROUP, "torch", Status.SHORTFALL, found, cost, _REINSTALL)
    build = "without CUDA" if facts.cuda is None else f"for CUDA {facts.cuda}"
    found = f"{facts.version}, built {build}; files found, not imported"
    return Check(_GROUP, "torch", Status.OK, found)


def _cuda_check(facts: TorchFacts, system: SystemFacts) -> Check:
    if not facts.devices and facts.driver is None:
        return Check(_GROUP, "CUDA", Status.NOT_APPLICABLE, "no NVIDIA driver, no GPU")
    gpus = f"{facts.devices} GPU{'' if facts.devices == 1 else 's'}"
    found = f"{gpus}, driver {facts.driver or 'unknown'}"
    cost = "torch does not use the GPU"
    if not facts.devices:
        found = f"no GPU in /dev, driver {facts.driver}"
        return Check(_GROUP, "CUDA", Status.SHORTFALL, found, cost, _show_gpus(system))
    if facts.version is not None and facts.cuda is None:
        found += ", torch without CUDA"
        return Check(_GROUP, "CUDA", Status.SHORTFALL, found, cost, _REINSTALL)
    return Check(_GROUP, "CUDA", Status.OK, found)


def _show_gpus(system: SystemFacts) -> str:
    """Return how to make the devices of GPUs: the driver makes them when it is used first."""
    if system.container.shares_kernel:
        return system.container.grant_gpus()
    return system.as_root("sudo nvidia-modprobe -c 0 -u")
