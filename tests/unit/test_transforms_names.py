from __future__ import annotations

import subprocess
import sys

import pytest

from profkit import transforms


def test_the_package_hands_on_every_name_that_it_says() -> None:
    for name in transforms.__all__:
        assert getattr(transforms, name).__name__ == name
    with pytest.raises(AttributeError, match="'cut_everything'"):
        transforms.cut_everything  # noqa: B018


def test_a_profiled_program_loads_only_what_it_uses() -> None:
    program = (
        "import sys, profkit.transforms.trim\n"
        "sys.exit(any(f'profkit.transforms.{name}' in sys.modules for name in ('cut', 'tables', 'tree')))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
