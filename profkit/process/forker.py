"""`python -I -S forker.py PROGRAM …`: what `setsid --fork` does, for systems without it.

A program of its own, never imported: the parent ends at once, the child becomes PROGRAM in a
session of its own.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    os.setsid()
    os.execv(sys.argv[1], sys.argv[1:])
