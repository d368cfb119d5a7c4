"""Functions on their way to another process: which code runs there, and what cannot go."""

from __future__ import annotations

import functools
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from profkit.errors import CannotTravel
from profkit.measuring.transfer.payload import pack
from profkit.measuring.worker.unpack import DECORATED
from tests.integration.programs import travelling
from tests.integration.unpacker import Unpacker

CALL = "function(*args, **kwargs)"
PLAIN = "[type(function).__name__, function.__module__]"
BOUND = travelling.Owner(20)


@pytest.fixture(scope="module")
def child() -> Iterator[Unpacker]:
    with Unpacker() as unpacker:
        yield unpacker


@pytest.mark.parametrize(
    ("function", "args", "value"),
    [
        (travelling.plain, (2,), 6),
        (travelling.decorated, (12,), 7),
        (travelling.calls_decorated, (12,), 7),
        (travelling.within(), (12,), 7),
        (BOUND.method, (1,), 21),
        (travelling.Owner.method, (BOUND, 1), 21),
        (travelling.Owner.inner_class, (2,), "OwnerOwner"),
        (travelling.Owner.outer_class, (2,), "OwnerOwner"),
        (travelling.Owner.outer_static, (2,), -2),
        (BOUND.inner_static, (2,), -2),
        (sorted, ([2, 1],), [1, 2]),
        (lambda x: x + 1, (1,), 2),
        (functools.lru_cache(maxsize=3)(lambda x: x + 1), (1,), 2),
    ],
)
def test_a_function_gives_there_what_it_gives_here(
    child: Unpacker, function: Any, args: tuple[object, ...], value: object
) -> None:
    assert child.ask(pack(function, args), CALL) == value
    assert child.ask(pack(function, args), f"hasattr(type(function), {DECORATED!r})") is False


def test_what_refers_to_a_decorated_function_gets_the_plain_one(child: Unpacker) -> None:
    decorated = travelling.decorated

    def caller(how: Any) -> list[str]:
        return [type(decorated).__name__, type(how).__name__]

    assert child.ask(pack(caller, (decorated,)), CALL) == ["function", "function"]


def test_the_same_decorated_function_stays_the_same(child: Unpacker) -> None:
    inner = travelling.within()
    payload = pack(print, (inner, inner, inner.__wrapped__))  # type: ignore[attr-defined]
    assert child.ask(payload, "args[0] is args[1] is args[2]")


