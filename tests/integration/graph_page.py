"""Pages for the tests of the graph, and what their graph shows in terms of names."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Page

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.render.html.sampled import sampled_html
from tests.support.example_runs import RESOURCES, made_run

EVIL = (
    "<script>window.pwned = 1</script>",
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 1'>",
    "{{7*7}}${7*7}",
    "\u202egnp.exe\u2066",
    "javascript:window.pwned=1",
    "-->]]><!--<style>*{display:none}</style>",
    "__proto__",
    "constructor",
)
"""Names that try to be markup, script, templates, text from right to left, or properties of objects."""

PLACED = """() => {
  const tree = profkit.graph.view().tree;
  return profkit.graph.frames().filter((frame) => !frame.small).map((frame) => ({
    ...frame, name: profkit.boxName(profkit.graph.view(), frame.spot), total: tree.total[frame.node],
  }));
}"""

TREE = """() => {
  const tree = profkit.currentTree();
  return Array.from(tree.fn, (_, node) => [
    profkit.pathTo(tree, node).map((each) => profkit.head.functions.name[tree.fn[each]]).join(";"),
    tree.self[node], tree.total[node],
  ]);
}"""

CORNER = """() => {
  const copy = new OffscreenCanvas(1, 1).getContext("2d");
  copy.drawImage(profkit.graph.canvas, -2, -2);
  return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""
"""The colour of the graph's ground."""

COLOURED = """() => {
  const { width, height } = profkit.graph.canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(profkit.graph.canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += data[i + 2] - data[i + 1] > 30;
  return count;
}"""
"""Pixels that are more blue than green, as those of matches are, and faint ones of them."""


def page_html(profile: Profile | None = None, names: Sequence[str] = ()) -> str:
    """The page of the made run, or of another profile; `names` are further functions below its first."""
    run = made_run()
    if names:
        profile = _with_names(names)
    return sampled_html([run if profile is None else Run(run.info, profile, RESOURCES)])


def _with_names(names: Sequence[str]) -> Profile:
    builder = ProfileBuilder()
    for number, name in enumerate(names):
        stack = (Frame("start", "/srv/start.py", 1), Frame(name, f"/srv/{name}.py", number + 1))
        builder.add(stack, Thread(1, 1, name), 10)
    return builder.build(period_ns=1e7)


def drawn(page: Page) -> list[dict[str, object]]:
    """The frames that are wide enough to be drawn by themselves, with names and totals."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    frames = page.evaluate(PLACED)
    assert isinstance(frames, list)
    return frames


def frame_of(page: Page, name: str) -> dict[str, object]:
    """The first drawn frame of that name."""
    return next(frame for frame in drawn(page) if frame["name"] == name)


def click(page: Page, name: str, count: int = 1) -> None:
    """Click into the middle of a frame."""
    page.locator("canvas").click(position=middle(frame_of(page, name)), click_count=count)


def middle(frame: dict[str, object]) -> dict[str, float]:
    """The middle of a frame, from the canvas's corner."""
    x, y, width, height = (float(str(frame[side])) for side in ("x", "y", "width", "height"))
    return {"x": x + width / 2, "y": y + height / 2}


def width_of(page: Page) -> float:
    """How wide the graph is, in pixels."""
    return float(page.evaluate("profkit.graph.canvas.clientWidth"))
