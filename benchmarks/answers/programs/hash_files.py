"""Compare the checksums of a folder's files."""

import hashlib
from pathlib import Path
from time import perf_counter

from benchmarks.answers import truth


def checksum(path: Path) -> str:
    content = path.read_bytes()
    with truth.planted:
        digest = hashlib.sha512(content)  # PLANTED
    return digest.hexdigest()


def main() -> None:
    folder = Path("files")
    folder.mkdir(exist_ok=True)
    for number in range(6):
        (folder / f"{number}.bin").write_bytes(bytes([number]) * 2_000_000)
    end_s, checked = perf_counter() + truth.SECONDS, set[str]()
    while perf_counter() < end_s:
        checked.update(map(checksum, sorted(folder.iterdir())))
    print(len(checked), "different files")


main()
