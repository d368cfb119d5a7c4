"""Programs under Callgrind, and what `callgrind_annotate` reads from their dumps."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

RECURSION = """
#include <stdlib.h>
#include <string.h>
static inline __attribute__((always_inline)) int mixed(int a, int b) { return a * b + a; }
int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
int main(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++) {
        sum += fibonacci(i % 12);
        sum += mixed(i, sum);
        char *block = malloc(100 + i);
        memset(block, i, 100);
        free(block);
    }
    return sum == 1;
}
"""

TEMPLATES = """
#include <algorithm>
#include <functional>
#include <string>
#include <vector>
struct Less { bool operator()(int a, char b) const; };
bool __attribute__((noinline)) Less::operator()(int a, char b) const { return a < b; }
namespace { template <class T> T __attribute__((noinline)) twice(T a) { return a + a; } }
int main() {
    std::vector<std::string> words;
    for (int i = 0; i < 30; i++) words.push_back(twice(std::to_string(i * 7 % 30)));
    std::sort(words.begin(), words.end(), [](const auto &a, const auto &b) { return a < b; });
    std::function<bool(int, char)> less = Less();
    return less(3, 'a') ? 0 : 1;
}
"""


def compiled(source: str, path: Path, *options: str) -> Path:
    """The program built from a source, which is written to `path` first."""
    path.write_text(source)
    program = path.with_suffix(".bin")
    compiler = "g++" if path.suffix == ".cpp" else "gcc"
    subprocess.run([compiler, "-g", *options, "-o", program, path], check=True)
    return program


def dumps_of(command: list[str | Path], folder: Path, *options: str) -> list[Path]:
    """Run a command under Callgrind, and return its dumps by their number."""
    subprocess.run(
        ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *options, *command],
        check=True,
        capture_output=True,
    )
    return sorted(folder.glob("out*"), key=lambda path: (len(path.name), path.name))


def annotated(dump: Path, *options: str) -> dict[str, int]:
    """All of callgrind_annotate's rows: instructions by `file:function [object]`."""
    text = _annotate(dump, "--show=Ir", "--sort=Ir", *options)
    rows = re.split(r"\nIr +file:function\n-+\n", text, maxsplit=1)[1].split("\n\n")[0]
    counts: dict[str, int] = {}
    for row in rows.split("\n"):
        count, name = row.strip(" ").split(" ", 1)
        assert name.lstrip(" ") not in counts
        counts[name.lstrip(" ")] = 0 if count == "." else int(count.replace(",", ""))
    return counts


def annotated_totals(dump: Path) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The events and their totals, as callgrind_annotate reads them."""
    text = _annotate(dump)
    events = re.search(r"^Events recorded: +(.*)$", text, re.MULTILINE)
    totals = re.search(r"^(.*) PROGRAM TOTALS", text, re.MULTILINE)
    assert events is not None
    assert totals is not None
    return tuple(events[1].split()), tuple(int(count.replace(",", "")) for count in totals[1].split())


def _annotate(dump: Path, *options: str) -> str:
    # From the root folder, because it cuts the folder that it runs in off some names and not off others.
    command = ["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", *options, str(dump)]
    done = subprocess.run(
        command, cwd="/", env={**os.environ, "LC_ALL": "C"}, check=True, capture_output=True
    )
    assert done.stderr == b""
    return done.stdout.decode("utf-8", "surrogateescape")
