"""`python __main__.py launcher`, `python __main__.py zygote CONFIG`, `… compile`: what the pool starts.

Started by its path in whatever environment an order names, so it loads its own folder as a package
under a name that nobody else has, and takes the folder off `sys.path`, where it would shadow modules
of the user.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import import_module

_PACKAGE = "_profkit_worker"


def _load_package(folder: str) -> None:
    init = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(_PACKAGE, init, submodule_search_locations=[folder])
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)


def main() -> None:
    """Become what the first argument names."""
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    _load_package(folder)
    role, *arguments = sys.argv[1:]
    if role == "compile":  # leaves bytecode behind: a zygote that has to compile it counts otherwise
        import_module(f"{_PACKAGE}.zygote")
    else:
        import_module(f"{_PACKAGE}.{role}").main(*arguments)


if __name__ == "__main__":
    main()
