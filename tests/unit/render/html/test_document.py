"""A page is one file in which nothing runs but its own scripts, whatever names a program has."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

from profkit.model.notes import Note, NoteCode
from profkit.model.profile import Frame, ProfileBuilder, Thread
from profkit.model.run import Run
from profkit.render.html.document import STYLES, Columns, asset, html_page, safe_json, script
from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from tests.support.example_measurements import both, hostile
from tests.support.example_runs import INFO, RESOURCES, hostile_run, labelled, made_run
from tests.support.html_pages import HtmlPage, read_page

MARKUP = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "]]>",
    "{{7*7}}${7*7}<!--data-->",
    "\"'`&quot;&#x3c;",
    "line\u2028separator\u2029",
    "\u202eevil\u2066",
    "lone \ud800 surrogate",
    "\0\x1b[31m",
)


def marked_run() -> Run:
    """A run whose every text holds markup."""
    builder = ProfileBuilder()
    for number, name in enumerate(MARKUP):
        builder.add(
            (Frame(name, f"/{name}.py", 3), Frame(f"{name}!", f"{name}.so", 1)), Thread(1, number, name), 5
        )
    text = " ".join(MARKUP)
    region = replace(
        INFO.region, key=replace(INFO.region.key, label=text, module=text), tags=MARKUP, user=text
    )
    process = replace(INFO.process, cwd=text, host=text, argv=MARKUP)
    notes = tuple(Note.of(NoteCode.RUN_FAILED, detail=mark) for mark in MARKUP)
    info = replace(INFO, id=text, region=region, process=process, error=text, notes=notes)
    return Run(info, builder.build(period_ns=1e7), RESOURCES)


def skeleton(page: HtmlPage) -> list[tuple[str, tuple[str, ...]]]:
    return [(element.name, tuple(element.attributes)) for element in page.elements]


@pytest.mark.parametrize(
    ("harmless", "other"),
    [
        (sampled_html([made_run()]), sampled_html([marked_run()])),
        (sampled_html([made_run()]), sampled_html([hostile_run(), marked_run()])),
        (measured_html([both()]), measured_html([hostile()])),
    ],
    ids=["markup", "terminal", "measured"],
)
def test_names_add_no_element_and_no_script(harmless: str, other: str) -> None:
    expected, page = read_page(harmless), read_page(other)
    assert skeleton(page) == skeleton(expected)
    assert [element.text for element in page.code()] == [element.text for element in expected.code()]
    written = other.replace("\n", "")
    assert written.isprintable(), [char for char in written if not char.isprintable()]


def test_names_can_be_read_but_do_not_print_as_something_else() -> None:
    head = read_page(sampled_html([marked_run()])).head
    assert head["functions"]["name"][:2] == [
        "</script><script>alert(1)</script>",
        "</script><script>alert(1)</script>!",
    ]
    assert "\\u202eevil\\u2066" in head["functions"]["name"]
    assert "lone \\ud800 surrogate" in head["functions"]["name"]
    texts = json.dumps(head, ensure_ascii=False)
    assert texts.isprintable()


def test_json_holds_no_markup() -> None:
    value = {"<!--": ["</script>", "&", "\u2028", "\ud800", 1.5, None, True]}
    text = safe_json(value)
    assert re.search(r"[<>&\u2028\ud800]", text) is None
    assert json.loads(text) == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        safe_json(float("nan"))


def test_the_policy_allows_these_very_texts_and_nothing_else() -> None:
    page = read_page(sampled_html([made_run()]))
    (policy,) = (
        element.attributes["content"]
        for element in page.named("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("script-src") == hashes(element.text for element in page.code())
    assert rules.pop("style-src") == hashes(element.text for element in page.named("style"))
    assert rules == {
        "default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip


def hashes(texts: object) -> str:
    assert not isinstance(texts, str)
    digests = (hashlib.sha256(text.encode()).digest() for text in texts)  # type: ignore[attr-defined]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


@pytest.mark.parametrize("name", STYLES)
def test_style_sheets_are_short(name: str) -> None:
    assert asset(name).count("\n") <= 300, "keep files of the page short"


@pytest.mark.parametrize("text", [script(), *map(asset, STYLES)], ids=["script", *STYLES])
def test_assets_stay_within_their_element(text: str) -> None:
    assert re.search(r"</(?:script|style)|<!--", text, re.IGNORECASE) is None
    assert "\r" not in text


def test_nothing_is_loaded() -> None:
    page = read_page(sampled_html([made_run()]))
    names = {name for element in page.elements for name in element.attributes}
    assert not names & {"src", "href", "style", "srcset", "action"}


def test_the_same_run_gives_the_same_bytes() -> None:
    assert sampled_html([made_run()]) == sampled_html([made_run()])
    assert measured_html([both()]) == measured_html([both()])


def test_the_title_is_text() -> None:
    page = html_page({"kind": "sampled", "title": "</title><b>&amp;\n"}, Columns())
    assert "<title>&lt;/title&gt;&lt;b&gt;&amp;amp;\\n</title>" in page
    assert read_page(sampled_html([labelled("aa", "<train>")])).head["title"] == "<train> – profkit"
