"""Cost of the pytest plugin: while it is not used, and of each sampled test.

Times are those of processors, which other programs on the machine disturb less than times of the clock. No
other plugin is loaded.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.children import caching_environment, output_of
from benchmarks.figures import Figure
from benchmarks.pairs import difference_figure, interleaved, ratio_figure

PLUGIN = "profkit.integrations.pytest.plugin"
TESTS = 500
_UNUSED_BOUND, _COUNTED_BOUND, _SAMPLED_US = 1.05, 1.02, 3000.0
_SUITE = f"""
import pytest

@pytest.mark.parametrize("number", range({TESTS}))
def test_it(number):
    assert sum(range(100)) == 4950
"""
_LOADED = f"""
import sys, pytest
pytest.main(["-q", "--collect-only", "-p", "{PLUGIN}", "suite.py"])
print(" ".join(name for name in sys.modules if name.partition(".")[0] == "profkit"))
"""


def measure(quick: bool) -> list[Figure]:
    """Compare pytest with the plugin, not used, to pytest without it; and sampled tests to others."""
    pairs = 2 if quick else 30
    Path("suite.py").write_text(_SUITE, "utf-8")
    figures = []
    for what, options in ((f"--collect-only of {TESTS} tests", ["--collect-only"]), (f"{TESTS} tests", [])):
        bare, loaded = _timed(*options), _timed("-p", PLUGIN, *options)
        bare(), loaded()  # compiles
        taken = interleaved(loaded, bare, pairs)
        figures.append(ratio_figure(f"{what}: plugin not used ÷ none", taken, _UNUSED_BOUND))
    figures += [*_counted_figures(), _modules_figure()]
    loaded, sampled = _timed("-p", PLUGIN), _timed("-p", PLUGIN, "--profkit")
    sampled()
    taken = interleaved(sampled, loaded, max(2, pairs // 3))
    what = "per test: sampled - plugin not used, with start, report and store"
    return [*figures, difference_figure(what, taken, TESTS, _SAMPLED_US)]


def _timed(*options: str) -> Callable[[], float]:
    return partial(_processor_s, ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "suite.py"])


def _processor_s(arguments: list[str]) -> float:
    """Run Python; return the processor time of its process and of the children that it has awaited."""
    environ = _environment() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    with tempfile.TemporaryDirectory(dir=".") as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output_of(
            arguments,
            environ | {"PROFKIT_SPOOL": f"{folder}/spool", "PROFKIT_STORE": f"sqlite:///{folder}/runs.db"},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _counted_figures() -> list[Figure]:
    """Return the ratio of instructions, which other programs do not change; none without Valgrind.

    The plugins of all packages are loaded, since finding them is no cost of this one.
    """
    if shutil.which("valgrind") is None:
        return []
    output_of(["-m", "pytest", "-q", "--collect-only", "suite.py"], _environment())  # compiles
    loaded, bare = _instructions(), _instructions("-p", "no:profkit")
    what = f"--collect-only of {TESTS} tests, instructions: plugin not used ÷ none"
    detail = f"{loaded / 1e6:,.0f} ÷ {bare / 1e6:,.0f} million"
    return [Figure(what, loaded / bare, "×", _COUNTED_BOUND, certain=True, detail=detail)]


def _instructions(*options: str) -> int:
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    collecting = ["-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*counting, sys.executable, *collecting, *options, "suite.py"],
        env=_environment() | {"PYTHONHASHSEED": "0"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"Callgrind has counted nothing:\n{done.stderr}")
    return int(found[1])


def _environment() -> dict[str, str]:
    return caching_environment(Path("compiled").absolute())


def _modules_figure() -> Figure:
    environ = _environment() | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    names = output_of(["-c", _LOADED], environ).splitlines()[-1].split()
    return Figure(
        "modules of profkit that are loaded while it is not used", len(names), "modules", 5,
        certain=True, detail=", ".join(names),
    )  # fmt: skip
