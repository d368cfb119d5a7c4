"""Files of cProfile and Callgrind: agreement of reports with the files, and accuracy of the tree."""

from __future__ import annotations

import json
import os
import pstats
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.children import environment
from benchmarks.figures import Figure

MIN_SHARE = 0.01
"""Minimum part of the whole, by self or total, of the compared functions."""
DJANGO = """
import sys, types
from django.conf import settings
sys.modules["urls"] = types.ModuleType("urls")
sys.modules["urls"].urlpatterns = []
contrib = ("auth", "contenttypes", "sessions", "messages", "staticfiles")
settings.configure(
    INSTALLED_APPS=[f"django.contrib.{name}" for name in contrib], ROOT_URLCONF="urls", SECRET_KEY="x",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
"""
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "http.server": ("-m", "http.server", "--help"),
    "json.tool": ("-m", "json.tool", "--help"),
    "unittest": ("-m", "unittest", "--help"),
    "pydoc": ("-m", "pydoc", "json"),
    "pip": ("-m", "pip", "--version"),
    "pytest": ("-m", "pytest", "--version"),
    "numpy": ("import numpy",),
    "sqlalchemy": ("import sqlalchemy.orm",),
    "django check": (DJANGO,),
    "torch": ("import torch",),
}
"""Arguments of Python, or the text of a script: programs with many, and so recursive, imports."""
QUICK = ("http.server", "json.tool", "unittest")

Function = tuple[str, str, int]
"""Name, file and line; Callgrind does not know the line: 0."""


class Cost(NamedTuple):
    """Self and total cost, in nanoseconds or instructions."""

    own: int
    total: int


class Shown(NamedTuple):
    """Costs of functions in a report."""

    functions: Mapping[Function, Cost]
    tree: Mapping[Function, int]
    """Weight below each function in the tree, itself included; recursion counts once."""


class Compared(NamedTuple):
    """Functions with at least 1 % of the whole, and those of them that a report shows differently."""

    large: int
    differing: tuple[Function, ...]
    points: float
    """Mean difference between the large functions' shares in the tree and in the stated totals, in points."""


def measure(quick: bool) -> list[Figure]:
    """Profile the programs, import and report the files, and compare each function."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="profkit-call-graphs-") as folder:
        for name in QUICK if quick else PROGRAMS:
            path = statistics_of(PROGRAMS[name], Path(folder))
            compared = compare(stated_by_pstats(path), shown(path))
            figures += [_differing("cProfile", name, compared), _distance(name, compared)]
        for name in QUICK[:1] if quick else PROGRAMS:
            path = dump_of(PROGRAMS[name], Path(folder))
            figures.append(_differing("Callgrind", name, compare(stated_by_annotate(path), shown(path))))
    return figures


def _differing(tool: str, name: str, compared: Compared) -> Figure:
    detail = f"of {compared.large}" + "".join(f", {function[0]}" for function in compared.differing[:3])
    what = f"functions ≥ 1 % that differ, {tool}, {name}"
    return Figure(what, len(compared.differing), "", 0, certain=True, detail=detail)


def _distance(name: str, compared: Compared) -> Figure:
    """Return the tree's error; not for Callgrind, whose totals count recursion more than once."""
    what = f"mean distance of their shares in the tree, {name}"
    return Figure(what, compared.points, "points", certain=True)


def compare(stated: Mapping[Function, Cost], reported: Shown) -> Compared:
    """Compare each large function's self and total exactly, and its part of the tree."""
    whole = sum(cost.own for cost in stated.values())
    large = {function: cost for function, cost in stated.items() if max(cost) >= MIN_SHARE * whole}
    differing = tuple(
        function for function, cost in large.items() if reported.functions.get(function) != cost
    )
    distance = sum(abs(cost.total - reported.tree.get(function, 0)) for function, cost in large.items())
    return Compared(len(large), differing, 100 * distance / whole / len(large))


