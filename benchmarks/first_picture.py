"""Time from `pip install` to the first picture of each guide: `python -m benchmarks.first_picture`.

Each guide of the documentation begins with commands. This runs them as they are printed, and checks that the
picture shows what it should. All guides share one new virtual environment, in which `pip install profkit` is
timed once; each has a new folder. What a reader has before, such as a web framework, is installed before the
clock starts. profkit is a wheel of this checkout, and its requirements have the versions of constraints.txt.
`--write` puts the table and the times into the pages.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.guide_shell import Shell
from benchmarks.guides import FOLDER, ROOT, Guide, read_guides
from benchmarks.machine import load, machine_facts

EXECUTE = "jupyter execute --inplace notebook.ipynb"
"""What a reader does by hand: execute the cells of a notebook."""
_TABLE = re.compile(r"<!-- table -->\n.*<!-- end -->", re.DOTALL)
_TIME = re.compile(r"<!-- time -->\n(?:\*.*?\*\n\n)?", re.DOTALL)
_BUSY = 1.0
"""Load average per core above which other programs have made the times longer."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The times of one guide, in seconds."""

    guide: Guide
    install_s: float
    rest_s: float

    @property
    def total_s(self) -> float:
        """Time until the picture is there."""
        return self.install_s + self.rest_s


def main(arguments: Sequence[str] | None = None) -> int:
    """Follow the guides and print the table; return 1 if a picture was missing."""
    options = _parser().parse_args(arguments)
    guides = [guide for guide in read_guides() if not options.only or guide.name in options.only]
    timed, before = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="profkit-benchmark-") as name:
        variables = _environment(Path(name))
        (install_s,) = Shell(Path(name), variables).run([guides[0].install])
        print(f"installation: {install_s:.0f} s", file=sys.stderr)
        for guide in guides:
            folder = Path(name) / guide.name
            try:
                timed.append(Timed(guide, install_s, _follow(guide, folder, variables)))
            except RuntimeError as error:
                print(f"{guide.name} failed: {error}", file=sys.stderr)
            else:
                print(f"{guide.name}: {timed[-1].rest_s:.1f} s", file=sys.stderr)
    text = f"{_table(timed)}\n\n{_conditions(before)}"
    print(text)
    if options.write:
        _write(timed, text)
    return int(len(timed) < len(guides))


def _follow(guide: Guide, folder: Path, variables: Mapping[str, str]) -> float:
    """Do what the first lines of a guide say after the installation; return the time in seconds."""
    folder.mkdir()
    guide.write(folder)
    shell = Shell(folder, variables)
    shell.run(guide.given)
    taken_s = shell.run([*guide.path[1:], *([EXECUTE] if guide.cells else [])])
    guide.check(folder)
    return sum(taken_s)


def _environment(folder: Path) -> dict[str, str]:
    """Make a virtual environment, and return variables to use it and to install this checkout's wheel."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    constraints = folder / "constraints.txt"
    pinned = (ROOT / "constraints.txt").read_text("utf-8")
    constraints.write_text(f"{pinned}profkit @ {wheel.as_uri()}\n", "utf-8")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    own = ("PROFKIT_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return {
        **kept,
        "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(environment),
        "PIP_CONSTRAINT": str(constraints),
        "PIP_QUIET": "1",
    }


def _table(timed: Sequence[Timed]) -> str:
    rows = [
        f"| [{one.guide.title}]({one.guide.name}.md) | {_seconds(one.install_s)} | {_seconds(one.rest_s)} "
        f"| {_seconds(one.total_s)} |"
        for one in timed
    ]
    header = ["| guide | `pip install profkit` | the other steps | together |", "|---|--:|--:|--:|"]
    return "\n".join([*header, *rows])


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"


def _conditions(load_before: float) -> str:
    """Return sentences on where and when the times were taken."""
    facts = machine_facts()
    commit = _git("describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+")
    busy = max(load_before, os.getloadavg()[0]) > _BUSY * len(os.sched_getaffinity(0))
    others = " Other programs used the machine at the same time, which makes these times longer."
    return (
        f"Measured at commit {commit} ({datetime.now(UTC):%Y-%m-%d}) with {facts['Python']}, "
        f"{facts['processor']}, load {load_before:.2f} before and {load()} after.{others * busy} "
        "Packages came from a nearby mirror or pip's cache. Nearly all of the installation is torch."
    )


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True).strip()


def _write(timed: Sequence[Timed], text: str) -> None:
    """Put the table into the index, and each time into its page."""
    _replace(FOLDER / "index.md", _TABLE, f"<!-- table -->\n\n{text}\n\n<!-- end -->")
    for one in timed:
        line = (
            f"*{_seconds(one.total_s)} from `pip install` to this picture, {_seconds(one.install_s)} of them "
            "for the installation ([how this was measured](index.md#time-to-the-first-picture)).*"
        )
        _replace(FOLDER / f"{one.guide.name}.md", _TIME, f"<!-- time -->\n{line}\n\n")


def _replace(page: Path, pattern: re.Pattern[str], text: str) -> None:
    page.write_text(pattern.sub(lambda _: text, page.read_text("utf-8"), count=1), "utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_picture", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="GUIDE", help="names of pages in docs/guides")
    parser.add_argument("--write", action="store_true", help="put the times into the pages")
    return parser


if __name__ == "__main__":
    sys.exit(main())