def test_a_module_is_imported_afresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "edited_module.py"
    file.write_text("from profkit import profile\ndef f(): return 1\n@profile\ndef g(): return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import edited_module  # type: ignore[import-not-found]

    payloads = [pack(edited_module.f), pack(edited_module.g)]
    file.write_text("from profkit import profile\ndef f(): return 2.0\n@profile\ndef g(): return 2.0\n")
    with Unpacker() as child:
        assert [child.ask(payload, "function()") for payload in payloads] == [2.0, 2.0]


def test_what_cannot_be_imported_goes_by_value(tmp_path: Path, child: Unpacker) -> None:
    file = tmp_path / "nowhere_to_be_found.py"
    file.write_text("N = 4\nclass C:\n    n = 5\ndef f(): return N + C.n\n")
    spec = importlib.util.spec_from_file_location("nowhere_to_be_found", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nowhere_to_be_found"] = module
    try:
        spec.loader.exec_module(module)
        assert child.ask(pack(module.f), CALL) == 9
    finally:
        del sys.modules["nowhere_to_be_found"]


def test_a_script_travels_by_value(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=Path.cwd(),
                          env={"PYTHONPATH": str(Path.cwd())})  # fmt: skip
    assert done.stdout.splitlines() == ["[15, 3, 7]", "__main__:fall(3, at=Point)"], done.stderr


SCRIPT = """
from profkit import profile
from profkit.measuring.transfer.payload import pack
from tests.integration.unpacker import Unpacker

class Point:
    def __init__(self, x):
        self.x = x
    @profile
    def moved(self):
        return Point(self.x + 1)

STEP = 5

@profile
def fall(n, at):
    return [STEP * n, n, at.moved().x] if n < 4 else fall(n - 1, at)

if __name__ == "__main__":
    payload = pack(fall, (3,), {"at": Point(6)})
    STEP = 0
    with Unpacker() as child:
        print(child.ask(payload, "function(*args, **kwargs)"))
    print(payload.what)
"""


class TestWhatCannotGo:
    def test_an_argument_is_named(self) -> None:
        with pytest.raises(CannotTravel) as caught:
            pack(travelling.plain, (threading.Lock(),))
        assert caught.value.what == "argument 'x' of plain (lock)"
        assert caught.value.detail == "cannot pickle '_thread.lock' object"

    def test_a_part_of_an_argument_is_named(self) -> None:
        owner = travelling.Owner()
        owner.lock = [1, threading.Lock()]  # type: ignore[attr-defined]
        with pytest.raises(CannotTravel) as caught:
            pack(travelling.Owner.inner_static, (), {"x": {"owner": owner}})
        assert caught.value.what == "argument 'x' of Owner.inner_static (dict)['owner'].lock[1]"

    def test_a_variable_of_the_function_is_named(self) -> None:
        guard = threading.Lock()

        def guarded() -> None:
            with guard:
                pass

        with pytest.raises(CannotTravel) as caught:
            pack(guarded)
        assert caught.value.what.endswith("guarded, its variable 'guard'")
        assert "cannot pickle '_thread.lock' object" in caught.value.detail

    def test_an_owner_is_named(self) -> None:
        owner = travelling.Owner()
        owner.lock = threading.Lock()  # type: ignore[attr-defined]
        with pytest.raises(CannotTravel, match=r"the function Owner.method.*lock"):
            pack(owner.method, (1,))

    def test_what_is_too_big(self) -> None:
        with pytest.raises(CannotTravel, match="larger than 1 MB"):
            pack(travelling.plain, (b"x" * 2_000_000,), most_bytes=1 << 20)

    def test_nothing_is_left_open(self) -> None:
        before = sorted(os.listdir("/proc/self/fd"))
        with pytest.raises(CannotTravel):
            pack(travelling.plain, (threading.Lock(),))
        pack(travelling.plain, (1,)).close()
        payload = pack(travelling.plain, (1,))
        del payload
        assert sorted(os.listdir("/proc/self/fd")) == before


def test_much_beside_tensors_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("profkit.measuring.transfer.payload.MANY_BYTES", 1 << 20)
    pack(travelling.plain, (b"x" * (2 << 20),))
    assert "plain: besides tensors and arrays, 2 MB" in caplog.text


def test_what_a_payload_says() -> None:
    payload = pack(travelling.decorated, (3,))
    assert payload.what == "tests.integration.programs.travelling:decorated(3)"
    assert payload.file == travelling.__file__
    assert payload.line > 10
    assert not payload.coroutine
    assert payload.packages == ()
    assert pack(travelling.coroutine, (3,)).coroutine


def test_payloads_cannot_be_changed() -> None:
    payload = pack(travelling.plain, (1,))
    with pytest.raises(PermissionError):
        os.pwrite(payload.fd, b"x", 0)


def test_other_pickles_are_as_before() -> None:
    pack(travelling.decorated, (1,))
    assert cloudpickle.list_registry_pickle_by_value() == set()
    assert cloudpickle.loads(cloudpickle.dumps(travelling.decorated)) is travelling.decorated


CLOSED_AT_EXIT = """
import atexit, os
kept = []
def close():
    kept[0].close()
    kept[0].close()
    print(os.path.exists(f"/proc/self/fd/{kept[0].fd}"))
atexit.register(close)
from profkit.measuring.transfer.payload import pack
kept.append(pack(int, (1,)))
"""


def test_a_payload_is_closed_as_the_program_ends_too() -> None:
    done = subprocess.run([sys.executable, "-c", CLOSED_AT_EXIT], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")
