"""Measurements that measured nothing fail: a share of no samples would be within its bound."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import attribution, inside_shares, tiny_calls, torn_stacks
from benchmarks.attribution import Tally
from benchmarks.figures import check_enough
from profkit.model.profile import Frame, Profile, ProfileBuilder, Thread


def profile_of(samples: int, name: str) -> Profile:
    """Samples of one function."""
    builder = ProfileBuilder()
    if samples:
        builder.add((Frame(name, "file.py", 1),), Thread(0, 1, "MainThread"), samples)
    return builder.build()


class Ended:
    """A program that was sampled."""

    pid = 1

    def communicate(self, _: str) -> tuple[str, str]:
        return json.dumps({"calls": 1.0, "loop": 1.0}), ""


@contextlib.contextmanager
def running(_: str) -> Iterator[Ended]:
    yield Ended()


def sample_rarely(monkeypatch: pytest.MonkeyPatch, module: Any, profile: Profile) -> None:
    recorded = SimpleNamespace(profile=profile, recording=SimpleNamespace(profile=profile, errors=0))
    monkeypatch.setattr(module, "running", running)
    monkeypatch.setattr(module, "sampled", lambda *_: recorded)


@pytest.mark.parametrize(
    ("module", "function", "least", "value"),
    [(torn_stacks, "a0", 10_000, 0.0), (tiny_calls, "calls", 5_000, 50.0)],
)
@pytest.mark.parametrize("quick", [True, False])
def test_samples_of_a_program(
    monkeypatch: pytest.MonkeyPatch, module: Any, function: str, least: int, value: float, quick: bool
) -> None:
    fewest = 1 if quick else least
    sample_rarely(monkeypatch, module, profile_of(fewest - 1, function))
    with pytest.raises(RuntimeError, match=f"{fewest - 1:,} samples, of at least {fewest:,}"):
        module.measure(quick)
    sample_rarely(monkeypatch, module, profile_of(fewest, function))
    assert module.measure(quick)[0].value == value


@pytest.mark.parametrize(("quick", "fewest"), [(True, 1), (False, 5_000)])
def test_inside_shares(monkeypatch: pytest.MonkeyPatch, quick: bool, fewest: int) -> None:
    def found(samples: int) -> Any:
        return lambda way, *_: {
            "kinds": [way.kind],
            "samples": samples,
            "true": {"x": 0.5},
            "seen": {"x": 0.5},
        }

    monkeypatch.setattr(inside_shares, "_found", found(fewest - 1))
    with pytest.raises(RuntimeError, match=f"{fewest - 1:,} samples, of at least {fewest:,}"):
        inside_shares.measure(quick)
    monkeypatch.setattr(inside_shares, "_found", found(fewest))
    assert {figure.verdict for figure in inside_shares.measure(quick)} == {"holds"}


@pytest.mark.parametrize(("quick", "fewest"), [(True, 1), (False, 500)])
def test_attribution(monkeypatch: pytest.MonkeyPatch, quick: bool, fewest: int) -> None:
    """Twelve rounds must suffice."""
    monkeypatch.setattr(attribution, "_MOST_ROUNDS", 1)
    monkeypatch.setattr(attribution, "_CASES", {"one": lambda *_: Tally(fewest - 1)})
    with pytest.raises(RuntimeError, match=f"{fewest - 1:,} samples, of at least {fewest:,}"):
        attribution.measure(quick)
    monkeypatch.setattr(
        attribution, "_CASES", {"one": lambda *_: Tally(fewest), "other": lambda *_: Tally(9000)}
    )
    figures = attribution.measure(quick)
    assert len(figures) == 2 * len(attribution.LENGTHS_S) * len(attribution.MODES)
    assert [figure.detail.split(";")[0] for figure in figures[:2]] == [f"0 of {fewest:,}", "0 of 9,000"]


def test_attribution_repeats_rounds_until_there_are_enough_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attribution, "_CASES", {"one": lambda *_: Tally(300, 1, 5)})
    assert {figure.detail.split(";")[0] for figure in attribution.measure(quick=False)} == {"7 of 2,100"}


def test_a_measurement_says_what_was_sampled_too_rarely() -> None:
    check_enough(3, 3, "py-spy")
    with pytest.raises(RuntimeError, match=r"^py-spy: 2 samples, of at least 3$"):
        check_enough(2, 3, "py-spy")
