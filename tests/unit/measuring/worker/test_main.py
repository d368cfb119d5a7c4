"""The program that zygotes are started with, as Pythons see it that are too old for the rest."""

from __future__ import annotations

import ast

from profkit.measuring.pool.client import OLDEST_PYTHON
from profkit.measuring.pool.command import PROGRAM
from profkit.measuring.worker import __main__ as program


def test_every_python_3_can_read_the_program() -> None:
    tree = ast.parse(PROGRAM.read_text("utf-8"), feature_version=(3, 4))
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    assert not futures, "Python 3.6 does not know them all"
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)], "nor formatted strings"


def test_driver_and_program_agree_on_the_oldest_python() -> None:
    assert program._OLDEST == OLDEST_PYTHON
