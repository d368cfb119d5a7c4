"""Every Python block in the docs runs as a program of its own, and every example does."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path

import pytest

from tests.integration.harness import run_program

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COUNTS, TORCH = 'mode="callgrind"', "import torch"
FRAMEWORKS = ("from fastapi import", "from flask import", "from distributed import", 'mode="memory"')


def needs(source: str) -> list[pytest.MarkDecorator]:
    """Return marks for what a program needs."""
    marks = [(COUNTS, pytest.mark.valgrind), (TORCH, pytest.mark.torch)]
    marks += [(text, pytest.mark.neighbours) for text in FRAMEWORKS]
    return [mark for text, mark in marks if text in source]


BLOCKS = [
    pytest.param(source, id=f"{page.stem}-{number}", marks=needs(source))
    for page in PAGES
    for number, source in enumerate(BLOCK.findall(page.read_text("utf-8")), 1)
]
EXAMPLES = [
    pytest.param(path, id=path.stem, marks=needs(path.read_text("utf-8")))
    for path in sorted((ROOT / "examples").glob("*.py"))
]


@pytest.mark.sampler
@pytest.mark.parametrize("source", BLOCKS)
def test_block(source: str, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(source, "utf-8")
    done = run_program(tmp_path, [str(script)], code=0)
    assert "unprofiled" not in done.stderr
    assert "profiling stopped" not in done.stderr
    assert "without samples" not in done.stderr


@pytest.mark.sampler
@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: Path, tmp_path: Path) -> None:
    run_program(tmp_path, [str(example)], code=0)
    assert (tmp_path / ".profkit").is_dir(), "the example profiled nothing"


@pytest.mark.sampler
@pytest.mark.torch
@pytest.mark.full
def test_the_main_job_shows_that_the_pipeline_takes_most_time(tmp_path: Path) -> None:
    run_program(tmp_path, [str(ROOT / "examples" / "quickstart.py")], code=0)
    report = run_program(tmp_path, ["-m", "profkit", "report", "train", "--json"])
    first, *_ = json.loads(report.stdout)["summary"]
    assert first.startswith("load_batch ")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_option_of_measuring_is_explained() -> None:
    from profkit.measuring.orders import MeasureOptions

    text = (ROOT / "docs" / "measuring.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert set(MeasureOptions.__annotations__) | {"keep", "isolated"} <= explained


def test_every_warning_is_explained_with_its_figures() -> None:
    from profkit.measuring import warnings
    from profkit.model.measurement import WarningCode

    text = (ROOT / "docs" / "measuring.md").read_text("utf-8")
    table = text.partition("### Warnings\n")[2].partition("\n### ")[0]
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) ?\|", table, re.MULTILINE))
    assert set(rows) == {code.value for code in WarningCode}
    for call in ast.walk(ast.parse(inspect.getsource(warnings))):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "MeasurementWarning.of":
            for name in re.findall(r"WarningCode\.(\w+)", ast.unparse(call.args[0])):
                shown = set(re.findall(r"`(\w+)`", rows[WarningCode[name].value]))
                assert {keyword.arg for keyword in call.keywords if keyword.arg} <= shown


def test_pages_use_the_public_names_only() -> None:
    for block in BLOCKS:
        (source,) = block.values
        assert not re.search(r"^\s*(from|import) profkit\.(?!integrations\b)", source, re.MULTILINE), block.id


def test_every_option_of_web_services_is_explained() -> None:
    from profkit.integrations.web.options import WebOptions

    table = (ROOT / "docs" / "web.md").read_text("utf-8").partition("## Options\n")[2].partition("\n## ")[0]
    explained = {
        name
        for row in table.splitlines()
        for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    }
    assert set(WebOptions.__annotations__) == explained


def test_every_option_is_explained() -> None:
    from profkit.calls.keywords import ProfilerOptions

    text = (ROOT / "docs" / "options.md").read_text("utf-8")
    assert [name for name in ProfilerOptions.__annotations__ if f"| `{name}` |" not in text] == []
