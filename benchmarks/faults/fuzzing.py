"""Readers of files fuzzed by atheris, which looks for inputs that take new paths through them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.children import ROOT
from benchmarks.faults.fuzz_worker import IMPORTERS, write_seeds
from benchmarks.faults.injections import Injection, NotPermitted, Outcome
from benchmarks.faults.sandbox import sandbox

KEPT = ROOT / "tests" / "regressions"
"""Inputs that once broke a reader; `tests/unit/formats/test_damaged*.py` read each of them."""
_FULL_S, _SHORT_S = 600, 2
_SLOWEST_S = 20
_MAX_MIB = 2048
_STARTS_WITHIN_S = 120
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


def inject(injection: Injection) -> Outcome:
    """Fuzz one reader; keep an input that breaks it."""
    if importlib.util.find_spec("atheris") is None:
        raise NotPermitted("atheris is missing: pip install 'profkit[benchmark]'")
    name = IMPORTERS[injection.number]
    seconds = _SHORT_S if injection.short else _FULL_S
    with sandbox() as box:
        corpus, found = box.work / "corpus", box.own / "found"
        corpus.mkdir()
        found.mkdir()
        write_seeds(name, corpus)
        argv = [
            sys.executable, "-m", "benchmarks.faults.fuzz_worker", name, str(corpus),
            f"-max_total_time={seconds}", f"-seed={injection.seed + 1}", f"-timeout={_SLOWEST_S}",
            f"-rss_limit_mb={_MAX_MIB}", f"-artifact_prefix={found}/", "-print_final_stats=1",
            "-max_len=65536",
        ]  # fmt: skip
        done = subprocess.run(
            argv, cwd=box.work, env=box.environ(), capture_output=True, check=False,
            timeout=seconds + _STARTS_WITHIN_S,
        )  # fmt: skip
        said = done.stderr.decode("utf-8", "replace")
        executed = sum(map(int, _EXECUTED.findall(said)))
        outcome = Outcome(injected=executed)
        for path in sorted(found.iterdir()):
            kept = _keep(name, path)
            outcome = outcome.with_problem(f"{name}: {kept}: {_exception(said)}", changed=1)
        if done.returncode and not outcome.changed:
            raise RuntimeError(f"{name}: the fuzzer ended with {done.returncode}: {said[-600:]}")
        return box.counted(outcome)


def _keep(name: str, path: Path) -> Path:
    folder = KEPT / name
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(path, folder / path.name)).relative_to(ROOT)


def _exception(said: str) -> str:
    """Return the line of the fuzzer's report that names the error."""
    lines = [line.strip() for line in said.splitlines()]
    messages = [line for line in lines if re.match(r"(\w+Error\b|\w+Exception\b|.*ERROR: libFuzzer)", line)]
    return messages[0][:200] if messages else "see the file"
