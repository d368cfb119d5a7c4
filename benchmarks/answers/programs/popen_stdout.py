"""Follow the output of another program, as of `tail -f` or `adb logcat`."""

import subprocess
import sys

from benchmarks.answers import truth

LOG = """
import sys, time
end_s = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end_s:
    time.sleep(0.05)
    print("INFO request served in", 12, "ms", flush=True)
"""


def follow(command: list[str]) -> int:
    total_ms = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, truth.planted:
        assert process.stdout is not None
        for line in process.stdout:  # PLANTED
            total_ms += int(line.split()[-2])
    return total_ms


if __name__ == "__main__":
    print(follow([sys.executable, "-S", "-c", LOG, str(truth.SECONDS)]), "ms")
