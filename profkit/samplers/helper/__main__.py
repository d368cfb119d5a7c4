"""Entry point: `python -I -S __main__.py --pid=PID …`, with the arguments of `program`.

It is started by its path. So it loads its own folder as a package with a unique name.
"""

import sys

_PACKAGE = "_profkit_sampler"


def main() -> int:
    """Sample and return the exit status."""
    package = type(sys)(_PACKAGE)  # importlib.util would take longer to import than everything here
    package.__path__ = [__file__.rpartition("/")[0]]
    sys.modules[_PACKAGE] = package
    program = __import__(_PACKAGE + ".program", fromlist=["run"])
    status: int = program.run(sys.argv[1:])
    return status


if __name__ == "__main__":
    import posix

    posix._exit(main())
