"""Memory of tensors: each storage once, and of it the bytes that tensors use.

A storage keeps its size and its tensors' offsets; unused bytes are a hole in the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_CHUNK = 64 << 20
"""Memory of other devices is copied to the CPU in chunks of this size."""

Piece = tuple[int, int]
"""Start and end in bytes."""


class Storage:
    """One of torch's storages, and the bytes of it to transfer."""

    def __init__(self, number: int, storage: torch.UntypedStorage) -> None:
        self.number, self.size, self.device = number, storage.nbytes(), str(storage.device)
        self._storage = storage
        self._used: list[Piece] | None = None

    @property
    def address(self) -> int:
        """Address of the memory; 0 if the CPU cannot read it."""
        return self._storage.data_ptr() if self.device == "cpu" else 0

    def use(self, start: int, end: int) -> None:
        """Note that a tensor needs these bytes; without such a note, the whole storage is transferred."""
        self._used = [*(self._used or ()), (start, end)]

    def pieces(self) -> list[Piece]:
        """Return the bytes to transfer, in order, without overlaps."""
        merged: list[Piece] = []
        for start, end in sorted([(0, self.size)] if self._used is None else self._used):
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(end, merged[-1][1])
            elif start < end:
                merged.append((start, end))
        return merged

    def read(self, piece: Piece) -> Iterator[memoryview]:
        """Yield the bytes of a piece; on the CPU, without copying them."""
        start, end = piece
        if self.device == "cpu":
            yield _memory(self.address + start, end - start)
            return
        torch = sys.modules["torch"]
        there = torch.empty(0, dtype=torch.uint8, device=self.device).set_(self._storage)
        for at in range(start, end, _CHUNK):
            here = there[at : min(at + _CHUNK, end)].cpu()
            yield _memory(here.data_ptr(), here.numel())


def _memory(address: int, size: int) -> memoryview:
    """Return a view of memory; its owner must outlive the view."""
    import ctypes  # torch has imported it

    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


class Storages:
    """Storages of one payload, numbered in order of appearance."""

    def __init__(self) -> None:
        self._known: dict[int, Storage] = {}

    def __iter__(self) -> Iterator[Storage]:
        return iter(self._known.values())

    def of(self, storage: torch.UntypedStorage) -> Storage:
        """Return the entry of a storage, equal for all Python objects of the same storage."""
        key: int = storage._cdata
        if key not in self._known:
            self._known[key] = Storage(len(self._known), storage)
        return self._known[key]

    def note(self, tensor: torch.Tensor) -> None:
        """Note the bytes that a tensor uses; its storage is pickled after it."""
        try:
            storage, itemsize = tensor.untyped_storage(), tensor.element_size()
            first = int(tensor.storage_offset()) * itemsize
            steps = sum(
                (int(size) - 1) * int(step) for size, step in zip(tensor.shape, tensor.stride(), strict=True)
            )
        except (NotImplementedError, RuntimeError):  # sparse and other tensors have no storage
            return
        if storage.device.type != "meta":
            self.of(storage).use(first, first + (steps + 1) * itemsize if tensor.numel() else first)


def torch_types() -> tuple[type, ...]:
    """Return the types of tensors and storages if the program has imported torch, else none."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "storage"):
        return ()
    return torch.Tensor, torch.storage.TypedStorage, torch.UntypedStorage
