"""Checks for measuring: the worker, Valgrind, the C++ compiler and its cache, the processor, and torch."""

from __future__ import annotations

import errno
import importlib.util
import os
import platform
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from profkit.clock import SYSTEM_CLOCK, Clock
from profkit.doctor.system import SystemFacts, text_of, without_fix, write_problem
from profkit.errors import MeasuringError, ProfkitError, UsageError
from profkit.measuring.api import measure
from profkit.measuring.cpp.cache import default_folder, open_cache
from profkit.model.checkup import Check, Group, Status
from profkit.model.measurement import Measurement
from profkit.process.child import capture
from profkit.units import format_duration

_GROUP = Group.MEASURING
_STATEMENT = "pass"
_TIMEOUT_S = 20.0
_TESTED, _WRITTEN = ("x86_64",), ("x86_64", "aarch64")
"""Machines on which the requests to Callgrind are tested, and for which they are written."""
_NO_COUNTS, _NO_CPP = "no instruction counts (--mode callgrind)", "no C++ statements (--language c++)"
_OTHER_CACHE = "set XDG_CACHE_HOME to a folder that only you can write to"
_BROKEN_FILE = (errno.ENOENT, errno.EACCES, errno.ENOEXEC)
"""Errors of starting a program whose file, or whose interpreter, is missing or damaged."""
_LONGEST = 200
_VERSION = re.compile(r"^__version__ = '(.+)'", re.MULTILINE)
_CUDA = re.compile(r"^cuda(?:: [^=]+)? = '(.+)'", re.MULTILINE)
_DRIVER = re.compile(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)")
_DEVICE = re.compile(r"nvidia\d+")
_REINSTALL_TORCH = "pip install --force-reinstall torch"


def timed_statement() -> Measurement:
    """Time a statement in one worker process; nothing is kept. Raises ProfkitError."""
    return measure(_STATEMENT, quick=True, processes=1, timeout_s=_TIMEOUT_S, keep=False)


def worker_check(time: Callable[[], object] = timed_statement, clock: Clock = SYSTEM_CLOCK) -> Check:
    """Try an isolated worker, and return the check of it."""
    started_s = clock.monotonic_s()
    try:
        time()
    except (ProfkitError, OSError) as error:
        took_s = clock.monotonic_s() - started_s
        message, fix = without_fix(error)
        advice = fix or f"profkit measure {_STATEMENT}"
        cost = "nothing can be timed or counted"
        return Check(_GROUP, "isolated worker", Status.FAILED, message, cost, advice, took_s)
    took_s = clock.monotonic_s() - started_s
    found = f"timed a statement; it started and ended within {format_duration(took_s)}"
    return Check(_GROUP, "isolated worker", Status.OK, found, took_s=took_s)


def valgrind_check(system: SystemFacts, environ: Mapping[str, str] = os.environ) -> Check:
    """Run Valgrind, and return the check of it."""
    program = shutil.which("valgrind", path=environ.get("PATH"))
    if program is None:
        fix = system.install("valgrind")
        return Check(_GROUP, "valgrind", Status.SHORTFALL, "not on PATH", _NO_COUNTS, fix)
    path = os.path.abspath(program)
    try:
        version = _version_of(path)
    except _NoVersion as error:
        fix = error.repair(path, "valgrind", system)
        return Check(_GROUP, "valgrind", Status.SHORTFALL, f"{path}: {error}", _NO_COUNTS, fix)
    return Check(_GROUP, "valgrind", Status.OK, f"{version.removeprefix('valgrind-')}, {path}")


