"""One reader of files under atheris: `python -m benchmarks.faults.fuzz_worker IMPORTER CORPUS [OPTION…]`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from profkit.formats.registry import FORMATS

OF_RANKS = ("rank-traces", "flight-recorder")
"""Kinds of files that are read together, one of each rank."""
IMPORTERS = (
    "profkit",
    *(name for name, known in FORMATS.items() if known.decode is not None),
    "any",
    *OF_RANKS,
)
"""Formats that are imported; `any` detects the format. New formats are fuzzed automatically."""


def write_seeds(name: str, corpus: Path) -> None:
    """Write complete files of a format, as the fuzzer's first inputs."""
    from profkit.store.run_files import encode_runs
    from tests.support.example_measured_runs import measured_run
    from tests.support.example_runs import made_run
    from tests.support.files_of_ranks import examples
    from tests.unit.formats.test_damaged import NAMES, content

    contents = {format_name: [content(format_name)] for format_name in NAMES}
    contents["profkit"] = [encode_runs([made_run()]), encode_runs([measured_run()])]
    contents |= {kind: list(examples(kind)) for kind in OF_RANKS}
    chosen = [data for each in contents.values() for data in each] if name == "any" else contents[name]
    for number, data in enumerate(chosen):
        (corpus / f"seed-{number}").write_bytes(data)


def main(name: str, corpus: str, *options: str) -> None:
    """Fuzz until the time is over, or an input breaks a rule."""
    import atheris

    folder = Path(f"/dev/shm/profkit-fuzz-{os.getpid()}")
    folder.mkdir()
    with atheris.instrument_imports(include=["profkit"]):
        one = _reader(name, folder)
        # Formats and views are imported when they are first used.
        for seed in sorted(Path(corpus).iterdir()):
            one(seed.read_bytes())
    atheris.Setup([sys.argv[0], corpus, *options], one)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(folder)


def _reader(name: str, folder: Path) -> Callable[[bytes], None]:
    """Return what reads an input: it must be read, or refused by a documented error."""
    from profkit.cli.files import runs_of_file
    from profkit.errors import DamagedFile, UsageError
    from profkit.store.rows import rows_of
    from tests.support.files_of_ranks import READERS

    def read(data: bytes) -> None:
        path = folder / "one"
        path.write_bytes(data)
        for run in runs_of_file(path, None if name == "any" else name):
            rows_of(run)

    def one(data: bytes) -> None:
        try:
            READERS[name](data, folder) if name in READERS else read(data)
        except (DamagedFile, UsageError):
            return

    return one


if __name__ == "__main__":
    main(*sys.argv[1:])
