"""Files for objects that travel: payloads, with a function and its arguments, and results of calls.

A file has a pickle, the memory that it refers to by number, an index, and a footer that locates the index:

    pickle | buffers and storages, each at its original address modulo a page | index (JSON) | FOOTER

A payload is mapped once, privately: pages are copied only when they are written to. Its pickle calls
`Loader`'s methods by name, bound to its own loader.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import pickle
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
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


class TooBig(Exception):
    """The file would exceed its maximum size."""


class PayloadFile:
    """File under construction; `sent_bytes` counts the bytes written."""

    def __init__(self, fd: int, most_bytes: int) -> None:
        self._fd, self._most_bytes, self._end = fd, most_bytes, 0
        self.sent_bytes = 0

    def write(self, data: Any) -> int:
        """Append an object with the buffer protocol, as pickle needs it; raise `TooBig` over the maximum."""
        view = memoryview(data).cast("B")
        self.write_at(self._end, view)
        self._end += len(view)
        return len(view)

    def reserve(self, address: int, size: int) -> int:
        """Reserve space at the same offset within a page as the original: alignment affects speed."""
        offset = self._end + (address - self._end) % mmap.PAGESIZE
        self._end = offset + size
        return offset

    def write_at(self, offset: int, data: memoryview) -> None:
        """Write in reserved space; raise `TooBig` over the maximum."""
        self.sent_bytes += len(data)
        if self.sent_bytes > self._most_bytes:
            raise TooBig
        done = 0
        while done < len(data):  # the kernel takes at most 2 GiB at once
            done += os.pwrite(self._fd, data[done:], offset + done)

    def end(
        self,
        buffers: Iterable[pickle.PickleBuffer],
        storages: Sequence[StorageEntry] = (),
        *,
        has_code: bool = False,
    ) -> None:
        """Write the pickle's buffers, the index and the footer; raise `TooBig` over the maximum."""
        index = Index(
            buffers=[self._buffer(buffer.raw()) for buffer in buffers],
            storages=list(storages),
            code_of=list(sys.version_info[:2]) if has_code else None,
        )
        text, start = json.dumps(index).encode(), self._end
        self.write(text)
        self.write(FOOTER.pack(MAGIC, start, len(text)))

    def _buffer(self, memory: memoryview) -> tuple[int, int]:
        offset = self.reserve(_address(memory), len(memory))
        self.write_at(offset, memory)
        return offset, len(memory)


def _address(memory: memoryview) -> int:
    if memory.readonly or not len(memory):
        return 0
    import ctypes  # not above: with libffi 3.5, it keeps a descriptor open; numpy and torch have imported it

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def unpack(fd: int, *, read: bool = False) -> Call:
    """Return the callable, its positional and keyword arguments; keeps the position of `fd`.

    Raises what importing the callable's module raises, and RuntimeError if a function was sent by value that
    cannot run here. The memory stays mapped while anything uses it.
    With `read`, the file is read at once, so that no page faults are measured.
    """
    size, index = read_index(fd)
    if index["code_of"] is not None:
        _check_code(index["code_of"])
    memory = read_memory(fd, size) if read else mmap.mmap(fd, 0, access=mmap.ACCESS_COPY)
    return Loader(memory, index).load()  # type: ignore[no-any-return]


def read_index(fd: int) -> tuple[int, Index]:
    """Return the size and the index of a file; raises ValueError if it has none."""
    size = os.fstat(fd).st_size
    magic, start, length = FOOTER.unpack(os.pread(fd, FOOTER.size, max(0, size - FOOTER.size)))
    if magic != MAGIC:
        raise ValueError("the file was overwritten, or is not one of profkit")
    index: Index = json.loads(os.pread(fd, length, start))
    return size, index


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
