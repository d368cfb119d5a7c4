"""Trials of samplers: the ways of each, and programs that fail. Real trials are integration tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from profkit.clock import Clock
from profkit.doctor import trials, tried_program
from profkit.doctor.trials import (
    Candidate,
    Trial,
    TrialError,
    auto_order,
    candidates,
    not_tried,
    try_candidate,
)
from profkit.errors import AttachDenied, InvalidOption, SamplerFailed, SamplerMissing, SamplerTimeout
from profkit.model.session import SamplerPlan
from profkit.process.procfs import is_running
from profkit.samplers import registry
from profkit.samplers.base import Attachment, LiveStacks, Sampler
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


ODD = Candidate("odd")


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Registered samplers are forgotten after the test."""
    monkeypatch.setattr(registry, "_SAMPLERS", dict(registry._SAMPLERS))
    return monkeypatch


@pytest.fixture
def odd(register: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A sampler that somebody added is registered."""
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    return register


@pytest.mark.usefixtures("register")
def test_every_registered_sampler_is_tried_in_all_candidates() -> None:
    inside, others = (Candidate("cpython"), Candidate("inprocess")), (
        Candidate("pyspy", True), Candidate("pyspy", False), Candidate("strobeclient")
    )  # fmt: skip
    assert candidates() == (*inside, *others)
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    assert candidates() == (*inside, ODD, *others)
    assert [one.name for one in candidates()][2:5] == ["odd", "pyspy, blocking", "pyspy, nonblocking"]


PYSPY = (Candidate("pyspy", True), Candidate("pyspy", False))


@pytest.mark.parametrize(
    ("version", "free_threaded", "order"),
    [
        ((3, 13), False, (*PYSPY, Candidate("inprocess"))),
        ((3, 14), False, (*PYSPY, Candidate("inprocess"))),
        ((3, 15), False, (Candidate("cpython"), *PYSPY, Candidate("inprocess"))),
        ((3, 14), True, (Candidate("inprocess"), Candidate("cpython"), *PYSPY)),
        ((3, 15), True, (Candidate("cpython"), Candidate("inprocess"), *PYSPY)),
    ],
)
@pytest.mark.parametrize("is_missing", [False, True])
def test_the_order_of_auto(
    version: tuple[int, int], free_threaded: bool, order: tuple[Candidate, ...], is_missing: bool,
    register: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def find(sampler: Sampler) -> str:
        if is_missing:
            raise SamplerMissing(sampler.name, "program", "install it")
        return "/bin/true"

    register.setattr(registry.shutil, "which", lambda _: None)
    register.setattr(registry.sys, "version_info", version)
    register.setattr(registry, "_FREE_THREADED", free_threaded)
    for name in ("cpython", "inprocess", "pyspy"):
        register.setattr(type(registry.resolve(name)), "find", find)
    assert auto_order() == order


@pytest.mark.usefixtures("register")
def test_strobeclient_comes_first_if_it_is_on_path(register: pytest.MonkeyPatch) -> None:
    register.setattr(registry.shutil, "which", lambda _: "/bin/strobeclient")
    assert auto_order()[0] == Candidate("strobeclient")


def test_py_spy_is_not_tried_with_a_free_threaded_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "_FREE_THREADED", True)
    monkeypatch.setattr(type(registry.resolve("pyspy")), "find", lambda _: "/bin/true")
    for candidate in PYSPY:
        trial = try_candidate(candidate, tmp_path)
        assert trial == not_tried(candidate, TrialError("no folder"))
        assert trial.unsupported == "py-spy does not read free-threaded Python"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("register")
def test_samplers_that_cannot_be_tried() -> None:
    error = TrialError("no file can be written", "write elsewhere")
    registry.register(Odd(missing=False))  # type: ignore[arg-type]
    assert not_tried(ODD, error) == Trial(ODD, error=error)
    registry.register(Odd(missing=True))  # type: ignore[arg-type]
    assert not_tried(ODD, error).missing is not None


@pytest.mark.usefixtures("register")
def test_a_sampler_that_is_not_installed_is_not_tried(tmp_path: Path) -> None:
    registry.register(Odd(missing=True))  # type: ignore[arg-type]
    trial = try_candidate(ODD, tmp_path)
    assert isinstance(trial.missing, SamplerMissing)
    assert not trial.worked
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("odd")
def test_an_option_that_the_program_refuses(tmp_path: Path) -> None:
    """The program knows only samplers that profkit registers itself."""
    trial = try_candidate(ODD, tmp_path)
    assert trial.error is not None
    assert trial.error.message.startswith("sampler='odd' is not valid")
    assert trial.error.fix.startswith("give one of auto, ")
    assert (trial.kept, trial.worked, trial.version) == (False, False, "7")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit('broken')", "the program ended with status 1: broken"),
        ("import os; os.kill(os.getpid(), 9)", "the program ended with status -9"),
    ],
)
def test_programs_that_fail(text: str, words: str, tmp_path: Path, odd: pytest.MonkeyPatch) -> None:
    odd.setattr("profkit.doctor.trials._START", text)
    trial = try_candidate(ODD, tmp_path)
    assert trial.error is not None
    assert words in trial.error.message


def test_a_program_that_does_not_end_is_ended(tmp_path: Path, odd: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    text = f"import os, time; os.fork(); open({str(pids)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)"
    odd.setattr("profkit.doctor.trials._START", text)
    odd.setattr("profkit.doctor.trials._TIMEOUT_S", 1.0)
    trial = try_candidate(ODD, tmp_path)
    assert trial.error is not None
    assert trial.error.message.endswith("did not end within 1 s")
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    assert not any(is_running(pid) for pid in found)


FAILS_ONCE = """
import os, sys
if not os.path.exists({marker!r}):
    open({marker!r}, "w").close()
    sys.exit("busy")
"""


def test_a_failed_trial_is_repeated_once(tmp_path: Path, odd: pytest.MonkeyPatch) -> None:
    marker, folder = tmp_path / "marker", tmp_path / "trial"
    folder.mkdir()
    odd.setattr("profkit.doctor.trials._START", FAILS_ONCE.format(marker=str(marker)))
    trial = try_candidate(ODD, folder)
    assert trial.error is None, "the second attempt's program did not fail"
    assert (trial.worked, trial.repeated) == (False, False), "but it was not sampled"


def test_a_denied_trial_is_not_repeated(tmp_path: Path, odd: pytest.MonkeyPatch) -> None:
    text = """
import json, sys
from pathlib import Path
folder = Path(json.loads(sys.argv[1])[2])
(folder / "error.json").write_text(json.dumps({"message": "denied", "fix": "", "cause": "ptrace_scope"}))
"""
    odd.setattr("profkit.doctor.trials._START", text.replace("ptrace_scope", next(iter(DenialCause)).value))
    trial = try_candidate(ODD, tmp_path)
    assert trial.denied
    assert [attempt.name for attempt in tmp_path.iterdir()] == ["first"]


def test_what_works() -> None:
    good = Trial(ODD, samples=1, kept=True)
    assert good.worked
    assert Trial(ODD, links=1, kept=True).worked
    assert not Trial(ODD, samples=1).worked, "its run was not kept"
    assert not Trial(ODD, kept=True).worked, "it has no samples"
    assert not Trial(ODD, samples=1, kept=True, error=TrialError("it failed late")).worked


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
