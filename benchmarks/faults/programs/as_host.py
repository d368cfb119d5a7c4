"""Run Python on a host of another name, in namespaces of its own: `as_host.py HOST ARGUMENT...`."""

from __future__ import annotations

import os
import socket
import sys

if __name__ == "__main__":
    socket.sethostname(sys.argv[1])
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
