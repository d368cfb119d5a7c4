"""What the real perf records of a real program is read as what `perf report` says.

The event is a clock of the kernel: virtual machines often have no hardware counters. Recording needs root, or
`/proc/sys/kernel/perf_event_paranoid` of at most 2.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from profkit.cli.files import runs_of_file
from profkit.errors import UsageError
from profkit.model.profile import Profile
from profkit.model.run import Run
from profkit.transforms.tables import function_rows
from tests.integration.callgrind_programs import compiled

pytestmark = pytest.mark.perf

PROGRAM = """
#include <stdio.h>
#include <time.h>
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
double leaf(int n) { double s = 0; for (int i = 0; i < n; i++) s += i * 1.5; return s; }
int main(void) {
    double s = 0;
    while (clock() < CLOCKS_PER_SEC / 4) s += leaf(50000) + fibonacci(18);
    return s < 0;
}
"""
OPTIONS = ("-O1", "-fno-inline", "-fno-omit-frame-pointer")


def perf(folder: Path, *arguments: str | Path) -> str:
    """What perf writes to stdout."""
    return subprocess.run(
        ["perf", *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=120
    ).stdout


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a recording of the program in user space."""
    folder = tmp_path_factory.mktemp("perf")
    program = compiled(PROGRAM, folder / "program.c", *OPTIONS)
    perf(folder, "record", "-e", "cpu-clock:u", "-F", "999", "-g", "-o", "perf.data", "--", program)
    return folder


def imported(folder: Path, *options: str) -> Profile:
    text = folder / "x.perf.txt"
    text.write_text(perf(folder, "script", "-i", "perf.data", *options), "utf-8")
    (run,) = runs_of_file(text)
    assert isinstance(run, Run)
    assert run.profile is not None
    assert run.info.imported is not None
    assert (run.info.imported.format, run.info.imported.tool) == ("perf-script", "perf")
    return run.profile


def reported(folder: Path) -> dict[str, tuple[int, float]]:
    """Samples of functions themselves, and the share of samples with them on the stack."""
    fields = ("-F", "overhead_children,sample,sym")
    text = perf(folder, "report", "-i", "perf.data", "--stdio", "--children", "-g", "none", *fields)
    rows = re.findall(r"^ *([\d.]+)% +(\d+) +\[.\] (.+?) *$", text, re.MULTILINE)
    return {name: (int(own), float(share)) for share, own, name in rows}


def test_self_and_total_are_those_of_perf_report(recording: Path) -> None:
    profile = imported(recording)
    expected = reported(recording)
    assert profile.total_weight == sum(own for own, _ in expected.values()) > 50
    rows = {row.name: row for row in function_rows(profile)}
    assert {"main", "leaf", "fibonacci"} <= rows.keys()
    for name in ("main", "leaf", "fibonacci"):
        own, share = expected[name]
        assert rows[name].self_weight == own
        assert 100 * rows[name].total_weight / profile.total_weight == pytest.approx(share, abs=0.006)
    assert profile.period_ns == pytest.approx(1e9 / 999, rel=1e-3)


@pytest.mark.parametrize(
    "options", [("--header",), ("-F", "+pid"), ("-F", "+srcline"), ("-F", "comm,tid,event,ip,sym,dso")]
)
def test_other_fields_make_no_difference(recording: Path, options: tuple[str, ...]) -> None:
    whole, other = imported(recording), imported(recording, *options)
    assert other.total_weight == whole.total_weight
    weights = [
        {row.name: (row.self_weight, row.total_weight) for row in function_rows(profile)}
        for profile in (whole, other)
    ]
    assert weights[0] == weights[1]


def test_what_lacks_stacks_or_events_is_named(recording: Path) -> None:
    text = recording / "y.txt"
    text.write_text(perf(recording, "script", "-i", "perf.data", "-F", "comm,tid,time,ip,sym,dso"), "utf-8")
    with pytest.raises(UsageError, match="output of perf script without events; write it again"):
        runs_of_file(text)
    perf(recording, "record", "-e", "cpu-clock:u", "-o", "flat.data", "--", recording / "program.bin")
    text.write_text(perf(recording, "script", "-i", "flat.data"), "utf-8")
    with pytest.raises(UsageError, match="without stacks; record again with `perf record -g`"):
        runs_of_file(text)
    with pytest.raises(UsageError, match="recording of perf; convert it: perf script -i"):
        runs_of_file(recording / "perf.data")
