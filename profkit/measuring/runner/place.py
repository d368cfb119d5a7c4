"""Where a worker runs: its current folder and `sys.path`, the caller's or those of a copy of its checkout."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from profkit.model.workorder import WorkOrder, WorkTree


def worker_folder(order: WorkOrder) -> str:
    """The caller's current folder, or the same folder of the order's tree; its top where there is none."""
    if order.tree is None:
        return os.getcwd()
    moved = _moved(os.getcwd(), order.tree)
    return moved if moved is not None and os.path.isdir(moved) else order.tree.copy


def first_on_path(order: WorkOrder) -> list[str]:
    """What stands first on a worker's `sys.path`, in any environment: the tree's folders of modules."""
    if order.tree is None:
        return []
    source = os.path.join(order.tree.copy, "src")
    return list(dict.fromkeys([worker_folder(order), *([source] if os.path.isdir(source) else [])]))


def worker_path(order: WorkOrder) -> list[str]:
    """`sys.path` of a worker: the caller's. Empty in another environment, which has one of its own."""
    if order.source_cmd or order.python:
        return []
    entries = [os.path.abspath(entry) for entry in (*order.path, *sys.path)]
    return entries if order.tree is None else list(_entries_of(order.tree, entries))


def _entries_of(tree: WorkTree, entries: list[str]) -> Iterator[str]:
    """Folders of the checkout become those of the tree; an environment that lies in the checkout stays."""
    for entry in entries:
        moved = _moved(entry, tree)
        if moved is None or _within(entry, sys.prefix):
            yield entry
        elif os.path.exists(moved):
            yield moved


def _moved(path: str, tree: WorkTree) -> str | None:
    """The place in the tree of a path in the checkout; None for one outside of it."""
    if not _within(path, tree.checkout):
        return None
    return os.path.normpath(os.path.join(tree.copy, os.path.relpath(_real(path), _real(tree.checkout))))


def _within(path: str, folder: str) -> bool:
    return os.path.commonpath([_real(path), _real(folder)]) == _real(folder)


def _real(path: str) -> str:
    return os.path.realpath(path)
