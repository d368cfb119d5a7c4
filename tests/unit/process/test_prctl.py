from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from profkit.process.prctl import (
    SCOPE_FILE,
    DumpableState,
    allow_tracer,
    is_self_dumpable,
    ptrace_scope,
    set_dumpable,
)


def scope_file(folder: Path, text: str) -> Path:
    path = folder / "ptrace_scope"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "scope"), [("2\n", 2), ("0\n", 0), ("3\n", 3), ("", 0), ("strict\n", 0), ("\u00e9\n", 0)]
)
def test_nothing_is_asked_where_it_would_not_help(tmp_path: Path, text: str, scope: int):
    path = scope_file(tmp_path, text)
    assert ptrace_scope(path) == scope
    assert not allow_tracer(os.getpid(), path)


def test_a_scope_that_is_missing_or_may_not_be_read_is_scope_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def deny(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    assert ptrace_scope(tmp_path / "missing") == 0
    monkeypatch.setattr(Path, "read_text", deny)
    assert ptrace_scope(tmp_path) == 0
    assert not allow_tracer(os.getpid(), tmp_path)


def test_a_time_limit_of_the_program_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def expire(*_: object) -> None:
        raise TimeoutError("the program's")

    def read(*_: object, **__: object) -> str:
        signal.raise_signal(signal.SIGALRM)
        return "1"

    before = signal.signal(signal.SIGALRM, expire)
    try:
        monkeypatch.setattr(Path, "read_text", read)
        with pytest.raises(TimeoutError, match="the program's"):
            ptrace_scope(tmp_path)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_scope_1_asks_the_kernel(tmp_path: Path):
    # The kernel answers EINVAL where it has no Yama.
    assert allow_tracer(os.getpid(), scope_file(tmp_path, "1\n")) == SCOPE_FILE.exists()


def test_this_process_is_dumpable():
    assert is_self_dumpable()


def test_a_state_is_lifted_and_restored_if_it_may_be():
    forbidden, allowed = DumpableState(may_lift=False), DumpableState(may_lift=True)
    allowed.lift()
    allowed.restore()
    assert is_self_dumpable()
    try:
        set_dumpable(dumpable=False)
        forbidden.lift()
        assert not is_self_dumpable()
        for _ in range(2):
            allowed.lift()
            assert is_self_dumpable()
            allowed.restore()
            assert not is_self_dumpable()
    finally:
        set_dumpable()


def test_this_process_can_change_whether_it_is_dumpable():
    try:
        assert set_dumpable(dumpable=False)
        assert not is_self_dumpable()
    finally:
        assert set_dumpable()
    assert is_self_dumpable()
