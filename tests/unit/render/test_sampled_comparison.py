from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from rich.cells import cell_len

from profkit.errors import UsageError
from profkit.model.comparison import SampledComparison, Undecided
from profkit.model.notes import Finding, FindingCode, Note, NoteCode
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import SAMPLED_COMPARISON
from profkit.render.views.sampled_comparison import diff_rows, unseen_sentence, warnings_of
from profkit.units import Unit
from tests.support.example_sampled_comparisons import deep_comparison, hostile_comparison, made_comparison
from tests.support.golden import check_golden

ONE, THREE, ALIKE, DEEP = "one-run", "three-runs", "alike", "deep"
COMPARISONS = {
    ONE: made_comparison(1),
    THREE: made_comparison(3),
    ALIKE: made_comparison(3, factor=1.0),
    DEEP: deep_comparison(),
}


def shown(comparison: SampledComparison, renderer: str, width: int | None = None, **options: object) -> str:
    return SAMPLED_COMPARISON.renderer(renderer)(comparison, ReportOptions(**options), Terminal(width))  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [None, 120, 50])
@pytest.mark.parametrize("name", [THREE, DEEP])
def test_text(name: str, width: int | None) -> None:
    text = shown(COMPARISONS[name], "text", width)
    check_golden(f"compared-sampled-{name}-{f'width-{width}' if width else 'pipe'}.txt", text)


@pytest.mark.parametrize("width", [40, 50, 80, 100, 120])
@pytest.mark.parametrize("name", COMPARISONS)
def test_text_fits_any_page(name: str, width: int) -> None:
    assert max(map(cell_len, shown(COMPARISONS[name], "text", width).splitlines())) <= width


@pytest.mark.parametrize("name", [ONE, ALIKE])
def test_text_without_certainty(name: str) -> None:
    check_golden(f"compared-sampled-{name}-pipe.txt", shown(COMPARISONS[name], "text"))


def test_text_in_color() -> None:
    text = SAMPLED_COMPARISON.renderer("text")(COMPARISONS[DEEP], ReportOptions(), Terminal(120, color=True))
    check_golden("compared-sampled-deep-color.txt", text)


def test_text_of_everything() -> None:
    check_golden("compared-sampled-deep-show-all.txt", shown(COMPARISONS[DEEP], "text", show_all=True))


@pytest.mark.parametrize(
    ("unit", "total"), [(Unit.SAMPLES, "samples"), (Unit.NANOSECONDS, "µs"), (Unit.BYTES, "KiB")]
)
@pytest.mark.parametrize("renderer", ["text", "markdown"])
def test_sides_have_their_weight_in_words(unit: Unit, total: str, renderer: str) -> None:
    comparison = replace(COMPARISONS[ONE], both=replace(COMPARISONS[ONE].both, unit=unit))
    assert re.search(rf"1 run · [\d.,]+ {total}", shown(comparison, renderer))


@pytest.mark.parametrize("name", COMPARISONS)
def test_markdown(name: str) -> None:
    check_golden(f"compared-sampled-{name}.md", shown(COMPARISONS[name], "markdown"))


def test_json() -> None:
    text = shown(COMPARISONS[THREE], "json")
    check_golden("compared-sampled-three-runs.json", text)
    document = json.loads(text)
    assert document["schema"] == "profkit.comparison/1"
    assert document["different"] is True
    assert document["functions"][0]["self"]["difference"]["change"] == "more"
    assert len(json.loads(shown(COMPARISONS[THREE], "json", limit=1))["functions"]) == 1


def test_rendering_twice_gives_the_same() -> None:
    for renderer in SAMPLED_COMPARISON.formats:
        assert shown(COMPARISONS[DEEP], renderer) == shown(deep_comparison(), renderer)


