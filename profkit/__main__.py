"""`python -m profkit` is the command `profkit`.

Python puts the current folder first on `sys.path` for `-m`. It is taken off before anything is imported:
what lies there, such as a `rich.py`, is the user's own, and not what profkit means.
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
