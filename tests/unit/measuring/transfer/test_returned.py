"""Results of isolated calls, written and read back; only plain data comes from elsewhere."""

from __future__ import annotations

import datetime
import json
import os
import pickle
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profkit.measuring.transfer.payload import NotPlain, new_result, read_result
from profkit.measuring.worker import calling
from profkit.measuring.worker.unpack import FOOTER, MAGIC


class Own:
    pass


def written(value: object) -> int:
    descriptor = new_result()
    assert calling.reply_of(lambda: value, descriptor) == {"ok": True}
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


@pytest.mark.parametrize("value", [os.system, print, eval, subprocess.Popen, datetime, Own(), Exception])
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