def statistics_of(arguments: tuple[str, ...], folder: Path) -> Path:
    """Run a program under cProfile, and return its file."""
    path = folder / "taken.prof"
    _run("-m", "cProfile", "-o", str(path), *_in_a_file(arguments, folder), cwd=folder)
    return path


def dump_of(arguments: tuple[str, ...], folder: Path) -> Path:
    """Run a program under Callgrind, and return its file."""
    path = folder / "callgrind.out"
    valgrind = ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={path}")
    _run(*_in_a_file(arguments, folder), cwd=folder, before=valgrind)
    return path


def stated_by_pstats(path: Path) -> Mapping[Function, Cost]:
    """Return `tottime` and `cumtime` as `pstats` prints them."""
    entries = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]
    return {
        (name, "" if file == "~" else file, line): Cost(round(own_s * 1e9), round(total_s * 1e9))
        for (file, line, name), (_, _, own_s, total_s, _) in entries.items()
    }


def stated_by_annotate(path: Path) -> Mapping[Function, Cost]:
    """Return the output of `callgrind_annotate` without and with `--inclusive=yes`."""
    own, total = dict(_annotated(path)), dict(_annotated(path, "--inclusive=yes"))
    return {function: Cost(own.get(function, 0), total[function]) for function in total}


def split_annotated(text: str) -> tuple[str, str]:
    """Split a function's name from its library, a path or ???; names of C++ can contain brackets too."""
    name, library = re.findall(r"^(.*?)(?: \[(/.*|\?\?\?)\])?$", text)[0]
    return name, library


def shown(path: Path) -> Shown:
    """Return the `profkit report --json` of a file after `profkit import`."""
    environ = {"PROFKIT_STORE": f"sqlite:///{path.parent}/{path.name}.db"}
    _run("-m", "profkit", "import", str(path), "--label", path.name, cwd=path.parent, environ=environ)
    report = ("-m", "profkit", "report", path.name, "--json", "--show-all")
    document = json.loads(_run(*report, cwd=path.parent, environ=environ))
    costs = {_function(row): Cost(row["self_samples"], row["total_samples"]) for row in document["functions"]}
    return Shown(costs, _below(document["tree"]))


def _below(root: Mapping[str, Any]) -> Mapping[Function, int]:
    """Add up the outermost calls of each function in a tree."""
    found: Counter[Function] = Counter()
    pending: list[tuple[Mapping[str, Any], frozenset[Function]]] = [(root, frozenset())]
    while pending:
        node, above = pending.pop()
        function = _function(node)
        if function not in above:
            found[function] += node["total_samples"]
        pending += [(child, above | {function}) for child in node["children"]]
    return found


def _function(row: Mapping[str, Any]) -> Function:
    return row["name"], row["file"], row["line"]


def _annotated(path: Path, *options: str) -> Iterator[tuple[Function, int]]:
    command = ["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", *options, str(path)]
    # In the root folder, because it removes the current folder from some names only.
    environ = {**os.environ, "LC_ALL": "C"}
    text = subprocess.run(command, cwd="/", env=environ, check=True, capture_output=True, text=True).stdout
    rows = re.split(r"\nIr +file:function\n-+\n", text, maxsplit=1)[1].split("\n\n")[0]
    for row in rows.split("\n"):
        count, name = row.strip(" ").split(" ", 1)
        file, _, rest = name.strip(" ").partition(":")
        function, shared_object = split_annotated(rest)
        place = shared_object if file == "???" else file
        yield (
            (function, "" if place == "???" else place, 0),
            0 if count == "." else int(count.replace(",", "")),
        )


def _in_a_file(arguments: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """Write a script, so that cProfile can run it."""
    if len(arguments) > 1:
        return arguments
    script = folder / "script.py"
    script.write_text(arguments[0], "utf-8")
    return (str(script),)


def _run(
    *arguments: str, cwd: Path, environ: Mapping[str, str] | None = None, before: tuple[str, ...] = ()
) -> str:
    command = [*before, sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=cwd, env={**environment(), **(environ or {})}, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout
