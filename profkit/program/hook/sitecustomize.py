"""Calls `program.whole.begin` before a program's first line, and hides that from the program.

Python imports this module at its start, because `profkit run` puts this folder first on `PYTHONPATH`. It
leaves the environment, the path and the modules as they would be without it, and imports the `sitecustomize`
that it hides, if there is one.
"""

import os
import sys


def _import_hidden_one() -> bool:
    """Return whether there is another module of this name; it replaces this one."""
    folder = os.path.dirname(__file__)
    sys.path.remove(folder)
    sys.path_importer_cache.pop(folder, None)
    sys.modules.pop(__name__, None)
    try:
        __import__(__name__)
    except ImportError as error:
        if error.name != __name__:
            raise
        return False
    return True


def _begin() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    path = sys.path.copy()
    sys.path.append(root)  # another environment's Python finds this profkit there
    try:
        from profkit.program.whole import begin

        begin()
    except Exception as error:  # noqa: BLE001 - the program runs unprofiled
        if sys.stderr is not None:
            sys.stderr.write(f"profkit: the program runs unprofiled: {type(error).__name__}: {error}\n")
    finally:
        sys.path[:] = path


try:
    _is_there = _import_hidden_one()
finally:
    _begin()
if not _is_there:
    # Python treats it as if this module did not exist.
    raise ImportError("there is no other sitecustomize", name=__name__)
