"""The check of the built site: what a page loads, and where its links lead."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.folders import ROOT


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_site", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="other.html#there">', None),
        ('<a href="#here"><p id="here">', None),
        ('<a href="https://example.org/">', None),
        ('<img src="data:image/png;base64,AA">', None),
        ('<img src="other.html">', None),
        ('<a href="other.html#nowhere">', "page.html links to other.html#nowhere"),
        ('<a href="missing.html">', "page.html links to missing.html"),
        ('<img src="missing.png">', "page.html links to missing.png"),
        ('<script src="https://example.org/x.js">', "page.html loads https://example.org/x.js"),
        ('<link href="//example.org/font.css">', "page.html loads //example.org/font.css"),
    ],
)
def test_faults_of_a_page(build: ModuleType, tmp_path: Path, body: str, fault: str | None) -> None:
    (tmp_path / "other.html").write_text('<h1 id="there"></h1>', "utf-8")
    (tmp_path / "page.html").write_text(body, "utf-8")
    assert list(build.faults(tmp_path)) == ([fault] if fault else [])


def test_the_extra_has_pinned_versions() -> None:
    from configparser import ConfigParser

    settings = ConfigParser()
    settings.read(ROOT / "setup.cfg", "utf-8")
    wanted = settings["options.extras_require"]["docs"].split()
    pinned = (ROOT / "constraints.txt").read_text("utf-8").lower().replace("_", "-").splitlines()
    names = {line.partition("==")[0] for line in pinned}
    assert {requirement.partition(">=")[0].lower() for requirement in wanted} <= names
