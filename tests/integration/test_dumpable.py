"""A process that is not dumpable is made so only for samplers that read it from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.harness import run_program
from tests.integration.test_denied_attach import NO_PTRACE
from tests.support.seccomp_filters import PTRACE, READ, launcher

PROGRAM = """
import json, sys
from profkit import profile
from profkit.process.prctl import is_self_dumpable, set_dumpable

assert set_dumpable(dumpable=False)
function = profile(**json.loads(sys.argv[1]))(is_self_dumpable)
during = function()
print(json.dumps([function.last_run.info.plan.sampler, during, is_self_dumpable()]))
"""
DENIED = launcher(PTRACE, READ, action="KILL")


@pytest.mark.parametrize(
    ("prefix", "options", "sampler", "during"),
    [
        pytest.param(NO_PTRACE, {}, None, True, marks=[pytest.mark.sampler, pytest.mark.outside]),
        pytest.param(DENIED, {}, "inprocess", False, marks=pytest.mark.sampler),
        (NO_PTRACE, {"sampler": "inprocess"}, "inprocess", False),
        pytest.param(DENIED, {"subprocesses": True}, "none", False, marks=pytest.mark.sampler),
    ],
    ids=["outside", "stepped down", "inside", "no samples"],
)
def test_while_it_is_sampled(
    tmp_path: Path, prefix: tuple[str, ...], options: dict[str, object], sampler: str | None, during: bool
) -> None:
    arguments = json.dumps({"allow_dumpable": True, **options})
    done = run_program(tmp_path, ["-c", PROGRAM, arguments], launcher=prefix)
    assert done.returncode == 0, done.stderr
    taken, was_dumpable, after = json.loads(done.stdout)
    assert sampler in (None, taken)
    assert (was_dumpable, after) == (during, False)
