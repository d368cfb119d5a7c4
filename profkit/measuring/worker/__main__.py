"""`python __main__.py launcher`, `python __main__.py zygote CONFIG`, `… compile`: what the pool starts.

Started by its path in whatever environment an order names, so it loads its own folder as a package
under a name that nobody else has, and takes the folder off `sys.path`, where it would shadow modules
of the user.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import ModuleType

_PACKAGE = "_profkit_worker"


def _make_package(folder: str) -> None:
    """The package is its modules alone; importlib.util would take as long to import as all of them."""
    package = ModuleType(_PACKAGE)
    package.__path__ = [folder]
    sys.modules[_PACKAGE] = package


def main() -> None:
    """Become what the first argument names."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    _make_package(folder)
    role, *arguments = sys.argv[1:]
    if role == "compile":  # leaves bytecode behind: a zygote that has to compile it counts otherwise
        import_module(f"{_PACKAGE}.zygote")
    else:
        import_module(f"{_PACKAGE}.{role}").main(*arguments)


if __name__ == "__main__":
    main()
