"""Entry point of `python -m profkit`, the same as the command `profkit`.

With `-m`, Python puts the current folder first on `sys.path`. It is removed before anything is imported:
modules there, such as a `rich.py`, are the user's and must not replace those that profkit imports.
"""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

try:
    from profkit.cli.main import main
except KeyboardInterrupt:
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
