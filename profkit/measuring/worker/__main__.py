"""Entry points for the pool: `python __main__.py launcher`, `… zygote CONFIG`, `… compile`.

It is started by its path, in any environment that an order names. So it loads its own folder as a package
with a unique name, and removes the folder from `sys.path`, where it would shadow modules of the user.
Every Python 3 must be able to compile this file: it reports versions that are too old for the others.
"""

import os
import sys

_PACKAGE = "_profkit_worker"
_OLDEST = (3, 11)
_MODULES = {"launcher": "supervisor", "zygote": "zygote"}


def _make_package(folder: str) -> None:
    """Make the package by hand; importlib.util would take as long to import as all its modules."""
    package = type(sys)(_PACKAGE)
    package.__path__ = [folder]
    sys.modules[_PACKAGE] = package


def _refuse(role: str) -> None:
    """Report this Python's version to the driver at the other end of stdin, if the role is zygote."""
    if role == "zygote":
        import json
        import socket

        version = ".".join(str(number) for number in sys.version_info[:3])
        refusal = {"ready": False, "trace": "", "too_old": version}
        socket.socket(fileno=os.dup(0)).send(json.dumps(refusal).encode("ascii"))


def main() -> None:
    """Run the role that the first argument names."""
    role = sys.argv[1]
    if sys.version_info < _OLDEST:
        _refuse(role)
        return
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    _make_package(folder)
    from importlib import import_module

    if role == "compile":  # writes bytecode: counts differ in a zygote that must compile its modules
        import_module(_PACKAGE + ".zygote")
    else:
        import_module(_PACKAGE + "." + _MODULES[role]).main(*sys.argv[2:])


if __name__ == "__main__":
    main()
