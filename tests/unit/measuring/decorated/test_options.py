"""`profile(mode=…)`: what may stand beside which mode, and what is decorated at all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from profkit import decorators, profile
from profkit.errors import UsageError
from profkit.measuring.decorated.options import MODES

MEASURING = {
    "num_threads": 2,
    "quick": True,
    "runs": 3,
    "timeout_s": 5.0,
    "min_run_time_s": 0.1,
    "retries": 1,
    "env": {"A": "b"},
    "imports": (),
}
SAMPLING = {"rate": 50, "sampler": "py-spy", "threads": True, "scope": "process", "stop_at_error": True}


def function(x: int = 1) -> int:
    return x


def generator() -> Iterator[int]:
    yield 1


async def async_generator() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("name", MEASURING)
def test_measuring_options_belong_to_measuring_modes(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is not an option of mode='samples'.*mode='timer'"):
        profile(**{name: MEASURING[name]})
    with pytest.raises(UsageError, match=f"{name} is not an option of mode='samples'"):
        profile(mode="samples", **{name: MEASURING[name]})
    profile(mode="timer", **{name: MEASURING[name]})(function)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SAMPLING)
def test_sampling_options_belong_to_samples(mode: Any, name: str) -> None:
    with pytest.raises(UsageError, match=f"mode='{mode.replace('+', '.')}'.*{name}=.*mode='samples'"):
        profile(mode=mode, **{name: SAMPLING[name]})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "time"}, "mode='time' is not valid; give one of 'samples', 'timer'"),
        ({"mode": "timer", "num_thread": 1}, "no option 'num_thread' with mode='timer'; did you mean"),
        ({"mode": "timer", "every": 0}, "every=0"),
        ({"mode": "timer", "every": True}, "every=True"),
        ({"mode": "timer", "enabled": 1}, "enabled=1"),
        ({"mode": "timer", "label": 5}, "label=5"),
        ({"mode": "timer", "num_threads": 0}, "num_threads=0"),
        ({"mode": "timer", "runs": 0}, "runs=0"),
        ({"mode": "timer", "imports": ["pandas"]}, "imports"),
        ({"mode": "callgrind", "num_threads": 2}, "num_threads=2"),
    ],
)
def test_what_makes_no_sense(options: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        profile(**options)(function)
    assert words in str(caught.value)


@pytest.mark.parametrize("mode", MODES)
class TestWhatIsDecorated:
    def test_generators_are_not(self, mode: Any) -> None:
        with pytest.raises(UsageError, match=r"returns a generator.* on a function that consumes it"):
            profile(mode=mode)(generator)
        with pytest.raises(UsageError, match="returns an async generator"):
            profile(mode=mode)(async_generator)
        with pytest.raises(UsageError, match="returns a generator"):
            profile(mode=mode)(staticmethod(generator))

    @pytest.mark.parametrize("thing", [5, "name", object()])
    def test_what_cannot_be_called_is_not(self, mode: Any, thing: Any) -> None:
        with pytest.raises(UsageError, match="is not callable"):
            profile(mode=mode)(thing)

    def test_a_class_is_not(self, mode: Any) -> None:
        with pytest.raises(UsageError, match="is a class"):
            profile(mode=mode)(Path)

    def test_what_is_not_enabled_is_the_function_itself(self, mode: Any) -> None:
        assert profile(mode=mode, enabled=False)(function) is function

    def test_it_looks_like_the_function(self, mode: Any) -> None:
        measured = profile(function, mode=mode)
        assert (measured.__name__, measured.__wrapped__) == ("function", function)  # type: ignore[attr-defined]
        assert measured.runs == ()
        assert measured.last_run is None


def test_disabled_is_the_function_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decorators, "is_spawned", lambda: True)
    assert profile(mode="timer")(function) is function


def test_decorating_loads_little() -> None:
    code = (
        "import sys\nfrom profkit import profile\n"
        "@profile(mode='timer')\ndef f(): pass\n"
        "print([name for name in sys.modules if name.partition('.')[0] in"
        " ('torch', 'numpy', 'psycopg', 'rich', 'click', 'psutil') or name == 'profkit.measuring.api'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.strip() == "[]"
