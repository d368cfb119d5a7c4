"""SVG flame graphs: XML, names that stay text, calls as wide as their shares, and a bound on their number."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from xml.etree.ElementTree import Element

import pytest

from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.render.options import ReportOptions
from profkit.render.registry import FORMAT_OF_SUFFIX, SAMPLED
from tests.support.example_runs import hostile_run, made_run

SVG = "{http://www.w3.org/2000/svg}"


def drawn(run: Run, options: ReportOptions | None = None) -> Element:
    return ElementTree.fromstring(SAMPLED.renderer("svg")([run], options or ReportOptions(), None))  # type: ignore[arg-type]


def calls(picture: Element) -> dict[str, float]:
    """Return the width of each call by its name."""
    found: dict[str, float] = {}
    for group in picture.iter(f"{SVG}g"):
        title, shape = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert title.text is not None
        assert shape is not None
        found[title.text.split(" (")[0].split(":")[0]] = float(shape.attrib["width"])
    return found


def profile_of(*stacks: tuple[tuple[str, ...], int]) -> Profile:
    builder = ProfileBuilder()
    for names, weight in stacks:
        builder.add(
            tuple(Frame(name, "/srv/app.py", 3) for name in names), Thread(1, 1, "MainThread"), weight
        )
    return builder.build(period_ns=1e7)


def test_calls_are_as_wide_as_their_shares() -> None:
    profile = profile_of((("main", "load"), 75), (("main", "train"), 25))
    widths = calls(drawn(replace(made_run(), profile=profile)))
    assert widths == {"main": 1180.0, "load": 885.0, "train": 295.0}


def test_the_first_sentence_is_above_the_picture() -> None:
    texts = [text.text or "" for text in drawn(made_run()).iter(f"{SVG}text")]
    assert texts[0] == "train_step"
    assert texts[1] == "run 3f2a91c0de"
    assert texts[2].startswith("jitter.<locals>.pixel (vision/data.py:9) takes 41 % ±6 of the time")


def test_hostile_names_are_text() -> None:
    picture = drawn(hostile_run())
    assert {element.tag.removeprefix(SVG) for element in picture.iter()} <= {
        "svg", "style", "text", "g", "title", "rect",
    }  # fmt: skip


def test_small_calls_and_deep_ones_are_left_out() -> None:
    wide = profile_of(*(((f"f{number}",), 1) for number in range(20_000)))
    deep = profile_of((tuple(f"f{number}" for number in range(5_000)), 9))
    assert calls(drawn(replace(made_run(), profile=wide))) == {}
    assert len(calls(drawn(replace(made_run(), profile=deep)))) == 200
    assert len(calls(drawn(replace(made_run(), profile=deep), ReportOptions(depth=7)))) == 7


@pytest.mark.parametrize("profile", [Profile(), None])
def test_a_run_without_samples_says_why(profile: Profile | None) -> None:
    texts = [
        text.text or "" for text in drawn(replace(made_run(samples=0), profile=profile)).iter(f"{SVG}text")
    ]
    assert "no samples" in texts[2]


def test_the_suffix_names_the_format() -> None:
    assert FORMAT_OF_SUFFIX[".svg"] == "svg"
