"""Programs of npm's read what profkit writes: speedscope, the Firefox Profiler, a reader of pprof files."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from playwright.sync_api import Browser

from profkit.formats import chrome_trace, firefox, pprof, speedscope
from profkit.formats.registry import TimeSpan
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.units import Unit
from tests.integration.browser import running_chromium
from tests.integration.firefox_profiler import Answer, firefox_profiler
from tests.integration.npm_packages import PPROF_FORMAT, SPEEDSCOPE
from tests.support.exact_profiles import two_threads
from tests.support.firefox_versions import as_version_48, as_version_75

pytestmark = pytest.mark.npm

ROW = re.compile(r"(\S+)[mn]s \([<>\d.]+%\)\s+(\S+)[mn]s \([<>\d.]+%\)\s+(\S+)")
# Its command line drops the program from the file if its own code was sampled before it.
PYINSTRUMENT = """
import runpy, sys
from pyinstrument import Profiler
from pyinstrument.renderers import SpeedscopeRenderer
with Profiler() as profiler:
    runpy.run_path(sys.argv[1], run_name="__main__")
with open(sys.argv[2], "w") as file:
    file.write(profiler.output(SpeedscopeRenderer()))
"""
CHAIN = """
import time

def spin(end):
    while time.thread_time() < end:
        sum(range(100))

def first():
    spin(time.thread_time() + 0.2)

def second():
    spin(time.thread_time() + 0.1)

first()
second()
"""


@pytest.fixture(scope="module")
def release() -> Path:
    """The page and the schema that the package has."""
    return SPEEDSCOPE.folder() / "dist" / "release"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with running_chromium() as browser:
        yield browser


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("period_ns", [0.0, 1e7, 1e9 / 97])
def test_files_are_what_speedscopes_schema_says(release: Path, unit: Unit, period_ns: float) -> None:
    schema = json.loads((release / "file-format-schema.json").read_text())
    data = speedscope.encode(replace(two_threads(), unit=unit, period_ns=period_ns))
    jsonschema.validate(json.loads(data), schema)


@pytest.mark.parametrize("codec", [speedscope, chrome_trace], ids=["speedscope", "chrome-trace"])
def test_speedscopes_page_shows_functions_and_their_times(
    release: Path, chromium: Browser, tmp_path: Path, codec: object
) -> None:
    encode = chrome_trace.encode if codec is chrome_trace else speedscope.encode
    file = tmp_path / "two-threads.json"
    # A period of no whole number of nanoseconds: calls that end together have to do so for floats too.
    file.write_bytes(encode(replace(two_threads(), period_ns=1e9 / 97)))
    page = chromium.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(f"Tried and failed: {error}"))
    page.goto((release / "index.html").as_uri())
    page.set_input_files("input[type=file]", file)
    page.get_by_text("MainThread").first.wait_for()
    page.keyboard.press("3")
    page.get_by_text("Symbol Name").wait_for()
    rows = {name: (total, own) for total, own, name in ROW.findall(page.inner_text("body"))}
    page.close()
    assert rows == {
        "step": ("51.55", "41.24"), "JSONEncoder.encode": ("10.31", "10.31"), "run": ("51.55", "0.00"),
    }  # fmt: skip
    assert [line for line in said if "Tried" in line] == []


def test_what_pyinstrument_writes_is_read(tmp_path: Path) -> None:
    """It writes evented profiles, in seconds."""
    script, output = tmp_path / "chain.py", tmp_path / "chain.speedscope.json"
    script.write_text(CHAIN)
    subprocess.run([sys.executable, "-c", PYINSTRUMENT, script, output], check=True, timeout=60)
    data = output.read_bytes()
    assert speedscope.sniff(data)
    assert speedscope.origin_of(data).tool.startswith("pyinstrument")
    profile = speedscope.decode(data, output)
    assert profile.unit is Unit.NANOSECONDS
    weights = dict.fromkeys(("first", "second"), 0)
    for stack, _, weight in profile.samples:
        for name in {profile.frames[frame].name for frame in profile.stacks[stack]} & weights.keys():
            weights[name] += weight
    assert weights == {name: pytest.approx(_spent_s(data, name) * 1e9, rel=1e-6) for name in weights}
    assert all(weights.values())
    assert {frame.file for frame in profile.frames if frame.name == "spin"} == {str(script)}


def _spent_s(data: bytes, name: str) -> float:
    """From each opening of a function to its close."""
    document = json.loads(data)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    events = [event for event in document["profiles"][0]["events"] if frames[event["frame"]] == name]
    return sum(event["at"] if event["type"] == "C" else -event["at"] for event in events)


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


SCRIPT = """
const {Profile} = require(process.argv[1] + "/dist/commonjs/index.js");
const read = Profile.decode(require("fs").readFileSync(process.argv[2]));
const text = index => read.stringTable.strings[index];
console.log(JSON.stringify({
  values: read.sample.map(sample => sample.value.map(Number)),
  functions: read.function.map(entry => text(entry.name)),
  comments: read.comment.map(text),
  time: Number(read.timeNanos), duration: Number(read.durationNanos), period: Number(read.period),
}));
"""


def test_an_ordered_profile(tmp_path: Path) -> None:
    builder = ProfileBuilder()
    run, leaf = Frame("run", "/app/a.py", 3), Frame("leaf", "/app/b.py", 9)
    for count in range(1, 301):
        builder.add((run, leaf) if count % 3 else (run,), Thread(7, 7, "MainThread"), count)
    profile = builder.build(period_ns=1e7)
    file = tmp_path / "x.pb"
    file.write_bytes(gzip.decompress(pprof.encode_timed(profile, TimeSpan(17 * 10**9, 5 * 10**9))))
    command = ["node", "-e", SCRIPT, str(PPROF_FORMAT.folder()), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    read = json.loads(done.stdout)
    in_leaf = sum(count for count in range(301) if count % 3)
    in_run = sum(range(301)) - in_leaf
    assert sorted(read["values"]) == sorted([[n, n * 10_000_000] for n in (in_leaf, in_run)])
    assert set(read["functions"]) == {"run", "leaf"}
    assert (read["time"], read["duration"], read["period"]) == (17 * 10**9, 5 * 10**9, 10_000_000)
    assert [comment.split()[0] for comment in read["comments"]] == ["profkit.pprof/1", "#profkit.turns/1"]
