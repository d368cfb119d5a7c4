"""FunctionProfiler: each parameter does what it says, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from profkit import FunctionProfiler, ProfkitError, profile, profiled
from tests.integration.harness import ROOT, environment, profkit, run_program

pytestmark = pytest.mark.sampler

HEAD = """
import json, logging, sys, threading, time
from profkit import FunctionProfiler, ProfkitError, profile, profiled
logging.basicConfig(format="%(message)s", stream=sys.stderr)

def spin(duration_s):
    end = time.thread_time() + duration_s
    while time.thread_time() < end:
        pass
"""


def told(folder: Path, body: str, **environ: str) -> Any:
    """What a program prints as JSON."""
    done = run_program(folder, ["-c", HEAD + textwrap.dedent(body)], environ=environment(**environ), code=0)
    return json.loads(done.stdout)


def test_it_does_what_pytorchs_own_does(tmp_path: Path) -> None:
    """The parameters of StrobelightCLIFunctionProfiler, and what a run then holds."""
    found = told(
        tmp_path,
        """
        profiler = FunctionProfiler(
            stop_at_error=True, max_profile_duration_sec=30, sample_each=2e7, run_user_name="ada",
            timeout_wait_for_running_sec=20, timeout_wait_for_finished_sec=20,
            recorded_env_variables=["COLOUR", "NOT_THERE"], sample_tags={"b", None, "a"},
            stack_max_len=3, async_stack_max_len=4,
        )
        before = profiler.profile_result, profiler.current_run_id
        def deep(depth):
            return deep(depth - 1) if depth else spin(0.3) or "done"
        value = profiler.profile(deep, 10)
        run = profiler.last_run
        info, stacks = run.info, run.profile.stacks
        print(json.dumps({
            "before": before, "value": value, "result": profiler.profile_result,
            "id": profiler.current_run_id, "run": info.id, "rate": info.plan.rate_hz,
            "each": info.plan.sample_each, "user": info.region.user,
            "env": info.region.env, "tags": info.region.tags, "depth": max(map(len, stacks)),
            "leaves": sorted({run.profile.frames[stack[-1]].name for stack in stacks}),
            "max": info.plan.max_duration_s,
        }))
        """,
        COLOUR="blue",
    )  # fmt: skip
    assert found["before"] == [None, None]
    assert found["value"] == "done"
    assert found["result"][0].startswith(f"Run: {found['run'][:10]} (")
    assert found["id"] == found["run"]
    assert found["each"] == 2e7
    assert 20 <= found["rate"] <= 400
    assert found["user"] == "ada"
    assert found["env"] == [["COLOUR", "blue"]]
    assert found["tags"] == ["a", "b"]
    assert found["depth"] == 3
    assert "spin" in found["leaves"]
    assert found["max"] == 30


def test_async_stacks_have_a_limit_of_their_own(tmp_path: Path) -> None:
    depths = told(
        tmp_path,
        """
        import asyncio
        def deep(depth):
            return deep(depth - 1) if depth else spin(0.2)
        @profile(stack_max_len=3, async_stack_max_len=5)
        async def task():
            deep(10)
        @profile(stack_max_len=3, async_stack_max_len=5)
        def call():
            deep(10)
        asyncio.run(task())
        call()
        print(json.dumps([max(map(len, f.last_run.profile.stacks)) for f in (task, call)]))
        """,
    )
    assert depths == [5, 3]


def test_the_longest_duration_truncates_and_calls_are_still_counted(tmp_path: Path) -> None:
    run = told(
        tmp_path,
        """
        @profile(max_profile_duration_sec=0.5, rate=200)
        def work():
            spin(0.1)
        for _ in range(30):
            work()
        info = work.last_run.info
        print(json.dumps({"truncated": info.truncated, "calls": info.calls, "samples": info.samples,
                          "notes": [note.code.value for note in info.notes]}))
        """,
    )
    assert run["truncated"]
    assert run["calls"] == 30
    assert 0 < run["samples"] < 500  # three seconds would have given 600
    assert "duration-reached" in run["notes"]


def test_every_enabled_and_skipped(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        """
        def plain():
            return 1
        third = profile(plain, every=3)
        for _ in range(7):
            third()
        blocks = profiled("block", every=2)
        for _ in range(5):
            with blocks:
                pass
        off = profile(plain, enabled=False)
        with profiled("off", enabled=False) as nothing:
            pass
        info, block = third.last_run.info, blocks.run.info
        print(json.dumps([info.calls, info.skipped, block.calls, block.skipped, off is plain, nothing.run]))
        """,
    )
    assert found == [3, 4, 3, 2, True, None]


@pytest.mark.parametrize("value", ["1", "true"])
def test_disabled_by_the_environment(tmp_path: Path, value: str) -> None:
    found = told(
        tmp_path,
        """
        def plain():
            return 1
        with profiled("x") as block:
            pass
        print(json.dumps([profile(plain) is plain, profile()(plain) is plain, block.run,
                          FunctionProfiler().profile(plain)]))
        """,
        PROFKIT_DISABLE=value,
    )
    assert found == [True, True, None, 1]
    assert not (tmp_path / ".profkit").exists()


def test_the_spool_and_the_store_can_be_elsewhere(tmp_path: Path) -> None:
    spool, store = tmp_path / "elsewhere", f"sqlite:///{tmp_path / 'runs.db'}"
    settings = {"PROFKIT_SPOOL": str(spool), "PROFKIT_STORE": store}
    told(tmp_path, "profile(label='here')(spin)(0.1); print(1)", **settings)
    assert len(list(spool.glob("2*"))) == 1
    assert not (tmp_path / ".profkit").exists()
    assert "here" in profkit(tmp_path, "list", **settings).stdout
    assert (tmp_path / "runs.db").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": -1}, "rate=-1 is not valid"),
        ({"rate": 100, "sample_each": 1e7}, "give only one of them"),
        ({"native": True, "blocking": False}, "native"),
        ({"raet": 5}, "did you mean 'rate'"),
        ({"every": 0}, "every=0"),
        ({"every": 1.5}, "whole number"),
        ({"on_busy": "later"}, "on_busy='later'"),
        ({"on_busy": "raise"}, "stop_at_error=True"),
        ({"scope": "thread"}, "'call', 'process'"),
        ({"sampler": "perf"}, "pyspy"),
        ({"sample_tags": "one"}, "list of words"),
        ({"stack_max_len": 0}, "stack_max_len=0"),
        ({"blocking": "yes"}, "blocking='yes'"),
        ({"max_profile_duration_sec": float("inf")}, "max_profile_duration_sec"),
        ({"rate": 10**9}, "rate"),
        ({"label": 5}, "give a string"),
        ({"stop_at_error": "yes"}, "stop_at_error"),
    ],
    ids=str,
)
def test_wrong_use_is_reported_where_it_is_written(options: dict[str, Any], message: str) -> None:
    uses = [profile, FunctionProfiler, *([] if "label" in options else [partial(profiled, "x")])]
    for use in uses:
        with pytest.raises((ProfkitError, TypeError), match=re.escape(message)):
            use(**options)


def test_a_folder_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / ".profkit").write_text("a file is in the way")
    done = run_program(
        tmp_path,
        ["-c", HEAD + "work = profile(label='w')(spin)\nfor _ in range(3): work(0.01)\nprint(work.last_run)"],
    )
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
    assert done.stderr.count("unprofiled") == 1


def test_the_stand_in_for_strobeclient_gives_links_and_a_run_id(tmp_path: Path) -> None:
    value, sampler, calls, samples, has_links, number, result = told(
        tmp_path,
        """
        profiler = FunctionProfiler(sample_tags=["x"])
        value = profiler.profile(lambda: spin(0.2) or 7)
        info = profiler.last_run.info
        print(json.dumps([value, info.plan.sampler, info.calls, info.samples, len(info.links) > 0,
                          isinstance(profiler.current_run_id, int), profiler.profile_result]))
        """,
        PATH=f"{ROOT / 'tests' / 'stand_ins'}{os.pathsep}{os.environ['PATH']}", STAND_IN_STATE=str(tmp_path),
    )  # fmt: skip
    assert (value, sampler, calls, samples) == (7, "strobeclient", 1, 0)
    assert has_links
    assert number
    assert any("://" in line for line in result)
