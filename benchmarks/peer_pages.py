"""Pages of other profilers and of profkit for one program: size, time to make, and time to first paint.

py-spy draws its own SVG when its recording ends. speedscope's page reads the file from `profkit export`, and
its own scripts. pyinstrument takes its own samples, at the same rate. The time to first paint is Chromium's
`first-contentful-paint`, for a page opened from its file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from benchmarks.children import PROGRAMS, environment
from benchmarks.figures import Figure

_RATE_HZ = 500
_PROGRAM = str(PROGRAMS / "parsing.py")
_SPEEDSCOPE = "speedscope@1.25.0"
_PAINTED = """() => new Promise(done => {
    const seen = entries => { const [paint] = entries.filter(e => e.name === "first-contentful-paint");
                              if (paint) done(paint.startTime); };
    new PerformanceObserver(list => seen(list.getEntries())).observe({type: "paint", buffered: true});
})"""


@dataclass(frozen=True, slots=True)
class _Page:
    """One tool's page: the file to open, all files that it needs, and the time to make it."""

    tool: str
    url: str
    size_bytes: int
    made_s: float


def measure(quick: bool) -> list[Figure]:
    """Measure size, time to make and time to first paint of each page."""
    folder, duration_s = Path.cwd(), 2.0 if quick else 10.0
    raw = folder / "recorded.raw"
    _run(["py-spy", "record", "-r", str(_RATE_HZ), "-f", "raw", "-o", str(raw), "--", *_program(duration_s)])
    _run([*_profkit(), "import", str(raw), "--label", "parsing"])
    pages = [
        _own(folder),
        _speedscope(folder),
        _pyspy(folder, duration_s),
        _pyinstrument(folder, duration_s),
    ]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        painted = {page.tool: _painted_ms(browser, page.url, 2 if quick else 7) for page in pages}
        browser.close()
    return [figure for page in pages for figure in _figures(page, painted[page.tool])]


def _figures(page: _Page, painted_ms: float) -> list[Figure]:
    return [
        Figure(f"{page.tool}: size", page.size_bytes / 1e6, "MB", certain=True),
        Figure(f"{page.tool}: time to make", page.made_s, "s", certain=True),
        Figure(f"{page.tool}: first paint", painted_ms, "ms", certain=True),
    ]


def _own(folder: Path) -> _Page:
    target = folder / "profkit.html"
    made_s = _timed(lambda: _run([*_profkit(), "report", "parsing", "--html", "-o", str(target)]))
    return _Page("profkit", target.as_uri(), target.stat().st_size, made_s)


def _speedscope(folder: Path) -> _Page:
    """Make speedscope's page; it takes a profile in base64 from a script beside it."""
    exported = folder / "parsing.speedscope.json"
    _run(["npm", "pack", "--silent", _SPEEDSCOPE])
    (archive,) = folder.glob("speedscope-*.tgz")
    shutil.unpack_archive(archive, folder)
    release = folder / "package" / "dist" / "release"
    made_s = _timed(
        lambda: _run([*_profkit(), "export", "parsing", "--format", "speedscope", "-o", str(exported)])
    )
    encoded = json.dumps(_base64(exported))
    script = release / "parsing.js"
    script.write_text(f"speedscope.loadFileFromBase64('parsing.json', {encoded})", "utf-8")
    size = sum(path.stat().st_size for path in release.iterdir() if path.suffix in {".html", ".js", ".css"})
    url = f"{(release / 'index.html').as_uri()}#localProfilePath={script.as_posix()}"
    return _Page("speedscope", url, size, made_s)


def _pyspy(folder: Path, duration_s: float) -> _Page:
    """Make py-spy's page; its drawing cannot be timed without its recording, since it draws at the end."""
    target = folder / "pyspy.svg"
    command = ["py-spy", "record", "-r", str(_RATE_HZ), "-o", str(target), "--", *_program(duration_s)]
    recorded_s = _timed(lambda: _run(command))
    return _Page("py-spy's SVG", target.as_uri(), target.stat().st_size, max(0.0, recorded_s - duration_s))


def _pyinstrument(folder: Path, duration_s: float) -> _Page:
    kept, target = folder / "parsing.pyisession", folder / "pyinstrument.html"
    own = [sys.executable, "-m", "pyinstrument"]
    _run([*own, "-i", str(1 / _RATE_HZ), "-r", "pyisession", "-o", str(kept), *_program(duration_s)[1:]])
    made_s = _timed(lambda: _run([*own, "--load", str(kept), "-r", "html", "-o", str(target)]))
    return _Page("pyinstrument", target.as_uri(), target.stat().st_size, made_s)


def _painted_ms(browser: Browser, url: str, times: int) -> float:
    taken = []
    for _ in range(times):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        taken.append(float(page.evaluate(_PAINTED)))
        page.close()
    return median(taken)


def _program(duration_s: float) -> list[str]:
    return [sys.executable, _PROGRAM, str(duration_s)]


def _profkit() -> list[str]:
    return [sys.executable, "-m", "profkit"]


def _run(command: list[str]) -> None:
    found = shutil.which(command[0], path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(
        [found or command[0], *command[1:]], env=environment(), capture_output=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()}")


def _timed(work: Callable[[], None]) -> float:
    start_s = time.monotonic()
    work()
    return time.monotonic() - start_s


def _base64(path: Path) -> str:
    import base64

    return base64.b64encode(path.read_bytes()).decode("ascii")
