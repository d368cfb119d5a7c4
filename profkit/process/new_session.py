"""Substitute for `setsid --fork` on systems without it: `python -I -S new_session.py PROGRAM …`.

The parent ends at once; the child becomes PROGRAM in its own session. This is a file of its own because it
runs as a program, before profkit can be imported.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    os.setsid()
    os.execv(sys.argv[1], sys.argv[1:])
