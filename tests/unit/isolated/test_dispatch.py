"""Zygotes that calls share, and packed calls that wait."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from profkit.isolated.dispatch import PackedCall, Slots
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.transfer.payload import pack
from profkit.measuring.worker.unpack import FOOTER
from profkit.model.measurement import Preload, Tool


def kind(name: str) -> ZygoteKind:
    return ZygoteKind((name,), Tool.NONE, Preload.NOTHING, (), calls=True)


def ignored(kinds: Iterable[ZygoteKind]) -> None:
    pass


def test_a_slot_is_used_again_and_busy_ones_are_not_shared() -> None:
    slots = Slots(4, ignored)
    first, second = slots.take(kind("a")), slots.take(kind("a"))
    assert first != second
    slots.give_back(first)
    assert slots.take(kind("a")) == first
    assert slots.take(kind("b")).command == ("b",)


def test_the_slot_that_was_used_last_comes_first() -> None:
    slots = Slots(4, ignored)
    taken = [slots.take(kind("a")) for _ in range(3)]
    for slot in (taken[1], taken[0], taken[2]):
        slots.give_back(slot)
    assert slots.take(kind("a")) == taken[2]


def test_those_idle_for_longest_are_retired() -> None:
    retired: list[ZygoteKind] = []
    slots = Slots(2, retired.extend)
    for name in ("a", "b", "a", "c"):
        slots.give_back(slots.take(kind(name)))
    assert [slot.command for slot in retired] == [("b",)]


def test_warmed_slots_are_no_more_than_there_may_be() -> None:
    slots = Slots(3, ignored)
    ready = slots.keep_ready(kind("a"), 9)
    assert len(set(ready)) == 3
    assert slots.keep_ready(kind("a"), 2) == ready[:2]
    assert {slots.take(kind("a")) for _ in range(3)} == set(ready)


@given(st.integers(1, 5), st.lists(st.tuples(st.sampled_from("abcd-+"), st.integers(0, 4))))
def test_slots_are_bounded_and_exclusive(most: int, steps: list[tuple[str, int]]) -> None:
    slots, busy = Slots(most, ignored), list[ZygoteKind]()
    for what, number in steps:
        if what == "-" and busy:
            slots.give_back(busy.pop(number % len(busy)))
        elif what == "+":
            slots.keep_ready(kind("abcd"[number % 4]), number + 1)
        elif what != "-":
            slot = slots.take(kind(what))
            assert slot not in busy
            assert replace(slot, draw="") == kind(what)
            busy.append(slot)
        assert set(busy) == set(slots._busy)
        assert len({*slots._idle, *slots._busy}) <= max(most, len(busy))


@given(st.integers(0, 3_000_000))
def test_packed_calls_open_as_they_were(size: int) -> None:
    payload = pack(len, (bytes(size),))
    wanted = os.pread(payload.fd, 1 << 23, 0)
    packed = PackedCall(payload)
    for _ in range(2):
        descriptor = packed.open()
        assert os.pread(descriptor, 1 << 23, 0) == wanted
        os.close(descriptor)
    packed.close()
    packed.close()


def test_what_travels_by_value_is_known() -> None:
    functions = {
        len: False,
        os.path.join: False,
        kind: False,
        lambda: 1: True,
        contextlib.ExitStack().close: False,
    }
    for function, wanted in functions.items():
        with contextlib.closing(pack(function)) as payload:
            whole = os.pread(payload.fd, os.fstat(payload.fd).st_size, 0)
        _, start, length = FOOTER.unpack(whole[-FOOTER.size :])
        version = list(sys.version_info[:2]) if wanted else None
        assert json.loads(whole[start : start + length])["code_of"] == version, function


def test_only_so_many_packed_calls_hold_descriptors() -> None:
    before = len(os.listdir("/proc/self/fd"))
    packed = [PackedCall(pack(len, (bytes(2 << 20),))) for _ in range(80)]
    assert len(os.listdir("/proc/self/fd")) - before == 64
    for each in packed:
        each.close()
    assert len(os.listdir("/proc/self/fd")) == before
