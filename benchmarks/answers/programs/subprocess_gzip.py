"""Compress exported files with gzip."""

import random
import subprocess
from pathlib import Path
from time import perf_counter

from benchmarks.answers import truth


def export(path: Path, rows: int) -> None:
    generator = random.Random(rows)
    lines = (f"{number},{generator.gauss(20, 3):.3f},ok\n" for number in range(rows))
    path.write_text("".join(lines), "utf-8")


def main() -> None:
    export(Path("export.csv"), 100_000)
    end_s = perf_counter() + truth.SECONDS
    while perf_counter() < end_s:
        with truth.planted:
            subprocess.run(["gzip", "-9", "--keep", "--force", "export.csv"], check=True)  # PLANTED
    print(Path("export.csv.gz").stat().st_size, "bytes")


main()