def head_of(page: str) -> dict[str, object]:
    found = re.search(r'id="profkit-head" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    head = json.loads(found[1])
    assert isinstance(head, dict)
    return head


def test_the_page_has_both_sides_as_threads() -> None:
    head = head_of(shown(COMPARISONS[DEEP], "html"))
    assert head["kind"] == "comparison"
    (run,) = head["runs"]  # type: ignore[misc]
    assert [thread["name"] for thread in run["threads"]] == ["A", "B"]
    rows = head["comparison"]["functions"]  # type: ignore[index, call-overload]
    names = head["functions"]["name"]  # type: ignore[index, call-overload]
    for row, function in zip(rows, COMPARISONS[DEEP].functions, strict=True):
        assert names[row["function"]] == function.name
        assert row["b"] - row["a"] == function.reported.difference.value
        assert row["change"] == function.reported.difference.change.value


def test_a_page_holds_everything() -> None:
    with pytest.raises(UsageError, match="--limit"):
        shown(COMPARISONS[ONE], "html", limit=3)


def test_nothing_changed_is_no_tree() -> None:
    assert not diff_rows(COMPARISONS[ALIKE], show_all=True, most=None)


def test_the_tree_leads_to_what_changed() -> None:
    rows = diff_rows(COMPARISONS[DEEP], show_all=False, most=None)
    changed = {(one.name, one.file) for one in COMPARISONS[DEEP].changed}
    assert rows[0].depth == 0
    assert {(row.name, row.file) for row in rows if row.changed} <= changed
    for above, row in pairwise(rows):
        assert row.depth <= above.depth + 1
        assert row.changed or any(below.depth > row.depth for below in rows)
    few = diff_rows(COMPARISONS[DEEP], show_all=False, most=1)
    assert sum(row.changed for row in few) == 1


@pytest.mark.parametrize("renderer", ["text", "markdown"])
def test_hostile_names_are_shown_as_they_are_written(renderer: str) -> None:
    text = shown(hostile_comparison(), renderer)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert "\\x1b[31mred" in text or "\\\\x1b" in text


def test_hostile_names_are_plain_data_in_json_and_pages() -> None:
    comparison = hostile_comparison()
    assert shown(comparison, "json").isascii()
    head = head_of(shown(comparison, "html"))
    assert "\x1b" not in json.dumps(head, ensure_ascii=False)


@pytest.mark.parametrize("renderer", SAMPLED_COMPARISON.formats)
def test_warnings_about_runs_are_shown_beside_what_they_affect(renderer: str) -> None:
    late = Note.of(NoteCode.SAMPLER_LATE, behind_s=2.5)
    comparison = COMPARISONS[THREE]
    first, *others = comparison.a.runs
    infos = (replace(first, notes=(late,)), *others)
    shown_text = shown(replace(comparison, a=replace(comparison.a, runs=infos)), renderer)
    assert "In 1 of 3 runs: The sampler fell 2.5 s behind" in shown_text
    assert "fell 2.5 s behind" not in shown(comparison, renderer)


@pytest.mark.parametrize("renderer", ["text", "markdown"])
def test_notes_and_warnings_follow_the_result(renderer: str) -> None:
    comparison = COMPARISONS[THREE]
    late = Note.of(NoteCode.SAMPLER_LATE, behind_s=2.5)
    first, *others = comparison.a.runs
    a = replace(comparison.a, runs=(replace(first, notes=(late,)), *others))
    notes = (Finding.of(FindingCode.RATES_DIFFER, low_hz=50.0, high_hz=100.0),)
    text = shown(replace(comparison, a=a, notes=notes), renderer)
    assert text.index("compute") < text.index("adjusted for all functions") < text.index("fell 2.5 s behind")
    assert text.index("fell 2.5 s behind") < text.index("sampling rates differ")


@pytest.mark.parametrize(("factor", "side"), [(2.0, 1), (0.2, 0)])
def test_the_page_opens_on_the_side_that_has_more_of_what_changed(factor: float, side: int) -> None:
    head = head_of(shown(made_comparison(3, factor), "html"))
    assert head["initial"] == {"thread": side}


def test_a_warning_about_both_sides_is_said_once() -> None:
    late = Note.of(NoteCode.SAMPLER_LATE, behind_s=2.5)
    a, b = (
        replace(side, runs=tuple(replace(info, notes=(late,)) for info in side.runs))
        for side in (COMPARISONS[ONE].a, COMPARISONS[ONE].b)
    )
    (found,) = warnings_of(replace(COMPARISONS[ONE], a=a, b=b))
    assert found == ("A and B", "The sampler fell 2.5 s behind and took fewer samples than requested.")


def test_the_runs_that_would_decide_the_largest_difference_are_said() -> None:
    undecided = Undecided("parse", "app.py", -0.024, 6)
    text = unseen_sentence(replace(COMPARISONS[THREE], unseen=0.031, undecided=undecided))
    assert text == (
        "Not seen: differences of up to 3.1 points, which can be noise; about 6 runs per side would decide "
        "the largest, −2.4 points of parse."
    )
    many = unseen_sentence(replace(COMPARISONS[THREE], undecided=replace(undecided, runs=None)))
    assert "more than 30 runs per side" in many
