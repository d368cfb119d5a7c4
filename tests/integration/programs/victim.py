"""Works in a region until it is killed, or ends as it is told: `victim.py [os._exit|exec PROGRAM…]`.

Says on stdout when the region has begun.
"""

from __future__ import annotations

import os
import sys

from spinning import spin_until_sampled

from profkit import profile


@profile(label="victim", rate=200.0)
def work() -> None:
    print("begun", flush=True)
    ending = sys.argv[1:2]
    spin_until_sampled(30 if ending else 10**6)
    if ending == ["os._exit"]:
        os._exit(3)
    if ending == ["exec"]:
        os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    work()
