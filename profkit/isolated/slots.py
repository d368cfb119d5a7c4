"""The zygotes of isolated calls: lent to one call at a time, kept for the next, bounded in number."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count

from profkit.measuring.pool.kinds import ZygoteKind


class Slots:
    """Kinds of zygotes with a draw of their own each, so that workers of equal kinds run side by side.

    Beyond `most` of them, those that have been idle for longest are retired.
    """

    def __init__(self, most: int, retire: Callable[[Iterable[ZygoteKind]], None]) -> None:
        self._most, self._retire = most, retire
        self.begin()

    def begin(self) -> None:
        """Start over, as a process that was forked off must."""
        self._lock = threading.RLock()
        self._idle: OrderedDict[ZygoteKind, ZygoteKind] = OrderedDict()
        self._busy: dict[ZygoteKind, ZygoteKind] = {}

    def take(self, kind: ZygoteKind) -> ZygoteKind:
        """Return the slot of this kind that was used last, or a new one."""
        with self._lock:
            slot = next((slot for slot in reversed(self._idle) if self._idle[slot] == kind), None)
            if slot is not None:
                self._busy[slot] = self._idle.pop(slot)
                return slot
            retired = self._make_room(1)
            slot = self._new(kind)
            self._busy[slot] = kind
        self._end(retired)
        return slot

    def give_back(self, slot: ZygoteKind) -> None:
        """Have a slot used again."""
        with self._lock:
            kind = self._busy.pop(slot, None)
            if kind is not None:  # else a fork has come between
                self._idle[slot] = kind
            retired = self._make_room(0)
        self._end(retired)

    def keep_ready(self, kind: ZygoteKind, number: int) -> list[ZygoteKind]:
        """Return so many slots of this kind that are idle, or as many as there may be."""
        with self._lock:
            known = [slot for slot in self._idle if self._idle[slot] == kind][:number]
            wanted = max(0, min(number, self._most - len(self._busy)) - len(known))
            for slot in known:
                self._idle.move_to_end(slot)
            retired = self._make_room(wanted, spared=len(known))
            for _ in range(wanted):
                slot = self._new(kind)
                self._idle[slot] = kind
                known.append(slot)
        self._end(retired)
        return known

    def _end(self, retired: list[ZygoteKind]) -> None:
        """Outside the lock, as ending may take a moment."""
        if retired:
            self._retire(retired)

    def _make_room(self, number: int, spared: int = 0) -> list[ZygoteKind]:
        retired = []
        while len(self._idle) > spared and len(self._idle) + len(self._busy) + number > self._most:
            retired.append(self._idle.popitem(last=False)[0])
        return retired

    def _new(self, kind: ZygoteKind) -> ZygoteKind:
        slots = (replace(kind, draw=f"call-{number}") for number in count())
        return next(slot for slot in slots if slot not in self._idle and slot not in self._busy)
