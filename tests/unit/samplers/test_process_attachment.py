"""What the log of a sampler's process says about its end, whichever sampler it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from profkit.clock import SYSTEM_CLOCK
from profkit.model.session import SamplerPlan
from profkit.process import watchdog
from profkit.process.detached import log_size
from profkit.samplers.cpython import CPythonProcess
from profkit.samplers.process_attachment import STOP, ProcessAttachment, ended_how, read_log

STARTED = f"{watchdog.PREFIX}{watchdog.STARTED.format(5, 4)}\n"
STOPPED = f"{watchdog.PREFIX}{watchdog.STOPPED.format(19)}\n"
HELD = f"{watchdog.PREFIX}{watchdog.HELD.format(4711)}\n"
KILLED = f"{watchdog.PREFIX}{watchdog.SIGNAL.format(9)}\n"
EXITED = f"{watchdog.PREFIX}{watchdog.STATUS.format(3)}\n"


class Process(CPythonProcess):
    """One with another name."""

    sampler = "sampler"


def attempt(folder: Path, text: str, earlier: str = "") -> ProcessAttachment:
    """One that left this log."""
    log = folder / "segment-000.log"
    log.write_text(earlier)
    plan = SamplerPlan.unknown("sampler", scope="call", rate_hz=100.0)
    made = Process("/bin/sampler", 4711, plan, folder, 0, SYSTEM_CLOCK)
    log.write_text(earlier + text)
    return made


def test_a_missing_log_is_empty(tmp_path: Path) -> None:
    assert read_log(tmp_path / "no.log") == ""
    assert log_size(tmp_path / "no.log") == 0


def test_the_part_of_an_attempt(tmp_path: Path) -> None:
    tried = attempt(tmp_path, "later\xff", "earlier\n")
    assert tried.text() == "later\xff"
    tried.log.write_bytes(b"earlier\n\xff")
    assert tried.text() == "\N{REPLACEMENT CHARACTER}"
    assert log_size(tried.log) == len("earlier\n") + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (STARTED + EXITED, None),
        (f"printed {STOPPED}", None),
        (STARTED + STOPPED + KILLED, "sampler was stopped by signal 19 (SIGSTOP), and was ended"),
        (STARTED + HELD + EXITED, "sampler did not resume the program after a sample"),
        (STOPPED.replace("19", "60"), "sampler was stopped by signal 60, and"),
    ],
)
def test_an_end_by_the_watchdog(text: str, reason: str | None, tmp_path: Path) -> None:
    tried = attempt(tmp_path, text)
    found, failure = tried.warning(), tried.stopped_failure(STOP)
    if reason is None:
        assert (found, failure) == (None, None)
    else:
        assert found is not None
        assert reason in found
        assert f"sampler failed at stop: {found}; do not stop sampler's processes" in str(failure)


@pytest.mark.parametrize(
    ("text", "ended"),
    [(STARTED, None), (STARTED + EXITED, "with exit status 3"), (EXITED + KILLED, "by signal 9 (SIGKILL)")],
)
def test_the_last_report_of_an_end(text: str, ended: str | None) -> None:
    assert ended_how(text) == ended


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (STARTED + EXITED, None, "ended without its output, with exit status 3, and printed nothing; make"),
        (f"x{'y' * 400}\n{KILLED}", None, f"by signal 9 (SIGKILL), after printing '{'y' * 400}'; make sure"),
        (STARTED + EXITED, "Strange", "Strange (with exit status 3); see its log"),
        (STARTED, "Strange", "Strange; see its log in the spool; the command was `/bin/sampler -I -S"),
    ],
)
def test_an_end_without_a_known_cause(text: str, error: str | None, said: str, tmp_path: Path) -> None:
    failure = attempt(tmp_path, text).unknown_failure(STOP, error, passing=True)
    assert said in str(failure)
    assert failure.passing


def test_a_full_disk(tmp_path: Path) -> None:
    failure = attempt(tmp_path, "").disk_full(STOP)
    assert "failed at stop: the disk is full; free space" in str(failure)
    assert not failure.passing
