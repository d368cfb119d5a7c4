"""Checks of torch and CUDA, from files: importing torch takes seconds."""

from __future__ import annotations

import importlib.util
import os
import re
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


def torch_checks(system: SystemFacts, root: Path = Path("/")) -> tuple[Check, ...]:
    """Return the checks of torch and of CUDA, from the files of torch and of NVIDIA's driver."""
    folder = torch_folder()
    text = "" if folder is None else text_of(folder / "version.py")
    version, cuda = (found[1] if (found := one.search(text)) else None for one in (_VERSION, _CUDA))
    driver = _DRIVER.search(text_of(root / "proc/driver/nvidia/version"))
    try:
        devices = sum(bool(_DEVICE.fullmatch(name)) for name in os.listdir(root / "dev"))
    except OSError:
        devices = 0
    lacks_cuda = version is not None and cuda is None
    return (
        torch_check(folder, version, cuda),
        cuda_check(driver[1] if driver else None, devices, system, lacks_cuda=lacks_cuda),
    )


def torch_folder() -> Path | None:
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


def torch_check(folder: Path | None, version: str | None, cuda: str | None) -> Check:
    """Return the check of torch, by its folder, its version and that of CUDA for which it is built."""
    cost = "no statements that use torch"
    if folder is None:
        return Check(_GROUP, "torch", Status.SHORTFALL, "not installed", cost, "pip install torch")
    if version is None:
        found = f"files in {folder} without a version: the installation is incomplete"
        return Check(_GROUP, "torch", Status.SHORTFALL, found, cost, _REINSTALL)
    build = "without CUDA" if cuda is None else f"for CUDA {cuda}"
    return Check(_GROUP, "torch", Status.OK, f"{version}, built {build}; files found, not imported")


def cuda_check(driver: str | None, devices: int, system: SystemFacts, *, lacks_cuda: bool) -> Check:
    """Return the check of CUDA, by the version of NVIDIA's driver in the kernel and the number of GPUs.

    `lacks_cuda` says whether torch is built without it.
    """
    if not devices and driver is None:
        return Check(_GROUP, "CUDA", Status.NOT_APPLICABLE, "no NVIDIA driver, no GPU")
    cost = "torch does not use the GPU"
    if not devices:
        found = f"no GPU in /dev, driver {driver}"
        return Check(_GROUP, "CUDA", Status.SHORTFALL, found, cost, _show_gpus(system))
    found = f"{devices} GPU{'' if devices == 1 else 's'}, driver {driver or 'unknown'}"
    if lacks_cuda:
        return Check(_GROUP, "CUDA", Status.SHORTFALL, f"{found}, torch without CUDA", cost, _REINSTALL)
    return Check(_GROUP, "CUDA", Status.OK, found)


def _show_gpus(system: SystemFacts) -> str:
    """Return how to make the devices of GPUs: the driver makes them when it is used first."""
    if system.container.shares_kernel:
        return system.container.grant_gpus()
    return system.as_root("sudo nvidia-modprobe -c 0 -u")
