"""Under Callgrind: do the jobs whose messages stdin holds, each in a fork, as a zygote's children do; say the
answers, as JSON. The argument is the prefix of the dumps."""

from __future__ import annotations

import gc
import json
import os
import sys

from profkit.measuring.worker import valgrind
from profkit.measuring.worker.child import perform
from profkit.measuring.worker.heap import fill_holes
from profkit.measuring.worker.source import trace_of
from profkit.measuring.worker.zygote import JOBS


def rehearse(dump_prefix: str) -> None:
    valgrind.prepare()
    assert valgrind.running_on_valgrind()
    valgrind.start_instrumentation()
    for job in JOBS:
        assert perform({**job, "dump_prefix": dump_prefix})["ok"]
    gc.collect()
    gc.freeze()
    fill_holes()


def answer(message: dict[str, object]) -> dict[str, object]:
    try:
        return perform(message)
    except BaseException as error:  # noqa: BLE001 - the test is to see it
        return {"ok": False, "trace": trace_of(error)}


def do_in_forks(messages: list[dict[str, object]]) -> list[object]:
    """The answers; the first forks, which do nothing, leave the heap as all others do, which keep nothing."""
    pipes = [os.pipe() for _ in messages]
    for place in range(-12, len(messages)):
        if os.fork() == 0:
            if place >= 0:
                os.write(pipes[place][1], json.dumps(answer(messages[place])).encode())
            os._exit(0)
        os.wait()
    return [json.loads(os.read(ours, 65536)) for ours, _ in pipes]


if __name__ == "__main__":
    prefix = sys.argv[1]
    jobs = [{**message, "dump_prefix": prefix} for message in json.load(sys.stdin)]
    rehearse(prefix)
    print(json.dumps(do_in_forks(jobs)))
