"""The function that a job measures, and its arguments, out of the descriptor that they came by.

Such a file is a pickle, then the memory that it refers to by number, then an index and where that is:

    pickle | buffers and storages, each at the address modulo a page that it had | index (JSON) | FOOTER

All of it is mapped once, privately: nothing is copied before it is written to. What the pickle calls by
the names of `Loader`'s methods, the loader of that pickle answers.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any, TypedDict

SENT_AS = "profkit.measuring.worker.unpack"
"""This module's name where parcels are packed; here it has another."""
DECORATED = "_profkit_decorated"
"""What the type of a function that profkit decorated has, and is true."""
MAGIC = b"profkit1"
FOOTER = struct.Struct("<8sQQ")
"""MAGIC, then the index's offset and length."""

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Place(TypedDict):
    """A storage in the file; of its bytes only `pieces`, (start, end), were sent and mean anything."""

    offset: int
    size: int
    device: str
    pieces: list[tuple[int, int]]


class Index(TypedDict):
    """Where things lie in the file: buffers as (offset, size)."""

    buffers: list[tuple[int, int]]
    storages: list[Place]
    code_of: list[int] | None
    """Major and minor version of the Python whose code the pickle has, if it has any."""


def unpack(fd: int, *, read: bool = False) -> Call:
    """The callable, its positional and its keyword arguments; other readers of `fd` are not disturbed.

    Raises what importing the callable's module raises, and RuntimeError if a function came by value that
    cannot run here. The memory stays mapped while anything uses it.
    With `read` it is all there at once: using it causes no page faults that would be measured.
    """
    size = os.fstat(fd).st_size
    magic, start, length = FOOTER.unpack(os.pread(fd, FOOTER.size, size - FOOTER.size))
    if magic != MAGIC:
        raise ValueError("this is no parcel of profkit's")
    index: Index = json.loads(os.pread(fd, length, start))
    if index["code_of"] is not None:
        _check_code(index["code_of"])
    memory = read_memory(fd, size) if read else mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)
    return Loader(memory, index).load()  # type: ignore[no-any-return]


def _check_code(version: list[int]) -> None:
    """Raise if functions that came by value cannot run here: bytecode of another version may crash."""
    remedy = "call a function of a module that it can import"
    here = list(sys.version_info[:2])
    if version != here:
        words = ["Python " + ".".join(map(str, each)) for each in (version, here)]
        raise RuntimeError(
            f"a function that travels by value is code of {words[0]}, and this is {words[1]}; {remedy}"
        )
    try:
        import cloudpickle  # noqa: F401
    except ImportError:
        lack = "this Python has no cloudpickle, which functions that travel by value need"
        raise RuntimeError(f"{lack}; install it, or {remedy}") from None


def read_memory(fd: int, size: int) -> mmap.mmap:
    """Return memory of its own with the contents of a file."""
    memory, done = mmap.mmap(-1, size), 0
    while done < size:  # the kernel reads at most 2 GiB at once
        done += os.preadv(fd, [memoryview(memory)[done:]], done)
    return memory


class Loader(pickle.Unpickler):
    """Unpickles one parcel; what its pickle calls by the names of methods of this class, it calls."""

    def __init__(self, memory: mmap.mmap, index: Index) -> None:
        self._memory = memoryview(memory)
        self._places = index["storages"]
        self._storages: dict[int, Any] = {}
        super().__init__(memory, buffers=(self._at(*place) for place in index["buffers"]))

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names: in the module that packed it, this class's methods, bound."""
        if module == SENT_AS:
            return getattr(self, name.rpartition(".")[2])
        return super().find_class(module, name)

    def same(self, value: Any) -> Any:
        """Stands for a decorated function, of which only the plain one travels."""
        return value

    def named(self, module: str, qualname: str) -> Any:
        """A decorated function as the module has it today, which is imported afresh."""
        value = importlib.import_module(module)
        for name in qualname.split("."):
            value = getattr(value, name)
        return plain(value)

    def cached(self, function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
        """A function with an empty `functools.lru_cache`."""
        import functools

        return functools.lru_cache(maxsize, typed)(function)

    def typed_storage(self, number: int, dtype: Any) -> Any:
        """What torch's own way to rebuild a tensor takes."""
        import torch

        typed: Any = torch.storage.TypedStorage
        return typed(wrap_storage=self.untyped_storage(number), dtype=dtype, _internal=True)

    def untyped_storage(self, number: int) -> Any:
        """The same storage for everything that shares it."""
        if number not in self._storages:
            self._storages[number] = self._storage(self._places[number])
        return self._storages[number]

    def with_grad(self, tensor: Any, grad: Any) -> None:
        """Sets what torch's own pickles leave out."""
        tensor.grad = grad

    def _at(self, offset: int, size: int) -> memoryview:
        return self._memory[offset : offset + size]

    def _storage(self, place: Place) -> Any:
        import torch

        offset, size = place["offset"], place["size"]
        if place["device"] == "cpu":
            return self._bytes(offset, size).untyped_storage()
        there = torch.empty(size, dtype=torch.uint8, device=place["device"])
        for start, end in place["pieces"]:
            there[start:end].copy_(self._bytes(offset + start, end - start))
        return there.untyped_storage()

    def _bytes(self, offset: int, size: int) -> Any:
        import torch

        if not size:  # torch.frombuffer refuses it
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(self._at(offset, size), dtype=torch.uint8)


def plain(value: Any) -> Any:
    """The function itself, of what profkit decorated and of what is bound to a class."""
    while getattr(type(value), DECORATED, False):
        value = value.__wrapped__
    return getattr(value, "__func__", value)