def compiler_check(system: SystemFacts, environ: Mapping[str, str] = os.environ) -> Check:
    """Run the C++ compiler that $CXX names, else g++ or c++, and return the check of it."""
    words: dict[str, list[str]] = {}
    for variable in ("CXXFLAGS", "CXX"):
        text = environ.get(variable, "")
        try:
            words[variable] = shlex.split(text)
        except ValueError as error:
            found = f"{variable}={text!r}: {str(error).lower()}"
            return Check(_GROUP, "compiler", Status.SHORTFALL, found, _NO_CPP, f"unset {variable}")
    named = words["CXX"]
    programs = named[:1] or ["g++", "c++"]
    found_programs = (shutil.which(name, path=environ.get("PATH")) for name in programs)
    program = next(filter(None, found_programs), None)
    if program is None:
        found = "$CXX is not on PATH" if named else "neither g++ nor c++ on PATH"
        fix = "unset CXX" if named else system.install("g++")
        return Check(_GROUP, "compiler", Status.SHORTFALL, found, _NO_CPP, fix)
    path = os.path.abspath(program)
    try:
        version = _version_of(path, *named[1:])
    except _NoVersion as error:
        fix = "unset CXX" if named else error.repair(path, "g++", system)
        return Check(_GROUP, "compiler", Status.SHORTFALL, f"{path}: {error}", _NO_CPP, fix)
    return Check(_GROUP, "compiler", Status.OK, f"{version}, {path}")


def cache_check(folder: Callable[[], Path] = default_folder) -> Check:
    """Return the check of the folder of compiled statements, which is not created."""
    try:
        path = folder()
        if os.path.exists(path):
            open_cache(path)
        problem = write_problem(path)
    except (MeasuringError, UsageError) as error:
        message, fix = without_fix(error)
        return Check(_GROUP, "C++ cache", Status.SHORTFALL, message, _NO_CPP, fix or _OTHER_CACHE)
    if problem is not None:
        return Check(_GROUP, "C++ cache", Status.SHORTFALL, f"{path}: {problem}", _NO_CPP, _OTHER_CACHE)
    state = ", writable" if os.path.exists(path) else " does not exist, and can be created"
    return Check(_GROUP, "C++ cache", Status.OK, f"{path}{state}")


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


def torch_checks(system: SystemFacts, root: Path = Path("/")) -> tuple[Check, ...]:
    """Return the checks of torch and of CUDA, from files: importing torch takes seconds."""
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
        return Check(_GROUP, "torch", Status.SHORTFALL, "not installed", cost, "pip install 'profkit[torch]'")
    if version is None:
        found = f"files in {folder} without a version: the installation is incomplete"
        return Check(_GROUP, "torch", Status.SHORTFALL, found, cost, _REINSTALL_TORCH)
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
        return Check(_GROUP, "CUDA", Status.SHORTFALL, f"{found}, torch without CUDA", cost, _REINSTALL_TORCH)
    return Check(_GROUP, "CUDA", Status.OK, found)


def _show_gpus(system: SystemFacts) -> str:
    """Return how to make the devices of GPUs: the driver makes them when it is used first."""
    if system.container.shares_kernel:
        return system.container.grant_gpus()
    return system.as_root("sudo nvidia-modprobe -c 0 -u")


class _NoVersion(Exception):
    def __init__(self, problem: str, *, is_broken: bool = True) -> None:
        super().__init__(problem)
        self._is_broken = is_broken
        """False if the problem is not one of the program, such as a lack of memory."""

    def repair(self, path: str, package: str, system: SystemFacts) -> str:
        """Return how to fix it."""
        return system.reinstall(package) if self._is_broken else f"make sure that `{path} --version` works"


def _version_of(*command: str) -> str:
    try:
        said = capture((*command, "--version"))
    except TimeoutError as error:
        raise _NoVersion(str(error), is_broken=False) from error
    except OSError as error:  # such as a script without an interpreter
        raise _NoVersion(error.strerror or str(error), is_broken=error.errno in _BROKEN_FILE) from error
    if said.code:
        ended = f"exit status {said.code}" if said.code > 0 else f"ended by signal {-said.code}"
        printed = (said.errors or said.output).partition("\n")[0][:_LONGEST]
        raise _NoVersion(f"{ended}: {printed}" if printed else ended)
    if not said.output:
        raise _NoVersion("it does not report its version")
    return said.output.partition("\n")[0]
