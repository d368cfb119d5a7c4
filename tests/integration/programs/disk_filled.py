"""Fill the disk of the spool between calls: `disk_filled.py SPACE|INODES FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from spinning import spin

from profkit import profile


@profile(rate=200, label="work")
def work() -> None:
    spin(0.05)


def fill_space(folder: Path) -> None:
    with (folder / "fill").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1024))


def fill_inodes(folder: Path) -> None:
    number = 0
    while True:
        (folder / f"fill-{number}").touch()
        number += 1


def main(what: str, folder: str) -> None:
    work()
    try:
        (fill_space if what == "SPACE" else fill_inodes)(Path(folder))
    except OSError:
        print("full")
    for _ in range(30):
        work()


if __name__ == "__main__":
    main(*sys.argv[1:])
