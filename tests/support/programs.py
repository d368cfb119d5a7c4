"""Markers for the programs and libraries that tests need, and a guard that finds tests without one."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
import sysconfig
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MARKER_OF_FIXTURE = {"chromium": "browser", "postgres": "postgres"}
"""A test that uses one of these fixtures, also through another one, gets the marker by itself."""

MARKER_OF_IMPORT = {"torch": "torch"}
"""A test whose module imports one of these libraries gets the marker by itself."""

PROGRAMS = {
    "sampler": ("py-spy",),
    "browser": ("chromium",),
    "valgrind": ("valgrind", "callgrind_annotate"),
    "perf": ("perf",),
    "npm": ("npm", "node"),
    "go": ("go",),
}
"""Programs on PATH that a test may start only with the marker. PostgreSQL is started by its fixture alone."""

ASKED_FOR = ("neighbours", "slow", "full")
"""Tests with these markers are left out unless `-m` names one of them."""

SINCE = {"reader": (3, 14), "states": (3, 15)}
"""Tests with these markers are left out with earlier versions of Python."""


FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
"""Tests marked `gil` are left out with a free-threaded build."""


def names(expression: str, marker: str) -> bool:
    """Whether an expression of `-m` names a marker."""
    return re.search(rf"\b{marker}\b", expression) is not None


def mark(item: pytest.Item) -> None:
    """Add the markers that follow from a test's fixtures and from what its module imports."""
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in MARKER_OF_FIXTURE:
            item.add_marker(MARKER_OF_FIXTURE[fixture])
    for marker in _imported(item):
        item.add_marker(marker)


def _imported(item: pytest.Item) -> set[str]:
    values = vars(getattr(item, "module", None) or object).values()
    origins = {getattr(value, "__module__", None) or getattr(value, "__name__", "") for value in values}
    libraries = {str(origin).partition(".")[0] for origin in origins}
    return {marker for library, marker in MARKER_OF_IMPORT.items() if library in libraries}


def needs_missing_library(module: Path, expression: str) -> bool:
    """Whether a test module cannot be imported here, and `-m` names the library that it lacks."""
    missing = [
        library
        for library, marker in MARKER_OF_IMPORT.items()
        if names(expression, marker) and importlib.util.find_spec(library) is None
    ]
    return bool(missing) and not _imports_of(module).isdisjoint(missing)


def _imports_of(module: Path) -> set[str]:
    """Return the packages that a module imports at its top level."""
    found: set[str] = set()
    for node in ast.parse(module.read_bytes()).body:
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def is_left_out(item: pytest.Item, expression: str) -> bool:
    """Whether a test cannot run with this Python, or has to be asked for, and nobody did."""
    if any(sys.version_info < since and item.get_closest_marker(one) for one, since in SINCE.items()):
        return True
    if FREE_THREADED and item.get_closest_marker("gil"):
        return True
    if FREE_THREADED and sys.version_info < SINCE["states"] and item.get_closest_marker("outside"):
        return True
    if any(names(expression, marker) for marker in ASKED_FOR):
        return False
    return any(item.get_closest_marker(marker) for marker in ASKED_FOR)


def left_out_programs(expression: str, items: Collection[pytest.Item]) -> list[tuple[str, str]]:
    """Return the programs, each with its marker, that `-m` names and that no selected test may start."""
    return [
        (program, marker)
        for marker, programs in PROGRAMS.items()
        if names(expression, marker) and not any(item.get_closest_marker(marker) for item in items)
        for program in programs
    ]


@contextmanager
def failing(programs: Collection[tuple[str, str]]) -> Iterator[None]:
    """Put programs first on PATH that fail and say which marker their test lacks."""
    path = os.environ["PATH"]
    with tempfile.TemporaryDirectory(prefix="profkit-tests-programs-") as folder:
        for program, marker in programs:
            script = Path(folder) / program
            script.write_text(f"#!/bin/sh\necho '{program}: mark this test `{marker}`' >&2\nexit 97\n")
            script.chmod(0o755)
        os.environ["PATH"] = f"{folder}{os.pathsep}{path}"
        try:
            yield
        finally:
            os.environ["PATH"] = path
