"""Reports of programs with a planted bottleneck name it in their first lines, and pages without a click."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.harness import PROGRAMS, await_samplers_end, profkit, run_program
from tests.support.html_pages import read_page

pytestmark = [pytest.mark.sampler, pytest.mark.timeout(120), pytest.mark.outside]

FIRST_LINES = 10
SCENES = {
    "cpu": ("crunch",),
    "sleep": ("nap", "sleeps"),
    "lock": ("crunch", "guarded", "waits"),
    "gil": ("crunch", "GIL"),
    "c_call": ("order",),
    "recursion": ("fib",),
    "pool": ("render", "[pprint]"),
    "imports": ("slow_plugin",),
    "loader": ("train", "waits", "a queue"),
    "child": ("convert", "waits", "a child process"),
    "disk": ("save",),
    "regex": ("parse",),
    "attribute": ("Model.weight",),
    "generator": ("rows",),
    "event_loop": ("fetch", "sleeps"),
    "exceptions": ("read_all",),
    "text": ("serialize", "[pprint]"),
    "copies": ("snapshot", "[copy]"),
    "key": ("by_distance",),
    "hashing": ("derive",),
}
QUICK = ("loader", "gil", "pool")


@pytest.mark.parametrize(
    "scene",
    [
        pytest.param(
            scene,
            marks=[
                *([] if scene in QUICK else [pytest.mark.full]),
                *([pytest.mark.gil] if scene == "gil" else []),
            ],
        )
        for scene in SCENES
    ],
)
def test_the_bottleneck_is_named(tmp_path: Path, scene: str) -> None:
    run_program(tmp_path, [str(PROGRAMS / "bottlenecks.py"), scene], code=0)
    await_samplers_end(tmp_path)
    report = profkit(tmp_path, "report", scene)
    first = "\n".join(report.stdout.splitlines()[:FIRST_LINES])
    assert [word for word in SCENES[scene] if word not in first] == [], first
    profkit(tmp_path, "report", scene, "--html", "-o", "page.html")
    sentences = " ".join(read_page((tmp_path / "page.html").read_text("utf-8")).head["runs"][0]["summary"])
    assert [word for word in SCENES[scene] if word not in sentences] == [], sentences
