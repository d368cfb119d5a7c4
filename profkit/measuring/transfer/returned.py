"""Reader of the file to which a worker writes a call's result or exception.

Reading a pickle runs code that the pickle names. This process creates the file and passes it only to the
worker. It is read after the worker's end, and is sealed first. A worker of this process's own interpreter
runs the caller's function, as the caller's user, with modules that the caller imports too: its pickles are
read without restriction. Another interpreter has other modules, which must run nothing here: only plain data
is read from its pickles.
"""

from __future__ import annotations

import builtins
import fcntl
import os
import pickle
from typing import Any

from profkit.measuring.transfer.payload import SEALS
from profkit.measuring.worker.unpack import read_index, read_memory

_PLAIN = {
    "builtins": {"bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list",
                 "range", "set", "slice", "str", "tuple"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.numeric": {"_frombuffer"},
    "pathlib": {"PosixPath", "PurePosixPath"},
    "uuid": {"UUID"},
}  # fmt: skip
"""Classes that a pickle of another interpreter may name: values without behaviour of their own."""


class NotPlain(Exception):
    """A result of another interpreter is not plain data; never leaves `profkit.isolated`."""

    def __init__(self, module: str, name: str) -> None:
        self.kind = f"{module}.{name}"
        super().__init__("another interpreter can return only plain data")


def new_result() -> int:
    """Return the descriptor of a new file for a result; the caller closes it."""
    return os.memfd_create("profkit-result", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)


def read_result(descriptor: int, *, trusted: bool) -> Any:
    """Return the object in the result file of an ended worker.

    Raises NotPlain if it holds more than plain data and is not `trusted`, ValueError if the file is
    malformed, and OSError if another process can still write to it. Exceptions of its objects' own code
    propagate.
    """
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, SEALS)
    size, index = read_index(descriptor)
    memory = read_memory(descriptor, size)  # a mapping of the file would keep a reference to it
    view = memoryview(memory)
    buffers = [view[offset : offset + length] for offset, length in index["buffers"]]
    return (pickle.Unpickler if trusted else _PlainUnpickler)(memory, buffers=buffers).load()


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return a plain class or one of Python's own exceptions; raise NotPlain for others."""
        known = getattr(builtins, name, None) if module == "builtins" else None
        if isinstance(known, type) and issubclass(known, Exception):
            return known
        if name not in _PLAIN.get(module, ()):
            raise NotPlain(module, name)
        return super().find_class(module, name)
