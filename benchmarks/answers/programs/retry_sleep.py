"""Wait until a file appears, as deployment scripts do."""

import time
from pathlib import Path

from benchmarks.answers import truth


def await_file(path: Path, timeout_s: float) -> bool:
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        if path.exists():
            return True
        with truth.planted:
            time.sleep(0.1)  # PLANTED
    return False


if not await_file(Path("/tmp/no-such-folder/ready"), truth.SECONDS):
    print("not ready, using defaults")
