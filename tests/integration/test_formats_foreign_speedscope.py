"""speedscope itself reads what profkit writes, and profkit what others write for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from playwright.sync_api import Browser

from profkit.formats import chrome_trace, speedscope
from profkit.units import Unit
from tests.integration.browser import running_chromium
from tests.integration.npm_packages import SPEEDSCOPE
from tests.support.exact_profiles import two_threads

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
