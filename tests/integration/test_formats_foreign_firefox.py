"""The Firefox Profiler's own code reads what profkit writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from profkit.formats import firefox
from profkit.units import Unit
from tests.integration.firefox_profiler import Answer, firefox_profiler
from tests.support.exact_profiles import two_threads
from tests.support.firefox_versions import as_version_48, as_version_75

pytestmark = pytest.mark.npm

Tree = tuple[str, float, list[Any]]
"""A function's name, its own weight, and its callees."""

MAIN_TREE = [("run", 0, [("run", 0, [("step", 1, [])]), ("step", 3, [("JSONEncoder.encode", 1, [])])])]


def tree_of(answer: Answer) -> list[Tree]:
    def node(told: Answer) -> Tree:
        return (told["name"], told["selfSamples"], sorted(map(node, told["children"])))

    return node(answer["regularCallTree"])[2]


def test_the_profiler_shows_threads_and_their_call_trees() -> None:
    with firefox_profiler(firefox.encode(two_threads())) as profiler:
        threads = profiler.ask("thread", "list")["threads"]
        main = profiler.ask("thread", "samples-top-down", "--thread", "t-0")
        other = profiler.ask("thread", "samples-top-down", "--thread", "t-1")
    assert [(told["name"], told["pid"], told["tid"]) for told in threads] == [
        ("MainThread", "7", 7), ('load "a"; <b>\n\\udc80', "7", 9),
    ]  # fmt: skip
    assert main["weightType"] == "samples"
    assert tree_of(main) == MAIN_TREE
    assert tree_of(other) == [("lambda", 2, [("é; 日\n\\\\udc80", 3, [])])]


@pytest.mark.parametrize(
    "change", [lambda document: document, as_version_48, as_version_75], ids=["60", "48", "75"]
)
def test_the_profiler_shows_stacks_files_and_lines_of_any_version(change: Callable[[Any], Any]) -> None:
    """Of that which profkit writes, and of those that its reading is tested with."""
    document = change(json.loads(firefox.encode(two_threads())))
    with firefox_profiler(json.dumps(document).encode()) as profiler:
        main = profiler.ask("thread", "samples-top-down", "--thread", "t-0")
        annotation = profiler.ask("function", "annotate", "f-2")["srcAnnotation"]
    assert tree_of(main) == MAIN_TREE
    assert annotation["filename"] == "/usr/lib/python3.11/json/encoder.py"
    lines = {line["lineNumber"]: line["selfSamples"] for line in annotation["lines"]}
    assert {line: weight for line, weight in lines.items() if weight} == {200: 1}


@pytest.mark.parametrize(("unit", "word"), [(Unit.NANOSECONDS, "tracing-ms"), (Unit.BYTES, "bytes")])
def test_the_profiler_knows_the_unit(unit: Unit, word: str) -> None:
    profile = two_threads()
    heavy = tuple(sample._replace(weight=sample.weight * 1_000_000) for sample in profile.samples)
    with firefox_profiler(firefox.encode(replace(profile, unit=unit, samples=heavy))) as profiler:
        functions = profiler.ask("thread", "functions", "--thread", "t-0")
    assert functions["weightType"] == word
    found = {function["name"]: function["selfSamples"] for function in functions["functions"]}
    factor = 1 if unit is Unit.NANOSECONDS else 1_000_000
    assert found == {"step": 4 * factor, "JSONEncoder.encode": factor, "run": 0}
