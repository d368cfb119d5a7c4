"""Where an order's torch lies and how it was built, found without importing it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from profkit.errors import CompileFailed
from profkit.model.workorder import WorkOrder

_ASK = """
import importlib.util, sys
sys.path = [folder for folder in sys.path if folder]
spec = importlib.util.find_spec("torch")
print("\\ntorch:", (spec and spec.origin) or "")
"""
_ASK_TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """What compiling against a torch needs to know of it."""

    root: Path
    version: str
    cxx11_abi: bool
    """Which of libstdc++'s two strings its interfaces use (_GLIBCXX_USE_CXX11_ABI)."""
    standard: str
    """The C++ standard that its own extensions are compiled with, such as "c++20"."""
    built: int
    """When its library was written: tells builds of one version apart."""


def torch_build(order: WorkOrder) -> TorchBuild:
    """The torch that the order's interpreter would import; raises CompileFailed where there is none."""
    root = _asked_root(interpreter(order), order.env) if _is_elsewhere(order) else _own_root()
    if root is None:
        raise CompileFailed(order.label, f"{interpreter(order)[-1]} has no torch, which this statement names")
    try:
        return read_build(root)
    except OSError as error:
        raise CompileFailed(
            order.label, f"the torch in {root} cannot be compiled against: {error}"
        ) from error


def _is_elsewhere(order: WorkOrder) -> bool:
    return bool(order.source_cmd or order.env or order.python)


def interpreter(order: WorkOrder) -> tuple[str, ...]:
    """Return the words that start the order's Python."""
    return (*order.source_cmd, order.python or ("python" if order.source_cmd else sys.executable))


def _own_root() -> Path | None:
    spec = importlib.util.find_spec("torch")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


@cache
def _asked_root(command: tuple[str, ...], env: tuple[tuple[str, str], ...]) -> Path | None:
    try:
        done = subprocess.run(
            [*command, "-c", _ASK],
            env={**os.environ, **dict(env)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_ASK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"^torch: (.+)$", done.stdout, re.MULTILINE)
    return Path(found[1]).parent if found else None


@cache
def read_build(root: Path) -> TorchBuild:
    """What the files of an installed torch say; raises OSError where some are missing."""
    version = re.search(r"^__version__ = '(.+)'", (root / "version.py").read_text("utf-8"), re.MULTILINE)
    standard = re.search(r"-std=(c\+\+\d\w)", (root / "utils/cpp_extension.py").read_text("utf-8"))
    library = root / "lib" / "libc10.so"
    return TorchBuild(
        root=root,
        version=version[1] if version else "",
        # Names of the new strings carry this; a library of the other kind has none in its namespace.
        cxx11_abi=re.search(rb"_ZNK?3c10[^\0]*__cxx11", library.read_bytes()) is not None,
        standard=standard[1] if standard else "c++17",
        built=library.stat().st_mtime_ns,
    )
