"""The Firefox Profiler's own code reads what profkit writes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from profkit.formats import firefox
from profkit.units import Unit
from tests.integration.npm_packages import PROFILER_CLI
from tests.unit.exact_profiles import two_threads
from tests.unit.firefox_versions import as_version_48, as_version_75

Answer = dict[str, Any]
Ask = Callable[..., Answer]
Tree = tuple[str, float, list[Any]]
"""A function's name, its own weight, and its callees."""

MAIN_TREE = [("run", 0, [("run", 0, [("step", 1, [])]), ("step", 3, [("JSONEncoder.encode", 1, [])])])]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Callable[[bytes], Ask]]:
    """Loads a profile into the profiler; what comes back asks it, and answers as JSON."""
    program = ["node", str(PROFILER_CLI.folder() / "dist" / "profiler-cli.js")]
    # Its socket lies there, whose path has to be short.
    sessions = tempfile.mkdtemp(prefix="pq-")
    environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": sessions}

    def ask(*words: str) -> Answer:
        done = subprocess.run(
            [*program, *words, "--json"], check=True, stdout=subprocess.PIPE, env=environment, timeout=60
        )
        answer: Answer = json.loads(done.stdout)
        return answer

    def load_profile(data: bytes) -> Ask:
        file = tmp_path / "profile.json"
        file.write_bytes(data)
        subprocess.run([*program, "load", str(file)], check=True, env=environment, timeout=60)
        return ask

    yield load_profile
    subprocess.run([*program, "stop", "--all"], check=True, env=environment, timeout=60)
    shutil.rmtree(sessions)


def tree_of(node: Answer) -> Tree:
    children = [tree_of(child) for child in node["children"]]
    return (node["name"], node["selfSamples"], sorted(children))


def test_the_profiler_shows_threads_and_their_call_trees(load: Callable[[bytes], Ask]) -> None:
    ask = load(firefox.encode(two_threads()))
    threads = ask("thread", "list")["threads"]
    assert [(t["name"], t["pid"], t["tid"]) for t in threads] == [
        ("MainThread", "7", 7), ('load "a"; <b>\n\\udc80', "7", 9),
    ]  # fmt: skip
    main = ask("thread", "samples-top-down", "--thread", "t-0")
    assert main["weightType"] == "samples"
    assert tree_of(main["regularCallTree"])[2] == MAIN_TREE
    other = ask("thread", "samples-top-down", "--thread", "t-1")
    assert tree_of(other["regularCallTree"])[2] == [("lambda", 2, [("é; 日\n\\\\udc80", 3, [])])]


@pytest.mark.parametrize("change", [lambda document: document, as_version_48, as_version_75])
def test_the_profiler_shows_stacks_files_and_lines_of_any_version(
    load: Callable[[bytes], Ask], change: Callable[[Any], Any]
) -> None:
    """Of that which profkit writes, and of those that its reading is tested with."""
    document = change(json.loads(firefox.encode(two_threads())))
    ask = load(json.dumps(document).encode())
    main = ask("thread", "samples-top-down", "--thread", "t-0")
    assert tree_of(main["regularCallTree"])[2] == MAIN_TREE
    annotation = ask("function", "annotate", "f-2")["srcAnnotation"]
    assert annotation["filename"] == "/usr/lib/python3.11/json/encoder.py"
    lines = {line["lineNumber"]: line["selfSamples"] for line in annotation["lines"]}
    assert {line: weight for line, weight in lines.items() if weight} == {200: 1}


@pytest.mark.parametrize(("unit", "word"), [(Unit.NANOSECONDS, "tracing-ms"), (Unit.BYTES, "bytes")])
def test_the_profiler_knows_the_unit(load: Callable[[bytes], Ask], unit: Unit, word: str) -> None:
    profile = two_threads()
    heavy = tuple(sample._replace(weight=sample.weight * 1_000_000) for sample in profile.samples)
    ask = load(firefox.encode(replace(profile, unit=unit, samples=heavy)))
    functions = ask("thread", "functions", "--thread", "t-0")
    assert functions["weightType"] == word
    found = {function["name"]: function["selfSamples"] for function in functions["functions"]}
    factor = 1 if unit is Unit.NANOSECONDS else 1_000_000
    assert found == {"step": 4 * factor, "JSONEncoder.encode": factor, "run": 0}
