"""`python __main__.py launcher`, `python __main__.py zygote CONFIG`, `… compile`: what the pool starts.

Started by its path in whatever environment an order names, so it loads its own folder as a package
under a name that nobody else has, and takes the folder off `sys.path`, where it would shadow modules
of the user. This file must be readable for every Python 3: it says which ones are too old for the others.
"""

import os
import sys

_PACKAGE = "_profkit_worker"
_OLDEST = (3, 11)
_MODULES = {"launcher": "supervisor", "zygote": "zygote"}


def _make_package(folder: str) -> None:
    """The package is its modules alone; importlib.util would take as long to import as all of them."""
    package = type(sys)(_PACKAGE)
    package.__path__ = [folder]
    sys.modules[_PACKAGE] = package


def _refuse(role: str) -> None:
    """Say which Python this is to the driver at the other end of stdin, if it is meant to be a zygote."""
    if role == "zygote":
        import json
        import socket

        version = ".".join(str(number) for number in sys.version_info[:3])
        refusal = {"ready": False, "trace": "", "too_old": version}
        socket.socket(fileno=os.dup(0)).send(json.dumps(refusal).encode("ascii"))


def main() -> None:
    """Become what the first argument names."""
    role = sys.argv[1]
    if sys.version_info < _OLDEST:
        _refuse(role)
        return
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    _make_package(folder)
    from importlib import import_module

    if role == "compile":  # leaves bytecode behind: a zygote that has to compile it counts otherwise
        import_module(_PACKAGE + ".zygote")
    else:
        import_module(_PACKAGE + "." + _MODULES[role]).main(*sys.argv[2:])


if __name__ == "__main__":
    main()
