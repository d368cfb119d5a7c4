"""Zygotes that calls share, packed calls that wait, futures, and results that are read."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import datetime
import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.errors import UsageError, WorkerError
from profkit.isolated.dispatch import PackedCall, Slots
from profkit.isolated.future import CallFuture
from profkit.isolated.options import settings_of
from profkit.measuring.errors import CannotReturn, MemoryExceeded, ResultUnreadable
from profkit.measuring.pool.command import ZygoteKind
from profkit.measuring.transfer.payload import pack
from profkit.measuring.transfer.returned import NotPlain, new_result, read_result
from profkit.measuring.worker import calling
from profkit.measuring.worker.unpack import FOOTER, MAGIC
from profkit.model.measurement import Preload, Tool


def kind(name: str) -> ZygoteKind:
    return ZygoteKind((name,), Tool.NONE, Preload.NOTHING, (), calls=True)


class Retired:
    def __init__(self) -> None:
        self.kinds: list[ZygoteKind] = []

    def __call__(self, kinds: Any) -> None:
        self.kinds += kinds


def test_a_slot_is_used_again_and_busy_ones_are_not_shared() -> None:
    slots = Slots(4, Retired())
    first, second = slots.take(kind("a")), slots.take(kind("a"))
    assert first != second
    slots.give_back(first)
    assert slots.take(kind("a")) == first
    assert slots.take(kind("b")).command == ("b",)


def test_the_slot_that_was_used_last_comes_first() -> None:
    slots = Slots(4, Retired())
    taken = [slots.take(kind("a")) for _ in range(3)]
    for slot in (taken[1], taken[0], taken[2]):
        slots.give_back(slot)
    assert slots.take(kind("a")) == taken[2]


def test_those_idle_for_longest_are_retired() -> None:
    retired = Retired()
    slots = Slots(2, retired)
    for name in ("a", "b", "a", "c"):
        slots.give_back(slots.take(kind(name)))
    assert [slot.command for slot in retired.kinds] == [("b",)]


def test_warmed_slots_are_no_more_than_there_may_be() -> None:
    slots = Slots(3, Retired())
    ready = slots.keep_ready(kind("a"), 9)
    assert len(set(ready)) == 3
    assert slots.keep_ready(kind("a"), 2) == ready[:2]
    assert {slots.take(kind("a")) for _ in range(3)} == set(ready)


class Model:
    """What must hold after any sequence of calls."""

    def __init__(self, most: int) -> None:
        self.retired = Retired()
        self.slots = Slots(most, self.retired)
        self.most, self.busy = most, list[ZygoteKind]()

    def living(self) -> set[ZygoteKind]:
        return set(self.slots._idle) | set(self.slots._busy)


@given(st.integers(1, 5), st.lists(st.tuples(st.sampled_from("abcd-+"), st.integers(0, 4))))
def test_slots_are_bounded_and_exclusive(most: int, steps: list[tuple[str, int]]) -> None:
    model = Model(most)
    for what, number in steps:
        if what == "-" and model.busy:
            model.slots.give_back(model.busy.pop(number % len(model.busy)))
        elif what == "+":
            model.slots.keep_ready(kind("abcd"[number % 4]), number + 1)
        elif what != "-":
            slot = model.slots.take(kind(what))
            assert slot not in model.busy
            assert replace(slot, draw="") == kind(what)
            model.busy.append(slot)
        assert set(model.busy) == set(model.slots._busy)
        assert len(model.living()) <= max(most, len(model.busy))


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
    functions = {len: False, os.path.join: False, kind: False, lambda: 1: True, Retired().__call__: False}
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


def future() -> CallFuture[int]:
    def drop(of: CallFuture[int]) -> bool:
        of.end_cancelled()
        return True

    return CallFuture("call", drop)


def test_a_future_runs_until_it_is_done() -> None:
    made = future()
    assert not made.running()
    assert repr(made) == "<CallFuture 'call' waiting>"
    made.begin()
    assert made.running()
    assert repr(made) == "<CallFuture 'call' running>"
    made.set_result(1)
    assert not made.running()
    assert made.result(0) == 1
    assert repr(made) == "<CallFuture 'call' done>"


def test_a_running_future_can_be_cancelled() -> None:
    made = future()
    made.begin()
    assert made.cancel()
    assert made.cancelled()
    assert repr(made) == "<CallFuture 'call' cancelled>"
    assert not made.running()
    assert concurrent.futures.wait([made], 0).done == {made}
    with pytest.raises(concurrent.futures.CancelledError):
        made.result(0)


def test_a_future_can_be_awaited() -> None:
    async def main() -> list[int]:
        futures = [future() for _ in range(3)]
        for number, each in enumerate(futures):
            each.set_result(number)
        return [await each for each in futures]

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_cancelled_task_waits_for_the_end_of_its_call() -> None:
    asked: list[CallFuture[int]] = []

    def drop(of: CallFuture[int]) -> bool:
        asked.append(of)
        return True

    async def main() -> None:
        made = CallFuture("call", drop)
        task = asyncio.ensure_future(awaiting(made))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        while not asked:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done()
        made.end_cancelled()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def awaiting(made: CallFuture[int]) -> int:
        return await made

    asyncio.run(main())


def written(value: object) -> int:
    descriptor = new_result()
    assert calling.answer(lambda: value, descriptor) == {"ok": True}
    return descriptor


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.dates() | st.decimals(allow_nan=False) | st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@given(plain, st.booleans())
def test_plain_data_survives(value: object, trusted: bool) -> None:
    descriptor = written(value)
    try:
        assert read_result(descriptor, trusted=trusted) == value
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("value", [os.system, print, eval, subprocess.Popen, datetime, Retired(), Exception])
def test_only_plain_data_comes_from_elsewhere(value: object) -> None:
    descriptor = written(value) if not isinstance(value, type(os)) else written(os.path.join)
    if value is not Exception:
        with pytest.raises(NotPlain):
            read_result(descriptor, trusted=False)
    os.close(descriptor)


@pytest.mark.parametrize("trusted", [True, False])
def test_results_that_were_cut_raise(trusted: bool) -> None:
    whole = pickle.dumps({"a": [1, 2.5, b"bytes"], "when": datetime.date(2026, 1, 1)}, protocol=5)
    index = json.dumps({"buffers": [], "storages": []}).encode()
    for size in range(11, len(whole), 5):  # after the header of its frame
        descriptor, cut = new_result(), whole[:size] + b"\xff" * 64  # no opcode
        os.write(descriptor, cut + index + FOOTER.pack(MAGIC, len(cut), len(index)))
        with pytest.raises(
            (pickle.UnpicklingError, EOFError, ValueError, LookupError, TypeError, ImportError)
        ):
            read_result(descriptor, trusted=trusted)
        os.close(descriptor)


def test_a_result_that_somebody_may_still_change_is_not_read() -> None:
    import mmap

    descriptor = written([1, 2, 3])
    with mmap.mmap(descriptor, 0), pytest.raises(OSError, match="busy"):
        read_result(descriptor, trusted=True)
    assert read_result(descriptor, trusted=True) == [1, 2, 3]
    with pytest.raises(OSError, match="permitted"):
        os.write(descriptor, b"more")
    os.close(descriptor)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kwarg": 1}, "kwargs="), ({"timeout_s": "1"}, "timeout_s"), ({"source_cmd": "a && b"}, "no shell"),
        ({"python": "x", "source_cmd": "y"}, "one of them"), ({"num_threads": 0}, "num_threads"),
    ],
)  # fmt: skip
def test_options_are_checked(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings_of(len, options)  # type: ignore[arg-type]


def test_errors_of_limits_say_what_to_do() -> None:
    excess = MemoryExceeded("f", 3 << 30, 2 << 30, default=True, output="where\n")
    assert str(excess) == (
        "'f' was ended: it used 3.00 GiB of memory, more than the default limit of 2.00 GiB; use less, or "
        "raise memory_limit_bytes\n    where"
    )
    assert "return plain data" in str(CannotReturn("f", "generator", "cannot pickle"))
    for error in (excess, CannotReturn("f", "g", "no"), ResultUnreadable("f", "no")):
        assert isinstance(error, WorkerError)
        assert error.exit_code == 3


def test_this_interpreter_is_not_another_one() -> None:
    assert settings_of(len, {"python": sys.executable}).is_own
    assert not settings_of(len, {"python": "/usr/bin/python3"}).is_own
    assert not settings_of(len, {"source_cmd": "env A=1"}).is_own


def test_profkit_imports_nothing_of_it() -> None:
    program = """
import sys, profkit
from profkit import profile, measure
names = [name for name in sys.modules if name.startswith("profkit.isolated")]
assert not names, names
assert profkit.isolated.call.__name__ == "call"
assert "isolated" in dir(profkit)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
