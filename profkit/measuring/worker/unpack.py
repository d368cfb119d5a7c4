"""Unpack a payload: the function that a job measures and its arguments, from a file descriptor.

The file has a pickle, the memory that it refers to by number, an index, and a footer that locates the index:

    pickle | buffers and storages, each at its original address modulo a page | index (JSON) | FOOTER

The file is mapped once, privately: pages are copied only when they are written to. A pickle calls `Loader`'s
methods by name, bound to its own loader.
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
"""This module's name in the process that packs payloads; the worker uses another."""
DECORATED = "_profkit_decorated"
"""Attribute of the types of profkit's decorated functions, with a true value."""
MAGIC = b"profkit1"
FOOTER = struct.Struct("<8sQQ")
"""`MAGIC`, then the index's offset and length."""

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class StorageEntry(TypedDict):
    """A storage in the file; only the bytes in `pieces`, (start, end), were sent and are valid."""

    offset: int
    size: int
    device: str
    pieces: list[tuple[int, int]]


class Index(TypedDict):
    """Positions in the file: buffers as (offset, size)."""

    buffers: list[tuple[int, int]]
    storages: list[StorageEntry]
    code_of: list[int] | None
    """Python version (major, minor) of the code in the pickle; None without code."""


def unpack(fd: int, *, read: bool = False) -> Call:
    """Return the callable, its positional and keyword arguments; keeps the position of `fd`.

    Raises what importing the callable's module raises, and RuntimeError if a function was sent by value that
    cannot run here. The memory stays mapped while anything uses it.
    With `read`, the file is read at once, so that no page faults are measured.
    """
    size = os.fstat(fd).st_size
    magic, start, length = FOOTER.unpack(os.pread(fd, FOOTER.size, size - FOOTER.size))
    if magic != MAGIC:
        raise ValueError("this is not a payload of profkit")
    index: Index = json.loads(os.pread(fd, length, start))
    if index["code_of"] is not None:
        _check_code(index["code_of"])
    memory = read_memory(fd, size) if read else mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)
    return Loader(memory, index).load()  # type: ignore[no-any-return]


def _check_code(version: list[int]) -> None:
    """Raise if functions sent by value cannot run here: another version's bytecode may crash."""
    fix = "call a function of a module that it can import"
    here = list(sys.version_info[:2])
    if version != here:
        words = ["Python " + ".".join(map(str, each)) for each in (version, here)]
        raise RuntimeError(f"a function sent by value has code of {words[0]}, but this is {words[1]}; {fix}")
    try:
        import cloudpickle  # noqa: F401
    except ImportError:
        problem = "this Python has no cloudpickle, which functions sent by value need"
        raise RuntimeError(f"{problem}; install it, or {fix}") from None


def read_memory(fd: int, size: int) -> mmap.mmap:
    """Return anonymous memory with a copy of a file's contents."""
    memory, done = mmap.mmap(-1, size), 0
    while done < size:  # the kernel reads at most 2 GiB per call
        done += os.preadv(fd, [memoryview(memory)[done:]], done)
    return memory


class Loader(pickle.Unpickler):
    """Unpickler of one payload, whose pickle calls methods of this class by name."""

    def __init__(self, memory: mmap.mmap, index: Index) -> None:
        self._memory = memoryview(memory)
        self._entries = index["storages"]
        self._storages: dict[int, Any] = {}
        super().__init__(memory, buffers=(self._at(*entry) for entry in index["buffers"]))

    def find_class(self, module: str, name: str) -> Any:
        """Return the object that a pickle names; for names of this module, a bound method."""
        if module == SENT_AS:
            return getattr(self, name.rpartition(".")[2])
        return super().find_class(module, name)

    def same(self, value: Any) -> Any:
        """Return `value`: a decorated function is sent as the plain one."""
        return value

    def named(self, module: str, qualname: str) -> Any:
        """Import a module and return the plain function behind its decorated one."""
        value = importlib.import_module(module)
        for name in qualname.split("."):
            value = getattr(value, name)
        return plain(value)

    def cached(self, function: Callable[..., Any], maxsize: int | None, typed: bool) -> Any:
        """Return a function with an empty `functools.lru_cache`."""
        import functools

        return functools.lru_cache(maxsize, typed)(function)

    def typed_storage(self, number: int, dtype: Any) -> Any:
        """Return a typed storage, which torch's functions that rebuild tensors expect."""
        import torch

        typed: Any = torch.storage.TypedStorage
        return typed(wrap_storage=self.untyped_storage(number), dtype=dtype, _internal=True)

    def untyped_storage(self, number: int) -> Any:
        """Return a storage: the same object for all tensors that share it."""
        if number not in self._storages:
            self._storages[number] = self._storage(self._entries[number])
        return self._storages[number]

    def with_grad(self, tensor: Any, grad: Any) -> None:
        """Set a tensor's gradient, which torch's own pickles omit."""
        tensor.grad = grad

    def _at(self, offset: int, size: int) -> memoryview:
        return self._memory[offset : offset + size]

    def _storage(self, entry: StorageEntry) -> Any:
        import torch

        offset, size = entry["offset"], entry["size"]
        if entry["device"] == "cpu":
            return self._bytes(offset, size).untyped_storage()
        there = torch.empty(size, dtype=torch.uint8, device=entry["device"])
        for start, end in entry["pieces"]:
            there[start:end].copy_(self._bytes(offset + start, end - start))
        return there.untyped_storage()

    def _bytes(self, offset: int, size: int) -> Any:
        import torch

        if not size:  # torch.frombuffer refuses it
            return torch.empty(0, dtype=torch.uint8)
        return torch.frombuffer(self._at(offset, size), dtype=torch.uint8)


def plain(value: Any) -> Any:
    """Return the plain function behind profkit's decorators and behind a bound method."""
    while getattr(type(value), DECORATED, False):
        value = value.__wrapped__
    return getattr(value, "__func__", value)
