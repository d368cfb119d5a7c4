"""The scripts of the HTML page: their bundle is fresh, and they pass their own checks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from profkit.render.html.measured import measured_html
from profkit.render.html.sampled import sampled_html
from profkit.render.options import ReportOptions, Terminal
from profkit.render.registry import HISTORY, MEASURED_COMPARISON, SAMPLED_COMPARISON
from tests.integration.npm_packages import install_locked
from tests.support.example_measurements import both, failed, hostile
from tests.support.example_runs import hostile_run, made_run
from tests.support.example_sampled_comparisons import hostile_comparison, made_comparison
from tests.support.html_pages import read_page
from tests.unit.render.test_measured_comparison import batches, history
from tests.unit.render.test_merged import merged_run

HTML = Path(__file__).parents[2] / "profkit" / "render" / "html"
REBUILD = "the shipped page.js is not what its sources say: run `npm run build` in profkit/render/html/page"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with their tools beside them."""
    folder = tmp_path_factory.mktemp("html") / "page"
    shutil.copytree(HTML / "page", folder, ignore=shutil.ignore_patterns("node_modules"))
    (folder / "node_modules").symlink_to(install_locked(HTML / "page"))
    return folder


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        env=os.environ | {"NO_COLOR": "1"},
    )


@pytest.mark.slow
def test_the_shipped_script_is_made_of_the_sources(project: Path) -> None:
    done = run(project, "npm", "run", "build")
    assert done.returncode == 0, done.stdout
    assert (project.parent / "page.js").read_bytes() == (HTML / "page.js").read_bytes(), REBUILD


@pytest.mark.parametrize("check", ["types", "lint", "test"])
@pytest.mark.slow
def test_the_sources_pass(project: Path, check: str) -> None:
    done = run(project, "npm", "run", check)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("check", "file", "text"),
    [
        ("types", "scripts/data/wrong.ts", "export const size = (tree) => tree.length;\n"),
        ("lint", "scripts/data/wrong.ts", 'document.body.innerHTML = "";\n'),
        ("test", "tests/wrong.test.ts", 'throw new Error("fails");\n'),
    ],
)
@pytest.mark.slow
def test_each_check_can_fail(project: Path, check: str, file: str, text: str) -> None:
    wrong = project / file
    wrong.write_text(text, "utf-8")
    try:
        done = run(project, "npm", "run", check)
    finally:
        wrong.unlink()
    assert done.returncode != 0
    assert "wrong" in done.stdout


@pytest.mark.slow
def test_the_types_are_those_of_the_data(project: Path) -> None:
    """Each head is an object literal, so members that the types lack or have too many are errors."""
    options, page = ReportOptions(), Terminal()
    pages = [
        sampled_html([made_run(), hostile_run()]),
        sampled_html([merged_run()]),
        measured_html([both(), failed(), hostile()]),
        MEASURED_COMPARISON.renderer("html")(batches(), options, page),
        *(
            SAMPLED_COMPARISON.renderer("html")(each, options, page)
            for each in (made_comparison(3), hostile_comparison())
        ),
        HISTORY.renderer("html")(history(), options, page),
    ]
    heads = json.dumps([read_page(html).head for html in pages])
    made = project / "scripts" / "made_heads.ts"
    imported = 'import type { Head } from "./data/page_data.ts";'
    made.write_text(f"{imported}\nexport const HEADS: Head[] = {heads};\n")
    try:
        done = run(project, "npm", "run", "types")
    finally:
        made.unlink()
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_an_old_node_is_reported_which_one_is_needed(project: Path) -> None:
    old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '16.20.2' } });"
    done = run(project, "node", "--input-type=module", "-e", f"{old} await import('./build.js');")
    assert done.returncode == 1
    assert re.search(
        r"^Node 16\.20\.2 is too old: install Node \d+\.\d+ or later\.$", done.stdout, re.MULTILINE
    )


def test_the_lock_names_no_host() -> None:
    assert '"resolved"' not in (HTML / "page" / "package-lock.json").read_text("utf-8")
