"""The tutorial: its commands work, one after the other, and lead to what it promises."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks.guide_shell import Shell
from benchmarks.guides import ROOT, blocks_of, commands_of
from tests.integration.harness import environment

PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")


@pytest.mark.sampler
@pytest.mark.valgrind
@pytest.mark.full
def test_tutorial(tmp_path: Path) -> None:
    commands = []
    for block in blocks_of(PAGE):
        if block.name:
            (tmp_path / block.name).write_text(block.text, "utf-8")
        elif block.language == "console":
            commands += commands_of(block.text)
    assert commands.pop(0) == "pip install profkit"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shell = Shell(tmp_path, environment(PATH=path), timeout_s=500)
    shell.run(commands)
    said = shell.printed()
    assert "is_common" in said
    assert "B against A" in said
    assert "fewer instructions" in said
    assert "No regression" in (tmp_path / "summary.md").read_text("utf-8")
    assert "is_common" in (tmp_path / "words.html").read_text("utf-8")
