"""One importer under atheris: `python -m benchmarks.faults.fuzz_worker IMPORTER CORPUS [OPTION…]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from profkit.formats.registry import FORMATS

IMPORTERS = ("profkit", *(name for name, known in FORMATS.items() if known.decode is not None), "any")
"""Formats that are imported; `any` detects the format. New formats are fuzzed automatically."""


def write_seeds(name: str, corpus: Path) -> None:
    """Write complete files of a format, as the fuzzer's first inputs."""
    from profkit.store.run_files import encode_runs
    from tests.support.example_measured_runs import measured_run
    from tests.support.example_runs import made_run
    from tests.unit.formats.test_damaged import NAMES, content

    contents = {format_name: [content(format_name)] for format_name in NAMES}
    contents["profkit"] = [encode_runs([made_run()]), encode_runs([measured_run()])]
    chosen = [data for each in contents.values() for data in each] if name == "any" else contents[name]
    for number, data in enumerate(chosen):
        (corpus / f"seed-{number}").write_bytes(data)


def main(name: str, *options: str) -> None:
    """Fuzz until the time is over, or an input breaks a rule."""
    import atheris

    with atheris.instrument_imports(include=["profkit"]):
        from profkit.cli.files import runs_of_file
        from profkit.errors import DamagedFile, UsageError
        from profkit.store.rows import rows_of
    path = f"/dev/shm/profkit-fuzz-{os.getpid()}"

    def one(data: bytes) -> None:
        """Import an input: it must give rows for the store, or raise a documented error."""
        Path(path).write_bytes(data)
        try:
            runs = runs_of_file(path, None if name == "any" else name)
        except (DamagedFile, UsageError):
            return
        for run in runs:
            rows_of(run)

    atheris.Setup([sys.argv[0], *options], one)
    try:
        atheris.Fuzz()
    finally:
        Path(path).unlink(missing_ok=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
