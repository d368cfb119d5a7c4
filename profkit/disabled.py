"""Stand-ins for `profile`, `profiled` and `continuous` that do nothing, for programs that cannot be profiled.

These are programs on other systems than Linux, and those whose folder has files that hide standard modules
needed by profkit or wrapt, such as a `random.py`. This module imports neither package. It warns once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

_F = TypeVar("_F")
_SAID: list[str] = []


def substitute(name: str, why: str) -> Callable[..., object]:
    """Return the stand-in for one of these names, and log the reason once."""
    _say_once(f"nothing is profiled: {why}")
    stand_ins: dict[str, Callable[..., object]] = {
        "profile": profile,
        "profiled": profiled,
        "continuous": continuous,
    }
    return stand_ins[name]


def reason_of(error: Exception) -> str:
    """Return why profkit could not be imported, and how to fix it."""
    hidden = hiding_module(error)
    if hidden is None:
        return f"profkit cannot be imported here ({type(error).__name__}: {error}); install it anew"
    module, file = hidden
    return f"{file} hides the standard module {module!r}, which profkit needs; rename that file"


def profile(function: _F | None = None, /, **options: object) -> _F | Callable[[_F], _F]:
    """Return the function itself."""
    return _as_it_is if function is None else function


class profiled:
    """Block that is not profiled, with the attributes of a profiled one."""

    region = None
    run = None
    runs: tuple[object, ...] = ()

    def __init__(self, label: str | None = None, /, **options: object) -> None: ...

    def __enter__(self) -> profiled:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __call__(self, function: _F) -> _F:
        """Return the function itself."""
        return function

    def report(self) -> str:
        """Return an empty text: there is no run."""
        return ""


class continuous:
    """Program that is not profiled."""

    running = False

    def __init__(self, **options: object) -> None: ...

    def __enter__(self) -> continuous:
        return self

    def __exit__(self, *error: object) -> None: ...

    def stop(self) -> None:
        """Do nothing."""


def _as_it_is(function: _F) -> _F:
    return function


def hiding_module(error: BaseException) -> tuple[str, str] | None:
    """Return the standard module that a program's file hides, and that file, if this caused the error."""
    obj = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    name = str(error.name if isinstance(error, ImportError) else getattr(obj, "__name__", ""))
    name = name.partition(".")[0]
    file = getattr(sys.modules.get(name), "__file__", None)
    library = (sys.modules["os"].__file__ or "").rpartition("os.py")[0]
    if name not in sys.stdlib_module_names or not file or file.startswith(library):
        return None
    return name, str(file)


def _say_once(message: str) -> None:
    if message in _SAID:
        return
    _SAID.append(message)
    try:
        import logging

        logging.getLogger("profkit").warning(message)
    except (ImportError, AttributeError):  # logging, or a module that it needs, is hidden
        if sys.stderr is not None:
            sys.stderr.write(f"profkit: {message}\n")
