"""Trials of samplers: the ways of each, and programs that fail. Real trials are integration tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from profkit.clock import Clock
from profkit.doctor import tried_program
from profkit.doctor.trials import Trial, TrialError, Way, try_way, ways
from profkit.errors import AttachDenied, InvalidOption, SamplerFailed, SamplerMissing, SamplerTimeout
from profkit.model.session import SamplerPlan
from profkit.process.procfs import is_running
from profkit.samplers import registry
from profkit.samplers.base import Attachment, LiveStacks
from profkit.samplers.options import SamplerOptions
from profkit.samplers.ptrace import DenialCause


class Odd:
    """A sampler that somebody added, which has no choice about stopping the program."""

    name = "odd"

    def __init__(self, missing: bool) -> None:
        self._missing = missing

    def find(self) -> str:
        if self._missing:
            raise SamplerMissing(self.name, "odd", "install it")
        return "/bin/true"

    def version(self) -> str:
        return "7"

    def check(self, options: SamplerOptions) -> None:
        if options.blocking is not False and options.blocking != "auto":
            raise InvalidOption("blocking", options.blocking, "leave it out")

    def plan(self, options: SamplerOptions, live: LiveStacks) -> SamplerPlan:
        raise NotImplementedError

    def attach(self, pid: int, plan: SamplerPlan, folder: Path, index: int, clock: Clock) -> Attachment:
        raise NotImplementedError

    def read(self, files: object, segment: object, plan: object) -> None:
        raise NotImplementedError


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Registered samplers are forgotten after the test."""
    monkeypatch.setattr(registry, "_MAKERS", dict(registry._MAKERS))
    monkeypatch.setattr(registry, "_SAMPLERS", dict(registry._SAMPLERS))
    return monkeypatch


@pytest.mark.usefixtures("register")
def test_every_registered_sampler_is_tried_in_all_ways() -> None:
    inside, others = (Way("cpython"), Way("inprocess")), (
        Way("pyspy", True), Way("pyspy", False), Way("strobeclient")
    )  # fmt: skip
    assert ways() == (*inside, *others)
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    assert ways() == (*inside, Way("odd"), *others)
    assert [way.name for way in ways()][2:5] == ["odd", "pyspy, blocking", "pyspy, nonblocking"]


@pytest.mark.usefixtures("register")
def test_a_sampler_that_is_not_installed_is_not_tried(tmp_path: Path) -> None:
    registry.register(Odd(missing=True))  # type: ignore[arg-type]
    trial = try_way(Way("odd"), tmp_path)
    assert isinstance(trial.missing, SamplerMissing)
    assert not trial.worked
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("register")
def test_an_option_that_the_program_refuses(tmp_path: Path) -> None:
    """The program knows only samplers that profkit registers itself."""
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    trial = try_way(Way("odd"), tmp_path)
    assert trial.error is not None
    assert trial.error.message.startswith("sampler='odd' is not valid")
    assert trial.error.fix.startswith("give one of auto, ")
    assert (trial.kept, trial.worked, trial.version) == (False, False, "7")


@pytest.mark.usefixtures("register")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('broken')", "the program ended with status 1: broken"),
        ("import os; os.kill(os.getpid(), 9)", "the program ended with status -9"),
    ],
)
def test_programs_that_fail(text: str, words: str, tmp_path: Path, register: pytest.MonkeyPatch) -> None:
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    register.setattr("profkit.doctor.trials._START", text)
    trial = try_way(Way("odd"), tmp_path)
    assert trial.error is not None
    assert words in trial.error.message


@pytest.mark.usefixtures("register")
def test_a_program_that_does_not_end_is_ended(tmp_path: Path, register: pytest.MonkeyPatch) -> None:
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    pids = tmp_path / "pids"
    text = f"import os, time; os.fork(); open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)"
    register.setattr("profkit.doctor.trials._START", text)
    register.setattr("profkit.doctor.trials._TIMEOUT_S", 1.0)
    trial = try_way(Way("odd"), tmp_path)
    assert trial.error is not None
    assert trial.error.message.endswith("did not end within 1 s")
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    assert not any(is_running(pid) for pid in found)


def test_what_works() -> None:
    good = Trial(Way("odd"), samples=1, kept=True)
    assert good.worked
    assert Trial(Way("odd"), links=1, kept=True).worked
    assert not Trial(Way("odd"), samples=1).worked, "its run was not kept"
    assert not Trial(Way("odd"), kept=True).worked, "it has no samples"
    assert not Trial(Way("odd"), samples=1, kept=True, error=TrialError("it failed late")).worked


_LOOK = "raise option or look at the sampler's log in the spool"


@pytest.mark.parametrize(
    ("error", "message", "fix", "cause"),
    [
        (
            SamplerFailed("odd", "start", "it broke", "try again"),
            "odd failed at start: it broke",
            "try again",
            None,
        ),
        (SamplerTimeout("odd", "RUNNING", 8, "option"), "odd was not RUNNING within 8 s", _LOOK, None),
        (AttachDenied("odd", 1, ""), "nothing denies it any more", "try again", DenialCause.UNKNOWN),
    ],
)
def test_errors_that_the_program_reports(
    error: Exception, message: str, fix: str, cause: DenialCause | None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(**_options: object) -> None:
        raise error

    monkeypatch.setattr(tried_program, "profile", fail)
    tried_program.run({}, tmp_path)
    fields = json.loads((tmp_path / "error.json").read_text())
    assert fields["message"].startswith(message)
    assert (fields["fix"], fields["cause"]) == (fix, cause.value if cause else None)
